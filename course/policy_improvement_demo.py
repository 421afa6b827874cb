"""Machinery: Loops B and C on one policy. Both raise the reward of what is delivered, only one changes the policy.

    python -m course.policy_improvement_demo --mode selection
    python -m course.policy_improvement_demo --mode learning

Each round samples N completions of one prompt. Selection delivers the best of them and keeps the policy; learning
delivers the first, and updates the policy from the rewards of all of them. ``pass@1`` is the policy's own, exact: the
probability that one fresh sample gets reward 1. It changes in one mode only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from course.artifacts.learning import RoundRow, learning_result
from course.artifacts.records import RESULTS, Result, Selection
from course.artifacts.summary import choice_of, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.publishing import Conditions, publish
from course.reports.policy_improvement_demo import policy_improvement_text
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

LOG = "policy_improvement.jsonl"
START = (1.0, -0.5, 0.5, -1.0)  # logits of the arms at the start: the right ones are not the favourites
LEARNING_RATE = 0.5


def improve(mode: Literal["selection", "learning"], draws: Floats) -> Iterator[RoundRow]:
    """Both loops in one place, a round for each row of the uniform ``draws`` [rounds, N]: only the end differs."""
    import numpy as np

    from course.policies.bandit import arm_rewards
    from course.policies.reinforce import apply_gradient
    from course.policies.softmax import expected_reward, grad_log_prob, sample, softmax

    rewards = arm_rewards()
    theta = np.array(START)
    for number, u in enumerate(draws, 1):
        p = softmax(theta)
        action = sample(p, u)
        reward = rewards[action]
        delivered = float(reward.max() if mode == "selection" else reward[0])
        pass_at_1 = float(expected_reward(p, rewards))
        yield RoundRow(number, pass_at_1, p.tolist(), action.tolist(), reward.tolist(), delivered)
        if mode == "learning":
            advantage = reward - reward.mean()
            direction = (advantage[:, None] * grad_log_prob(p, action)).mean(axis=0)
            theta = apply_gradient(theta, direction, LEARNING_RATE)


def selection(row: RoundRow) -> Selection:
    """Loop B's result: the first of the best samples of the round."""
    from course.policies.bandit import ARMS, EXAMPLE

    samples = [ARMS[action] for action in row.actions]
    chosen = row.rewards.index(row.delivered)
    best = learning_result(EXAMPLE, samples[chosen], row.round - 1)
    scored = (best.prompt, best.expected_answer, best.completion, best.reward, best.details)
    return Selection(f"round-{row.round:03}", *scored, samples, row.rewards, chosen, [], [])


def main() -> int:
    parser = Parser("course.policy_improvement_demo", "Loops B and C on one policy: which of them changes it?")
    help_ = "choose among samples, or learn from them"
    parser.add_argument("--mode", choices=("selection", "learning"), required=True, help=help_)
    parser.add_argument("--rounds", type=positive_int, default=40, help="how many (default: 40)")
    parser.add_argument("--n", type=positive_int, default=4, help="samples a round (default: 4)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE

    with RunWriter(args.outdir) as run:
        rows = list(improve(args.mode, np.random.default_rng(args.seed).random((args.rounds, args.n))))
        results: Sequence[Result]
        summary: dict[str, Any]
        if args.mode == "selection":
            choices = [selection(row) for row in rows]
            outcomes = Counter(choice.details.outcome for choice in choices)
            results, summary = choices, summary_of(outcomes, Counter(map(choice_of, choices)))
        else:
            results = [learning_result(EXAMPLE, ARMS[a], row.round - 1) for row in rows for a in row.actions]
            summary = {
                "pass_at_1_before": rows[0].pass_at_1,
                "pass_at_1_after": rows[-1].pass_at_1,
                "delivered": mean([row.delivered for row in rows]),
            }
        run.write_rows(LOG, rows)
        run.write_rows(RESULTS, results)
        conditions = Conditions(
            loop="B" if args.mode == "selection" else "C",
            command="course.policy_improvement_demo",
            settings={"mode": args.mode, "rounds": args.rounds, "n": args.n},
            change=args.change,
            expect=args.expect,
            samples_per_prompt=args.n if args.mode == "selection" else None,
            seed=args.seed,
        )
        publish(run, conditions, summary, policy_improvement_text(rows, args.mode), read=[LOG])
    return 0


if __name__ == "__main__":
    run_command(main)
