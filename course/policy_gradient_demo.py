"""Loop C in slow motion: one update at a time, with everything that goes into it.

    python3 -m course.policy_gradient_demo
    python3 -m course.policy_gradient_demo --predict
    python3 -m course.policy_gradient_demo --fast --summary

At a terminal each step waits for Enter. ``--predict`` asks before each update which probability the update will raise;
the run keeps the answer and shows it beside the result. ``--fast`` does not stop; ``--summary`` prints one line for
each step. q ends the questions.

``learn`` is the loop itself: sample an action, score it, compare the reward with the baseline, and change theta so
that an action better than the baseline becomes more probable. The world is a bandit: one prompt, 17 * 19, and four
completions (``ARMS``), one of which the verifier rewards. Next: ``bandit_train`` runs N such loops side by side. Its
function ``write_updates`` writes the files of both commands.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import UpdateRow, update_row
from course.artifacts.writing import RunWriter
from course.asking import ask, wait_for_enter
from course.bandit_train import write_updates
from course.bandit_train_text import LEARNING_CURVE
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.score import score
from course.show.ending import end_run
from course.show.terminal import show
from course.show.updates import (
    BASELINE_OPTION,
    before_and_after,
    heading,
    how_to_read,
    knob_of,
    state_text,
    update_line,
    update_outcome,
    update_start,
)

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.reinforce import Update
    from course.policies.softmax import Floats

LOG = "policy_gradient_log.jsonl"


def learn(draws: Floats, lr: float, with_baseline: bool) -> Iterator[Update]:
    """All of Loop C: one run, one update for each of the uniform ``draws`` [T]."""
    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE
    from course.policies.reinforce import Update, apply_gradient, running_mean
    from course.policies.softmax import grad_log_prob, sample, softmax

    theta, baseline = np.zeros(len(ARMS)), 0.0
    for step, u in enumerate(draws, 1):
        p = softmax(theta)
        action = sample(p, u)
        reward = score(EXAMPLE, ARMS[action])["reward"]
        advantage = reward - baseline
        direction = advantage * grad_log_prob(p, action)
        new_theta = apply_gradient(theta, direction, lr)
        yield Update(theta, p, action, reward, baseline, advantage, direction, new_theta)
        theta = new_theta
        if with_baseline:
            baseline = running_mean(baseline, reward, step)


def main() -> None:
    what = "Loop C in slow motion, one update at a time. bandit_train, toy_mdp and token_train each add one idea to it."
    parser = Parser("course.policy_gradient_demo", what)
    parser.add_argument("--steps", type=positive_int, default=8, help="number of updates (default: 8)")
    help_ = "seed of the random draws (default: 19, where the first update changes theta)"
    parser.add_argument("--seed", type=non_negative_int, default=19, help=help_)
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate (default: 0.5)")
    parser.add_argument("--baseline", action=BooleanOptionalAction, default=True, help=BASELINE_OPTION)
    parser.add_argument("--fast", action="store_true", help="neither stop at each update nor show it")
    parser.add_argument("--summary", action="store_true", help="at the end, print one line for each step")
    parser.add_argument("--predict", action="store_true", help="ask before each update which probability will go up")
    parser.add_run_options("expected_reward_after", asks_itself=True)
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE

    watched = args.predict or not args.fast
    choices = [*map(str, range(len(ARMS))), "none"]
    question = f"Which probability will go up? ({', '.join(choices)}; q ends)"
    rows: list[UpdateRow] = []
    predictions: list[str] = []
    with RunWriter(args.outdir) as run:
        if watched:
            print(f"{state_text(EXAMPLE['prompt'])}\n")
        show(f"{how_to_read(args.lr)}\n")
        updates = learn(np.random.default_rng(args.seed).random(args.steps), args.lr, args.baseline)
        for step, update in enumerate(updates, 1):
            row = update_row(step, update, args.lr, EXAMPLE, ARMS)
            rows.append(row)
            if not watched:
                continue
            print(update_start(row, args.steps, ARMS))
            if args.predict:
                answer = ask(question, choices.__contains__, f"one of {', '.join(choices)}")
                watched = answer is not None
                if answer is not None:
                    predictions.append(answer)
                    print(prediction_text(answer, row))
            else:
                watched = wait_for_enter()
            print()
            if watched:
                print(f"{update_outcome(row)}\n")
        summary = write_updates(run, LOG, rows)
        if args.predict:
            summary["predictions"] = predictions
        settings = {"prompt": EXAMPLE["prompt"], "steps": args.steps, "lr": args.lr, "baseline": args.baseline}
        settings["predict"] = args.predict
        conditions = conditions_of(args, settings, knob=knob_of(rows))
        report = policy_gradient_text(rows, summary, ARMS, line_a_step=args.summary)
        end_run(run, conditions, summary, report, read=[LOG, LEARNING_CURVE], next_command=["check"])


def policy_gradient_text(
    rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str], *, line_a_step: bool
) -> str:
    """The policy before and after; if asked for, a line for each step; each prediction with its result."""
    parts = [heading(rows)]
    if line_a_step:
        parts.append("\n".join(map(update_line, rows)))
    parts.append(before_and_after(rows, arms))
    parts.append(f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}")
    if predictions := summary.get("predictions"):
        predicted = list(zip(predictions, rows, strict=False))  # q ends the questions before the steps
        right = sum(answer in raised_arms(row) for answer, row in predicted)
        lines = [f"right predictions: {right} of {len(predictions)}"]
        lines += [f"step {row.step:3}  {prediction_text(answer, row)}" for answer, row in predicted]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def raised_arms(row: UpdateRow) -> list[str]:
    """The arms whose probability the update raises, or ``none``."""
    arms = [str(arm) for arm, (old, new) in enumerate(zip(row.probs, row.new_probs, strict=True)) if new > old]
    return arms or ["none"]


def prediction_text(answer: str, row: UpdateRow) -> str:
    """Whether a prediction, an arm or ``none``, is right, and which arms really went up."""
    *others, last = raised_arms(row)
    raised = f"{', '.join(others)} and {last} go up" if others else f"{last} goes up"
    verdict = "right" if answer in raised_arms(row) else "wrong"
    return f"{verdict}: {raised}"


if __name__ == "__main__":
    run_command(main)
