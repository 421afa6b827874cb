"""Loop C in slow motion: one update at a time, with everything that goes into it.

    python -m course.policy_gradient_demo
    python -m course.policy_gradient_demo --predict
    python -m course.policy_gradient_demo --fast --summary

At a terminal each step waits for Enter. ``--predict`` asks, before each update, which probability it will raise; the
answers are kept in the run and counted at the end. ``--fast`` runs through; ``--summary`` prints one line a step.

The loop is four lines: sample, be paid, compare with the baseline, push. ``bandit_train`` is the same loop, run for
long and kept; ``toy_mdp`` is the same loop plus time.
"""

from __future__ import annotations

import sys
from argparse import BooleanOptionalAction
from collections.abc import Callable, Iterator
from typing import Any

from course.artifacts.conditions import manifest_of
from course.artifacts.learning import Prediction, Step, step_of
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.reports.run_page import run_page
from course.reports.updates import HOW_TO_READ, probabilities, slow_outcome, slow_question, summary_line
from course.text import visible_path

LOG, PREDICTIONS = "policy_gradient_log.jsonl", "predictions.jsonl"
NONE = "none"  # the answer for an update that raises nothing


def slow_motion(steps: int, seed: int, lr: float, with_baseline: bool) -> Iterator[Step]:
    """Loop C, whole, one run: each step is told before the next is begun."""
    import numpy as np

    from course.policies.bandit import ARMS, rewards
    from course.policies.reinforce import reinforce

    draw = np.random.default_rng(seed).random
    theta = np.zeros(len(ARMS))
    mean_reward = 0.0
    for number in range(1, steps + 1):
        baseline = np.array(mean_reward if with_baseline else 0.0)
        update = reinforce(theta, np.array(draw()), rewards(), baseline, lr)
        yield step_of(number, update, lr, ARMS)
        theta = update.new_theta
        mean_reward += (float(update.reward) - mean_reward) / number


def ask(step: Step, arms: int, read: Callable[[], str]) -> Prediction:
    """Ask until the answer is an arm or ``none``; an end of input is no answer."""
    while True:
        print(f"which probability will go up? (0 to {arms - 1}, or {NONE}) ", end="", flush=True)
        line = read()
        answer = line.strip().lower()
        if answer in (NONE, *map(str, range(arms))):
            return Prediction(step.step, answer, right=answer in raised(step))
        if not line:
            print("(no answer)")
            return Prediction(step.step, None, right=None)
        print(f"expected an arm from 0 to {arms - 1}, or {NONE}")


def raised(step: Step) -> list[str]:
    """The arms whose probability the update raised: every right answer to the question."""
    arms = [str(arm) for arm, (old, new) in enumerate(zip(step.probs, step.new_probs, strict=True)) if new > old]
    return arms or [NONE]


def main() -> int:
    parser = Parser("course.policy_gradient_demo", "Loop C in slow motion: one update at a time.")
    parser.add_argument("--steps", type=positive_int, default=8, help="updates (default: 8)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument("--lr", type=finite_float, default=0.5, help="how far a push goes (default: 0.5)")
    parser.add_argument(
        "--baseline", action=BooleanOptionalAction, default=True, help="compare with the mean reward so far"
    )
    parser.add_argument("--fast", action="store_true", help="run through, without waiting and without the slow view")
    parser.add_argument("--summary", action="store_true", help="print one line a step, in fast mode too")
    parser.add_argument("--predict", action="store_true", help="ask before each update which probability will go up")
    parser.add_run_options()
    args = parser.parse_args()
    from course.policies.bandit import ARMS

    steps: list[Step] = []
    predictions: list[Prediction] = []
    with RunWriter(args.outdir) as writer:
        print(f"Loop C, learn: the policy itself changes.\n\n{HOW_TO_READ}\n")
        for step in slow_motion(args.steps, args.seed, args.lr, args.baseline):
            if not args.fast or args.predict:
                print(slow_question(step, args.steps, ARMS))
            if args.predict:
                predictions.append(ask(step, len(ARMS), sys.stdin.readline))
            elif not args.fast and sys.stdin.isatty():
                print("Enter for the update ", end="", flush=True)
                sys.stdin.readline()
            if not args.fast or args.predict:
                print(f"{slow_outcome(step, ARMS)}\n")
            if args.summary:
                print(summary_line(step))
            steps.append(step)
        writer.write_rows(LOG, steps)
        summary: dict[str, Any] = {"steps": args.steps, "final_probs": steps[-1].new_probs}
        if args.predict:
            writer.write_rows(PREDICTIONS, predictions)
            summary["predictions"] = len([p for p in predictions if p.right is not None])
            summary["predicted_right"] = len([p for p in predictions if p.right])
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop="C",
            command="course.policy_gradient_demo",
            settings={"steps": args.steps, "lr": args.lr, "baseline": args.baseline, "predict": args.predict},
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        path = writer.publish(manifest, run_page("C", summary, room_conditions(manifest), args.change, [], 0))

    print(f"\nafter {args.steps} steps\n{probabilities(steps[-1].new_probs, ARMS)}")
    if args.predict:
        print(f"\nyou predicted {summary['predicted_right']} of {summary['predictions']} right")
    print(f"\nrun: {visible_path(path)}")
    return 0


if __name__ == "__main__":
    run_command(main)
