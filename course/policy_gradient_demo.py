"""Loop C in slow motion: one update at a time, with everything that goes into it.

    python3 -m course.policy_gradient_demo
    python3 -m course.policy_gradient_demo --predict
    python3 -m course.policy_gradient_demo --fast --summary

At a terminal each step waits for Enter. ``--predict`` asks, before each update, which probability it will raise, and
why; the run keeps the answers. ``--fast`` does not stop; ``--summary`` prints one line a step. q ends the questions.

``learn`` is the loop itself: sample an action, score it, compare the reward with the baseline, and change theta so
that what was better than the baseline becomes more probable. The world is a bandit: one prompt, 17 * 19, and four
completions (``ARMS``), two of which the verifier rewards. Next: ``bandit_train`` runs N of it side by side.
"""

from __future__ import annotations

from argparse import BooleanOptionalAction
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from course.artifacts.learning import UpdateRow, learning_result, update_row
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.asking import ask, wait_for_enter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.publishing import conditions_of, publish
from course.reports.bandit_train import LEARNING_CURVE, learning_curve
from course.reports.policy_gradient_demo import arm_named, policy_gradient_text, prediction_text
from course.reports.updates import BASELINE_OPTION, how_to_read, knob_of, state_text, update_outcome, update_start
from course.score import score
from course.text import clipped

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


def ask_prediction(arms: int) -> str | None:
    """Ask until the answer begins with an arm or ``none``; None after q and at the end of the input."""
    choices = [*map(str, range(arms)), "none"]
    question = f"Which probability will go up, and why? ({', '.join(choices)}; q ends)"
    while (answer := ask(question)) is not None and arm_named(answer) not in choices:
        print(f"expected one of {', '.join(choices)}, then why, such as: 0 because its reward was 1")
    return answer


def main() -> None:
    what = "Loop C in slow motion, one update at a time. bandit_train, toy_mdp and token_train each add one idea to it."
    parser = Parser("course.policy_gradient_demo", what)
    parser.add_argument("--steps", type=positive_int, default=8, help="updates (default: 8)")
    help_ = "of the draws (default: 4, whose first update pushes)"
    parser.add_argument("--seed", type=non_negative_int, default=4, help=help_)
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate (default: 0.5)")
    parser.add_argument("--baseline", action=BooleanOptionalAction, default=True, help=BASELINE_OPTION)
    parser.add_argument("--fast", action="store_true", help="do not stop and do not show each update")
    parser.add_argument("--summary", action="store_true", help="print one line a step at the end, also with --fast")
    parser.add_argument("--predict", action="store_true", help="ask before each update which probability will go up")
    parser.add_run_options(asks_itself=True)
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE, arm_rewards
    from course.policies.softmax import expected_reward

    watched = args.predict or not args.fast
    rows: list[UpdateRow] = []
    predictions: list[str] = []
    with RunWriter(args.outdir) as run:
        if watched:
            print(f"{state_text(EXAMPLE['prompt'])}\n\n{how_to_read(args.lr)}\n")
        updates = learn(np.random.default_rng(args.seed).random(args.steps), args.lr, args.baseline)
        for step, update in enumerate(updates, 1):
            rows.append(row := update_row(step, update, args.lr, EXAMPLE, ARMS))
            if not watched:
                continue
            print(update_start(row, args.steps, ARMS))
            if not args.predict:
                watched = wait_for_enter()
            elif watched := (answer := ask_prediction(len(ARMS))) is not None:
                predictions.append(clipped(answer, 400))
                print(prediction_text(answer, row))
            print(f"\n{update_outcome(row)}\n" if watched else "")
        run.write_rows(LOG, rows)
        run.write_rows(RESULTS, (learning_result(EXAMPLE, row.completion, row.step - 1) for row in rows))
        rewards = arm_rewards()
        objective = [float(expected_reward(np.array(row.probs), rewards)) for row in rows]
        after = float(expected_reward(np.array(rows[-1].new_probs), rewards))
        run.write_bytes(LEARNING_CURVE, learning_curve([row.reward for row in rows], objective))
        summary: dict[str, Any] = {"expected_reward_before": objective[0], "expected_reward_after": after}
        summary |= {"final_probs": rows[-1].new_probs} | ({"predictions": predictions} if args.predict else {})
        settings = {"prompt": EXAMPLE["prompt"], "steps": args.steps, "lr": args.lr, "baseline": args.baseline}
        settings["predict"] = args.predict
        conditions = conditions_of(args, settings, knob=knob_of(rows))
        report = policy_gradient_text(rows, summary, ARMS, line_a_step=args.summary)
        publish(run, conditions, summary, report, read=[LOG, LEARNING_CURVE], next_command=["check"])


if __name__ == "__main__":
    run_command(main)
