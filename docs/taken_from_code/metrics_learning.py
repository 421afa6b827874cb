"""The numbers of Loop C."""

from course import bandit_train, distribution_shift_demo, pass_at_k_demo, policy_improvement_demo, sweep_demo
from course.artifacts import inference, token_rows
from course.policies import evaluation, kl_regularised, reinforce, softmax, token_policy, two_step
from course.reports import goodhart_demo, tables
from course.reports import sweep_demo as sweep_report
from docs.taken_from_code.metric import Metric

SMALL = (
    Metric(
        ["expected_reward_before", "expected_reward_after", "pass_at_1", "reference_reward"],
        r"$J = \sum_a p_a r_a$, exact",
        softmax.expected_reward,
        "never",
        "the mean of the rewards that were drawn",
    ),
    Metric(
        ["expected_return_before", "expected_return_after", "expected_return"],
        "the same over the four trajectories",
        two_step.expected_return,
        "never",
        "mean_return, of those drawn",
    ),
    Metric(
        ["baseline"],
        "mean of the rewards (returns) before this step; 0 in the first, and with `--no-baseline`",
        reinforce.running_mean,
        "never",
        "the baseline run of the gate; b*",
    ),
    Metric(["advantage"], "reward (return) − baseline", reinforce.Update, "never", "the reward"),
    Metric(
        ["direction"],
        r"advantage · $\nabla_\theta \log p_a$, $\partial\log p_a/\partial\theta_b = [a=b] - p_b$",
        softmax.grad_log_prob,
        "never",
        "the change, which is lr · direction",
    ),
    Metric(
        ["variances.none", "variances.running_mean", "variances.best_constant"],
        r"$\sum_a p_a (r_a-b)^2 \lVert\nabla\log p_a\rVert^2 - \lVert\nabla J\rVert^2$",
        reinforce.gradient_variance,
        "never",
        "the spread of final rewards over seeds",
    ),
    Metric(
        ["variances.best_baseline"],
        r"$b^* = E[r\lVert\nabla\log p\rVert^2]/E[\lVert\nabla\log p\rVert^2]$",
        reinforce.best_baseline,
        "p certain: any b will do, J is given",
        "the mean reward J",
    ),
    Metric(
        ["ablation.below_half", "low", "high"],
        "runs that end with J below 1/2; 10 % and 90 % quantile of J",
        bandit_train.ablate_baseline,
        "never",
        "a confidence interval of the mean",
    ),
    Metric(
        ["kl of kl_tradeoff.csv"],
        r"$\sum_a p_a \ln(p_a/q_a)$, from the reference q, in nats",
        softmax.kl,
        "q = 0 where p > 0",
        "an estimate from samples; KL(q, p)",
    ),
    Metric(
        ["optimum for beta"],
        r"$p_a \propto q_a e^{r_a/\beta}$, where $J - \beta\,\mathrm{KL}$ is greatest",
        kl_regularised.closed_form,
        "beta = 0",
        "where a training really ends",
    ),
)
TOKENS = (
    Metric(["proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward"],
           "mean reward of n fresh completions by the rubric; by the strict scorer", token_rows.evaluation_row,
           "holdout: without one", "each other: a gap between them is a hole that is used"),
    Metric(["gap", "holdout_gap"], "share that the rubric pays ≥ 0.5 and the strict scorer 0",
           token_rows.evaluation_row, "holdout: without one", "proxy − true, which errors the other way can hide"),
    Metric(["kl"], r"mean of $\sum_t \mathrm{KL}(\pi, \pi_{ref})$ of the next token along a completion, in nats",
           token_policy.sequence_kl, "never", "log_ratio of one completion; KL a token"),
    Metric(["log_ratio"], r"$\log\pi(y) - \log\pi_{ref}(y)$; 0 without a penalty", token_policy.log_ratio, "never",
           "the KL, which is its mean"),
    Metric(["baseline of a group"], "mean return of the others of its group (leave-one-out)", reinforce.leave_one_out,
           "a group of one", "GRPO's mean, which holds its own return"),
    Metric(["equal_groups"], "share of groups in which all rewards are equal", evaluation.equal_groups,
           "before the first update", "solved: all 0 is equal, too"),
    Metric(["mean_length"], "tokens a completion, the end included", token_rows.evaluation_row, "never", "characters"),
    Metric(["diverged_at"], "step of the highest true reward, if at the end proxy is higher than there, and true lower "
           "by more than noise", inference.divergence_step, "never diverged", "the first step with a gap"),
    Metric(["generalised"], "gain on the holdout / gain on the prompts trained on", goodhart_demo.generalised_table,
           "rose by no more than noise", "the holdout's rate itself"),
    Metric(["before", "after", "last_gain"], "pass@k, mean over prompts and seeds; after − before at the last k",
           inference.compare_policies, "k > 128", "pass@1 alone"),
    Metric(["crossing", "crossing_ci95"], "the k from which on every gain is below 0; 95 % over 2,000 resamples of the "
           "prompts", inference.crossing, "the last gain is not below 0", "the k of the largest loss"),
    Metric(["entropy"], r"mean over tokens of $-\sum_v p_v\ln p_v$, in nats", pass_at_k_demo.sample_and_count, "never",
           "variety of whole completions"),
    Metric(["frozen_pass_rate", "fresh_pass_rate", "error"], "strict pass rates; frozen − fresh",
           distribution_shift_demo.main, "never", "a gain: the first is one number for ever"),
    Metric(["unseen_shape"], "share whose text, with N for each run of digits, is none of the frozen ones'",
           tables.text_shape, "never", "texts never seen"),
    Metric(["train", "holdout", "holdout_ci95", "holdout_each", "holdout_before"],
           "strict pass rates, the median seed's", inference.coverage_point, "never",
           "Wilson's interval is of other prompts, not of other trainings"),
    Metric(["pairs_seen", "times_seen"], "share of holdout prompts of which training showed each digit pair; how often "
           "the rarest, median", sweep_demo.times_seen, "sums of other than two equally long numbers", "prompts seen"),
    Metric(["visits"], "updates · prompts a step / prompts", sweep_report.coverage_cells, "never", "epochs of a file"),
    Metric(["false +"], "of what the strict scorer does not pay, the share that this verifier pays",
           sweep_report.false_positive_share, "nothing is wrong: its random part alone", "the share of all texts"),
    Metric(["delivered"], "mean reward of what was handed out", policy_improvement_demo.improve, "never",
           "pass@1, which only learning changes"),
)  # fmt: skip
