"""docs/reference/artifacts_summary.md: the names in summary.json, loop by loop."""

from collections.abc import Sequence

from course.artifacts.token_rows import EvaluationRow
from docs.taken_from_code.artifacts import head, meanings_table
from docs.taken_from_code.markdown import page, paragraph
from docs.taken_from_code.runs import left, names_in

NAMED = ("goodhart_demo", "pass_at_k_demo", "cold_start", "coverage")  # an entry of the summary for each training

SUMMARY: dict[str, dict[str, str]] = {  # which summary -> name -> meaning
    "Loop A": {
        "n": "examples",
        "passes": "how many got reward 1",
        "pass_rate": "passes / n",
        "pass_rate_ci95": "Wilson's 95 % interval of it",
        "mean_reward": "equal to pass_rate, for a reward is 0 or 1",
        "outcomes": "outcome → how many; one that did not occur has no entry",
        "families": "the same by family: whose fault",
    },
    "Loop B": {
        "samples_per_prompt": "N, how many were chosen from",
        "first_sample_accuracy": "share of prompts whose first sample is right",
        "pass_at_k": "k → chance that k samples of the policy hold a right one, from all samples there are",
        "selected_accuracy": "share of prompts whose chosen sample is right; equal to pass_rate",
        "random_choice": "what a blind choice among the N would get, on average",
        "ceiling": "share of prompts with a right one among the N: no choice gets more",
        "kl_estimate": "KL of best-of-N from the policy, in nats, from the samples; null where undefined",
        "kl_estimate_reason": "why it is null",
        "kl_bound": "ln N − (N−1)/N, which the KL of best-of-N cannot exceed",
    },
    "policy_gradient_demo": {
        "expected_reward_before": "Σ p·reward over the arms, exact, before the first update",
        "expected_reward_after": "the same after the last",
        "final_probs": "of the arms, after the last update",
        "predictions": "the answers to `--predict`, as typed",
    },
    "bandit_train": {
        "mean_reward": "of the arms sampled, by the verifier, without the offset",
        "expected_reward_before": "Σ p·reward over the arms, exact, before the first update",
        "expected_reward_after": "the same after the last",
        "final_probs": "of the arms, after the last update",
        "ablation.runs": "N of `--ablation`; without it none of these",
        "ablation.learning.offset": "added to every reward that the learner saw; one entry each with a baseline and "
        "without",
        "ablation.learning.baseline": "whether with one",
        "ablation.learning.below_half": "how many of the N runs end with an expected reward below 1/2",
        "ablation.learning.mean": "of the N expected rewards after the last update",
        "ablation.learning.low": "their 10 % quantile",
        "ablation.learning.high": "their 90 % quantile",
        "ablation.variances.none": "exact variance of one gradient estimate without a baseline: mean over runs and "
        "steps, as below",
        "ablation.variances.running_mean": "the same with the mean so far",
        "ablation.variances.best_constant": "the same with b*, the constant of least variance",
        "ablation.variances.best_baseline": "b* itself",
        "ablation.variances.expected_reward": "the policy's, exact",
        "ablation.variances.lowered": "how often the mean so far had less variance than none",
    },
    "toy_mdp": {
        "mean_return": "over the episodes",
        "expected_return_before": "exact, before the first update",
        "expected_return_after": "exact, after the last",
        "first_step_probs": "of the two first tokens, after the last update",
    },
    "token_train": {
        "policy": "name of the policy that is kept, with a digest in it",
        "interrupted": "whether Ctrl-C or SIGTERM ended it",
    },
    "kl_tradeoff_demo": {
        "reference_reward": "mean reward of the reference policy",
        "highest_verifier_reward": "by the verifier, of all the optima",
    },
    "improvement_learning": {
        "pass_at_1_before": "exact, before the first round",
        "pass_at_1_after": "exact, after the last",
        "delivered": "mean reward of what was delivered",
    },
    "token_inspect": {"rewards": "of each text, in order"},
    "rollouts": {"prompts": "how many", "different_texts": "how many different completions were written"},
    "goodhart_demo": {
        "proxy_reward": "at the end; this and the next four are medians over the seeds",
        "true_reward": "by the strict scorer",
        "holdout_proxy_reward": "on prompts never trained on",
        "holdout_true_reward": "on prompts never trained on",
        "kl": "from the reference policy, in nats a completion",
        "diverged_at": "seed by seed, the step from which proxy rose and true reward fell; null where that never was",
    },
    "distribution_shift_demo": {
        "frozen_pass_rate": "strict, of completions sampled before the first update",
        "fresh_pass_rate": "strict, of the last evaluation",
        "error": "frozen − fresh",
        "unseen_shape": "share of the last completions whose shape no frozen one has",
    },
    "pass_at_k_demo": {
        "prompts": "how many",
        "before": "pass@1, pass@2, … of the untrained policy: means over the prompts",
        "after": "the same of the trained one",
        "entropy_before": "of the next token, in nats",
        "entropy_after": "the same after learning",
        "crossing": "the k from which on the trained policy is lower; null where it ends no lower",
        "crossing_ci95": "95 % of the resamples of prompts; null: beyond the last k",
        "last_gain": "after − before at the last k",
        "last_gain_ci95": "95 % of the resamples of prompts",
    },
    "sweep_demo": {
        "true_reward": "at each evaluation, median over the seeds (cold_start, verifier_noise)",
        "prompts": "how many were trained on (from here on: coverage; medians over the seeds)",
        "train": "strict pass rate on them, at the end",
        "holdout": "strict pass rate on the holdout, at the end",
        "holdout_ci95": "Wilson's 95 % interval of the median seed",
        "holdout_each": "seed by seed",
        "holdout_before": "of the reference policy",
        "pairs_seen": "share of the holdout's prompts of which training showed every digit pair",
        "times_seen": "how often training showed a prompt's rarest digit pair: median over the holdout",
    },
}

SUMMARIES: Sequence[tuple[str, str, Sequence[str], str]] = (  # heading, meanings, runs, what stands above
    ("Loop A", "Loop A", ["eval", "eval_shards"], "Of `course.eval` and `course.eval_shards`."),
    ("Loop B", "Loop B", ["selection_demo", "improvement_selection"],
     "Of `course.selection_demo`, and of `course.policy_improvement_demo --mode selection`. The names of Loop A, and:"),
    ("course.policy_gradient_demo", "policy_gradient_demo", ["policy_gradient_demo"], ""),
    ("course.bandit_train", "bandit_train", ["bandit_train"], ""),
    ("course.toy_mdp", "toy_mdp", ["toy_mdp"], ""),
    ("course.token_train", "token_train", ["token_train"],
     "The last row of [log.jsonl](artifacts_token_rows.md#logjsonl), field by field, and:"),
    ("course.kl_tradeoff_demo", "kl_tradeoff_demo", ["kl_tradeoff_demo"], ""),
    ("course.policy_improvement_demo --mode learning", "improvement_learning", ["improvement_learning"], ""),
    ("course.token_inspect", "token_inspect", ["token_inspect"], ""),
    ("course.sample_rollouts", "rollouts", ["rollouts", "pack"], ""),
    ("course.goodhart_demo", "goodhart_demo", ["goodhart_demo"],
     "An entry for each rubric, and for each `anywhere, kl_coef BETA`:"),
    ("course.distribution_shift_demo", "distribution_shift_demo", ["distribution_shift_demo"], ""),
    ("course.pass_at_k_demo", "pass_at_k_demo", ["pass_at_k_demo"], "An entry for each preset and split:"),
    ("course.sweep_demo", "sweep_demo", ["cold_start", "coverage"], "An entry for each setting that was swept:"),
)  # fmt: skip


def summary_page() -> str:
    """The names in summary.json, loop by loop."""
    parts = head(
        "artifacts_summary",
        "names in summary.json",
        "Formulas, and what not to confuse: [metrics](metrics.md). In Loops A and B every number is taken again from "
        "the rows by `course.inspect_run --verify` and by the gate. `a.b` is `b` within `a`.",
    )
    base = {"Loop B": SUMMARY["Loop A"], "token_train": dict.fromkeys(EvaluationRow.__struct_fields__, "")}
    for heading, key, runs, sentence in SUMMARIES:
        found = list(dict.fromkeys(name for run in runs for name in summary_names(run)))
        missing = {*base.get(key, {})} - {*found}
        assert not missing, f"{heading} has no {missing}"
        own = [name for name in found if name not in base.get(key, {})]
        parts += [f"## {heading}", *([paragraph(sentence)] if sentence else [])]
        parts.append(meanings_table(SUMMARY[key], own, f"summary.json of {heading}"))
    return page(parts)


def summary_names(run: str) -> list[str]:
    return names_in(left()[run].json["summary.json"], named=run in NAMED)
