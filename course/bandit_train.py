"""Loop C, side by side: REINFORCE on one prompt, one run or N at once.

    python -m course.bandit_train --steps 30 --seed 0 --lr 0.5 --baseline --slow

Adds to ``policy_gradient_demo``: N runs learn side by side, so that ``--ablation N`` compares N seeds with the baseline
and without it; and the log is also a story, ``bandit_train_log.txt``, and a learning curve. With ``--lr -0.5`` the same
rewards make the policy avoid what the verifier rewards. Next: ``toy_mdp``.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from course.artifacts.learning import learning_result, update_row
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.publishing import Conditions, publish
from course.reports.bandit_train import bandit_text, story_text
from course.reports.bandit_train_figure import ablation_bands, learning_curve
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.reinforce import Update
    from course.policies.softmax import Floats

LOG, STORY, LEARNING_CURVE = "bandit_train_log.jsonl", "bandit_train_log.txt", "learning_curve.png"
ABLATION, BANDS = "ablation.json", "ablation.png"


def learn(rewards: Floats, draws: Floats, lr: float, with_baseline: bool) -> Iterator[Update]:
    """All of Loop C: N runs side by side, one update of each for every column of the uniform ``draws`` [N, T].

    ``rewards``: [K], the verifier's, for each arm. The baseline of a step is the mean of the rewards before it.
    """
    import numpy as np

    from course.policies.reinforce import Update, apply_gradient, running_mean
    from course.policies.softmax import grad_log_prob, sample, softmax

    theta, baseline = np.zeros((len(draws), len(rewards))), np.zeros(len(draws))
    for step, u in enumerate(draws.T, 1):
        p = softmax(theta)
        action = sample(p, u)
        reward = rewards[action]
        advantage = reward - baseline
        direction = advantage[:, None] * grad_log_prob(p, action)
        new_theta = apply_gradient(theta, direction, lr)
        yield Update(theta, p, action, reward, baseline, advantage, direction, new_theta)
        theta = new_theta
        if with_baseline:
            baseline = running_mean(baseline, reward, step)


def draws_of(seed: int, steps: int, runs: int = 1) -> Floats:
    """[N, T] uniform draws, a generator for each run: run i of many is the single run with seed + i."""
    import numpy as np

    return np.stack([np.random.default_rng(seed + i).random(steps) for i in range(runs)])


def ablate_baseline(runs: int, steps: int, seed: int, lr: float) -> dict[str, dict[str, list[float]]]:
    """N seeds with the baseline and without it, on the same draws: nothing else differs. Each list has an entry a step.

    ``gradient_variance``: of one estimate, exact at each run's own policy, mean over the runs.
    ``mean``, ``low``, ``high``: over the runs, the expected reward before the update, its 10 % and its 90 % quantile.
    """
    import numpy as np

    from course.policies.bandit import arm_rewards
    from course.policies.reinforce import gradient_variance
    from course.policies.softmax import expected_reward

    rewards, draws = arm_rewards(), draws_of(seed, steps, runs)
    ablation = {}
    for name, with_baseline in (("with baseline", True), ("without baseline", False)):
        rows = []
        for update in learn(rewards, draws, lr, with_baseline):
            objective = expected_reward(update.p, rewards)
            variance = gradient_variance(update.p, rewards, update.baseline).mean()
            rows.append([variance, objective.mean(), *np.quantile(objective, (0.1, 0.9))])
        columns = np.array(rows).T.tolist()
        ablation[name] = dict(zip(("gradient_variance", "mean", "low", "high"), columns, strict=True))
    return ablation


def main() -> int:
    what = "Loop C, side by side. Adds to policy_gradient_demo: N runs at once, a story of the log, a learning curve."
    parser = Parser("course.bandit_train", what)
    parser.add_argument("--steps", type=positive_int, default=200, help="updates (default: 200)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate, of any sign (default: 0.5)")
    parser.add_argument("--baseline", action=BooleanOptionalAction, default=True, help="the mean reward so far, or 0")
    parser.add_argument("--slow", action="store_true", help="print every update with everything that went into it")
    parser.add_argument("--ablation", type=positive_int, metavar="N", help="also run N seeds with and without baseline")
    parser.add_run_options()
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE, arm_rewards
    from course.policies.reinforce import Update
    from course.policies.softmax import expected_reward, softmax

    with RunWriter(args.outdir) as run:
        rewards = arm_rewards()
        runs = learn(rewards, draws_of(args.seed, args.steps), args.lr, args.baseline)
        updates = [Update(*(np.asarray(value)[0] for value in update)) for update in runs]  # the one run of N = 1
        rows = [update_row(step, update, args.lr, ARMS) for step, update in enumerate(updates, 1)]
        objective = [float(expected_reward(update.p, rewards)) for update in updates]
        run.write_rows(LOG, rows)
        run.write_rows(RESULTS, (learning_result(EXAMPLE, row.completion, row.step - 1) for row in rows))
        run.write_bytes(STORY, story_text(rows, ARMS).encode("utf-8"))
        run.write_bytes(LEARNING_CURVE, learning_curve([row.reward for row in rows], objective))
        summary: dict[str, Any] = {
            "mean_reward": mean([row.reward for row in rows]),
            "expected_reward_before": objective[0],
            "expected_reward_after": float(expected_reward(softmax(updates[-1].new_theta), rewards)),
            "final_probs": rows[-1].new_probs,
        }
        if args.ablation:
            ablation = ablate_baseline(args.ablation, args.steps, args.seed, args.lr)
            run.write_json(ABLATION, ablation)
            run.write_bytes(BANDS, ablation_bands(ablation))
            summary["ablation"] = {
                name: {"gradient_variance": mean(found["gradient_variance"]), "last_expected_reward": found["mean"][-1]}
                for name, found in ablation.items()
            }
        settings = {"lr": args.lr, "baseline": args.baseline, "steps": args.steps, "ablation": args.ablation}
        conditions = Conditions("C", "course.bandit_train", settings, args.change, args.expect, seed=args.seed)
        report = bandit_text(rows, summary, ARMS, slow=args.slow)
        read = [STORY, LEARNING_CURVE, *([BANDS] if args.ablation else [])]
        publish(run, conditions, summary, report, read=read, next_command=["course.toy_mdp"])
    return 0


if __name__ == "__main__":
    run_command(main)
