"""Loop C, side by side: REINFORCE on one prompt, one run or N at once.

    python3 -m course.bandit_train --steps 30 --seed 0 --lr 0.5 --baseline --slow

New since ``policy_gradient_demo``: N runs learn side by side, so ``--ablation N`` compares N seeds with and without the
baseline, also with a constant added to every reward (``--reward-offset``), which the baseline cancels. The run also has
its log as a story, ``bandit_train_log.txt``, and a learning curve. With ``--lr -0.5`` the same rewards make the policy
avoid the rewarded arm. ``--update FILE:FUNCTION`` learns by a student's own update. Next: ``toy_mdp``.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import TYPE_CHECKING, Any

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import UpdateRow, learning_result, update_row
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.asking import wait_for_enter
from course.bandit_train_text import LEARNING_CURVE, ablation_panels, bandit_text, learning_curve, story_text
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.errors import UserError
from course.guest import OwnUpdate
from course.show.ending import end_run
from course.show.updates import BASELINE_OPTION, how_to_read, knob_of, state_text, update_outcome, update_start
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.reinforce import Update
    from course.policies.softmax import Floats

LOG, STORY = "bandit_train_log.jsonl", "bandit_train_log.txt"
ABLATION, PANELS = "ablation.json", "ablation.png"
OFFSETS = (0.0, 1.0, 3.0)  # of the ablation


def learn(rewards: Floats, draws: Floats, lr: float, with_baseline: bool) -> Iterator[Update]:
    """All of Loop C: N runs side by side, one update of each for every column of the uniform ``draws`` [N, T].

    ``rewards``: [K], the learner's, for each arm. The baseline of a step is the mean of the rewards before it.
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


def learn_by_own_update(
    own_update: OwnUpdate, rewards: Floats, draws: Floats, lr: float, with_baseline: bool
) -> Iterator[Update]:
    """One run of ``learn``, for the uniform ``draws`` [T], whose new theta is what a student's function returns.

    ``direction`` is REINFORCE's, so that each row says whether the student's step is lr times it.
    """
    import numpy as np

    from course.policies.reinforce import Update, running_mean
    from course.policies.softmax import grad_log_prob, sample, softmax

    theta, baseline = np.zeros(len(rewards)), np.zeros(())
    for step, u in enumerate(draws, 1):
        p = softmax(theta)
        action = sample(p, u)
        reward = np.asarray(rewards[action])
        advantage = np.asarray(reward - baseline)
        direction = advantage * grad_log_prob(p, action)
        new_theta = np.array(own_update(step, theta.tolist(), int(action), float(reward), float(baseline), lr))
        yield Update(theta, p, action, reward, baseline, advantage, direction, new_theta)
        theta = new_theta
        if with_baseline:
            baseline = running_mean(baseline, reward, step)


def draws_of(seed: int, steps: int, runs: int = 1) -> Floats:
    """[N, T] uniform draws, with a generator for each run: run i of many equals the single run with seed + i."""
    import numpy as np

    return np.stack([np.random.default_rng(seed + i).random(steps) for i in range(runs)])


def ablate_baseline(rewards: Floats, draws: Floats, lr: float) -> list[dict[str, Any]]:
    """N runs for each offset, with and without the baseline, on the same draws. Nothing else differs.

    ``mean``, ``low``, ``high``: the mean, the 10 % and the 90 % quantile, over the runs, of the verifier's expected
    reward before each update and after the last. ``below_half``: how many runs end below 1/2.
    """
    import numpy as np

    from course.policies.softmax import expected_reward, softmax

    ablation = []
    for offset, with_baseline in product(OFFSETS, (True, False)):
        updates = learn(rewards + offset, draws, lr, with_baseline)
        thetas = chain([np.zeros((len(draws), len(rewards)))], (update.new_theta for update in updates))
        objective = np.array([expected_reward(softmax(theta), rewards) for theta in thetas])  # [T + 1, N]
        low, high = np.quantile(objective, (0.1, 0.9), axis=1).tolist()
        side = {"offset": offset, "baseline": with_baseline, "below_half": int((objective[-1] < 0.5).sum())}
        ablation.append(side | {"mean": objective.mean(axis=1).tolist(), "low": low, "high": high})
    return ablation


def compare_variances(rewards: Floats, draws: Floats, lr: float) -> dict[str, list[float]]:
    """Three baselines at the same policies, those of N runs that learn with a baseline: means over the runs, step by
    step.

    ``none``, ``running_mean``, ``best_constant``: the exact variance of one estimate. ``best_baseline``: b*.
    ``lowered``: the share of the runs in which the running mean has less variance than no baseline.
    """
    import numpy as np

    from course.policies.reinforce import best_baseline, gradient_variance
    from course.policies.softmax import expected_reward

    rows = []
    for update in learn(rewards, draws, lr, with_baseline=True):
        best = best_baseline(update.p, rewards)
        objective = expected_reward(update.p, rewards)
        none, running, lowest = (gradient_variance(update.p, rewards, b) for b in (0.0, update.baseline, best))
        rows.append([float(column.mean()) for column in (none, running, lowest, best, objective, running < none)])
    names = ("none", "running_mean", "best_constant", "best_baseline", "expected_reward", "lowered")
    return dict(zip(names, np.array(rows).T.tolist(), strict=True))


def write_updates(run: RunWriter, log: str, rows: Sequence[UpdateRow]) -> dict[str, Any]:
    """Write the log of one run, its results and its learning curve. Returns what the summary says of the policy.

    Shared with ``policy_gradient_demo``.
    """
    import numpy as np

    from course.policies.bandit import EXAMPLE, arm_rewards
    from course.policies.softmax import expected_reward

    run.write_rows(log, rows)
    run.write_rows(RESULTS, (learning_result(EXAMPLE, row.completion, row.step - 1) for row in rows))
    rewards = arm_rewards()
    objective = [float(expected_reward(np.array(row.probs), rewards)) for row in rows]
    run.write_bytes(LEARNING_CURVE, learning_curve([row.verifier_reward for row in rows], objective))
    return {
        "expected_reward_before": objective[0],
        "expected_reward_after": float(expected_reward(np.array(rows[-1].new_probs), rewards)),
        "final_probs": rows[-1].new_probs,
    }


def main() -> None:
    what = (
        "Loop C with N runs side by side. New since policy_gradient_demo: N runs at once, the log as a story, a curve."
    )
    parser = Parser("course.bandit_train", what)
    parser.add_argument("--steps", type=positive_int, default=200, help="number of updates (default: 200)")
    help_ = "of the draws; the runs of --ablation use SEED, SEED + 1, ..., so for N fresh ones go on by N (default: 0)"
    parser.add_argument("--seed", type=non_negative_int, default=0, help=help_)
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate, above or below 0 (default: 0.5)")
    parser.add_argument("--baseline", action=BooleanOptionalAction, default=True, help=BASELINE_OPTION)
    help_ = "a constant that is added to every reward that the learner sees (default: 0)"
    parser.add_argument("--reward-offset", type=finite_float, default=0.0, metavar="C", help=help_)
    parser.add_slow_option()
    help_ = "also run N seeds with and without the baseline, with offsets of 0, 1 and 3"
    parser.add_argument("--ablation", type=positive_int, metavar="N", help=help_)
    help_ = "learn by your own function, such as exercises/reinforce.py:reinforce_step; not with --ablation"
    parser.add_argument("--update", metavar="FILE:FUNCTION", help=help_)
    parser.add_run_options("expected_reward_after")
    args = parser.parse_args()
    if args.update is not None and args.ablation:
        raise UserError("--update cannot be combined with --ablation, because your function learns in one run only")

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE, arm_rewards
    from course.policies.reinforce import Update

    with RunWriter(args.outdir) as run:
        rewards = arm_rewards()
        seen, draws = rewards + args.reward_offset, draws_of(args.seed, args.steps)
        settings = {name: getattr(args, name) for name in ("lr", "baseline", "reward_offset", "steps", "ablation")}
        settings["prompt"] = EXAMPLE["prompt"]
        if args.update is None:
            runs = learn(seen, draws, args.lr, args.baseline)
            updates = [Update(*(np.asarray(value)[0] for value in update)) for update in runs]  # the one run of N = 1
        else:
            own_update = OwnUpdate(args.update)
            updates = list(learn_by_own_update(own_update, seen, draws[0], args.lr, args.baseline))
            settings |= own_update.keep("update", run.write_bytes)
        rows = [update_row(step, update, args.lr, EXAMPLE, ARMS) for step, update in enumerate(updates, 1)]
        if args.slow:
            print(f"{state_text(EXAMPLE['prompt'])}\n\n{how_to_read(args.lr, settings.get('update'))}\n")
        for row in rows[: args.slow]:
            print(update_start(row, args.steps, ARMS))
            if not wait_for_enter():
                print()
                break
            print(f"\n{update_outcome(row)}\n")
        run.write_bytes(STORY, story_text(rows, ARMS, settings.get("update")).encode("utf-8"))
        summary: dict[str, Any] = {"mean_reward": mean([row.verifier_reward for row in rows])}
        summary |= write_updates(run, LOG, rows)
        if args.ablation:
            draws = draws_of(args.seed, args.steps, args.ablation)
            ablation = ablate_baseline(rewards, draws, args.lr)
            variances = compare_variances(rewards, draws, args.lr)
            run.write_json(ABLATION, {"learning": ablation, "variances": variances})
            run.write_bytes(PANELS, ablation_panels(ablation, variances, args.ablation))
            ends = [side | {name: side[name][-1] for name in ("mean", "low", "high")} for side in ablation]
            means = {name: mean(column) for name, column in variances.items()}
            summary["ablation"] = {"runs": args.ablation, "learning": ends, "variances": means}
        conditions = conditions_of(args, settings, knob=knob_of(rows))
        read = [STORY, LEARNING_CURVE]
        if args.ablation:
            read.append(PANELS)
        end_run(run, conditions, summary, bandit_text(rows, summary, ARMS), read=read, next_command=["check"])


if __name__ == "__main__":
    run_command(main)
