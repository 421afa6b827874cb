"""Loop C, learn: REINFORCE on one prompt, with a log that can be audited step by step.

    python -m course.bandit_train --steps 30 --seed 0 --lr 0.5 --baseline --slow

The loop is that of ``policy_gradient_demo``, run through and kept: every number of every step is in
``bandit_train_log.jsonl``, and the same as a story in ``bandit_train_log.txt``. With ``--lr -0.5`` the same rewards
push the other way, and the policy learns to avoid what is paid. ``--ablation N`` runs N seeds with the baseline and
without it, side by side.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from course.artifacts.conditions import manifest_of
from course.artifacts.learning import step_of
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.reports.figures import ablation_bands, learning_curve
from course.reports.run_page import run_page
from course.reports.updates import HOW_TO_READ, ablation_text, probabilities, slow_step, story
from course.stats import mean
from course.text import visible_path

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.reinforce import Update
    from course.policies.softmax import Floats

LOG, STORY, CURVE = "bandit_train_log.jsonl", "bandit_train_log.txt", "learning_curve.png"
ABLATION, BANDS = "ablation.json", "ablation.png"


def learn(draws: Floats, paid: Floats, lr: float, with_baseline: bool) -> Iterator[Update]:
    """Loop C, whole, for N runs side by side. ``draws``: [N, T] uniform numbers; ``paid``: [K] rewards.

    The baseline of a step is the mean of the rewards before it: the step's own reward enters it only afterwards.
    """
    import numpy as np

    from course.policies.reinforce import reinforce

    runs, steps = draws.shape
    theta = np.zeros((runs, len(paid)))
    mean_reward = np.zeros(runs)
    for step in range(steps):
        baseline = mean_reward if with_baseline else np.zeros(runs)
        update = reinforce(theta, draws[:, step], paid, baseline, lr)
        yield update
        theta = update.new_theta
        mean_reward = mean_reward + (update.reward - mean_reward) / (step + 1)


def draws_of(seed: int, steps: int, runs: int = 1) -> Floats:
    """[N, T] uniform draws, a generator for each run: run i of many is the single run with seed + i."""
    import numpy as np

    return np.stack([np.random.default_rng(seed + i).random(steps) for i in range(runs)])


def ablate(runs: int, steps: int, seed: int, lr: float) -> dict[str, dict[str, Any]]:
    """N seeds with the baseline and without: the same draws, so that the baseline is all that differs.

    ``gradient_variance``: of one estimate, exact at each run's own policy, mean over runs, a number a step.
    ``expected_reward``: [mean, 10 % quantile, 90 % quantile, variance] over the runs, a row a step.
    """
    import numpy as np

    from course.policies.bandit import rewards
    from course.policies.reinforce import gradient_variance
    from course.policies.softmax import expected_reward

    draws, paid = draws_of(seed, steps, runs), rewards()
    found: dict[str, dict[str, Any]] = {}
    for name, with_baseline in (("with baseline", True), ("without baseline", False)):
        variances, curve = [], []
        for update in learn(draws, paid, lr, with_baseline):
            variances.append(float(gradient_variance(update.p, paid, update.baseline).mean()))
            objective = expected_reward(update.p, paid)
            low, high = np.quantile(objective, (0.1, 0.9))
            curve.append([float(objective.mean()), float(low), float(high), float(objective.var())])
        found[name] = {"gradient_variance": variances, "expected_reward": curve}
    return found


def main() -> int:
    parser = Parser("course.bandit_train", "Loop C: REINFORCE on one prompt, with a log to audit.")
    parser.add_argument("--steps", type=positive_int, default=200, help="updates (default: 200)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument(
        "--lr", type=finite_float, default=0.5, help="how far a push goes; negative learns the opposite (default: 0.5)"
    )
    parser.add_argument(
        "--baseline", action=BooleanOptionalAction, default=True, help="compare with the mean reward so far"
    )
    parser.add_argument("--slow", action="store_true", help="print every update with everything that went into it")
    parser.add_argument("--ablation", type=positive_int, metavar="N", help="also run N seeds with and without baseline")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.bandit import ARMS, rewards
    from course.policies.reinforce import Update
    from course.policies.softmax import expected_reward

    with RunWriter(args.outdir) as writer:
        updates = list(learn(draws_of(args.seed, args.steps), rewards(), args.lr, args.baseline))
        first = [Update(*(part[0] for part in update)) for update in updates]  # the one run, without its axis
        steps = [step_of(number, update, args.lr, ARMS) for number, update in enumerate(first, 1)]
        objective = [float(expected_reward(update.p, rewards())) for update in first]
        ablation = ablate(args.ablation, args.steps, args.seed, args.lr) if args.ablation else None
        writer.write_rows(LOG, steps)
        writer.write_bytes(STORY, story(steps, ARMS).encode("utf-8"))
        writer.write_bytes(CURVE, learning_curve([step.reward for step in steps], objective))
        summary: dict[str, Any] = {
            "steps": args.steps,
            "mean_reward": mean([step.reward for step in steps]),
            "expected_reward_before": objective[0],
            "expected_reward_after": float(expected_reward(first[-1].new_p, rewards())),
            "final_probs": steps[-1].new_probs,
        }
        if ablation:
            writer.write_json(ABLATION, ablation)
            writer.write_bytes(BANDS, ablation_bands(ablation))
            summary["ablation"] = ablation_summary(ablation, args.ablation)
        writer.write_json(SUMMARY, summary)
        settings = {"lr": args.lr, "baseline": args.baseline, "steps": args.steps, "ablation": args.ablation}
        manifest = manifest_of(
            loop="C",
            command="course.bandit_train",
            settings=settings,
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        path = writer.publish(manifest, run_page("C", summary, room_conditions(manifest), args.change, [], 0))

    print("Loop C, learn: the policy itself changes.\n")
    print(HOW_TO_READ, end="\n\n")
    if args.slow:
        print("\n\n".join(slow_step(step, args.steps, ARMS) for step in steps), end="\n\n")
    print(f"before\n{probabilities(steps[0].probs, ARMS)}\n\nafter {args.steps} steps, lr {args.lr:g}, ", end="")
    print(f"{'with' if args.baseline else 'without'} baseline\n{probabilities(steps[-1].new_probs, ARMS)}\n")
    print(f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}")
    if ablation:
        print(f"\n{ablation_text(summary['ablation'])}")
    print(f"\nrun: {visible_path(path)}\nread: {visible_path(path / STORY)}")
    return 0


def ablation_summary(ablation: dict[str, dict[str, Any]], runs: int) -> dict[str, Any]:
    """What the ablation comes to: means over the steps of both variances, and where both ended."""
    return {"runs": runs} | {
        name: {
            "gradient_variance": mean(found["gradient_variance"]),
            "curve_variance": mean([row[3] for row in found["expected_reward"]]),
            "expected_reward_after": found["expected_reward"][-1][0],
        }
        for name, found in ablation.items()
    }


if __name__ == "__main__":
    run_command(main)
