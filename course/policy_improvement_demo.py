"""Loops B and C on one policy: both raise the reward of what is delivered, only one changes the policy.

    python -m course.policy_improvement_demo --mode selection
    python -m course.policy_improvement_demo --mode learning

Each round samples N completions of one prompt. Selection delivers the best of them and keeps the policy; learning
delivers the first, and updates the policy from the rewards of all of them. ``pass@1`` is the policy's own, exact: the
probability that one fresh sample gets reward 1. It changes in one mode only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

from course.artifacts.learning import RoundRow, learning_result
from course.artifacts.records import RESULTS, Details, Selection
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.publishing import Conditions, publish
from course.reports.policy_improvement_demo import policy_improvement_text
from course.score import measure
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

LOG = "policy_improvement.jsonl"
START = (1.0, -0.5, 0.5, -1.0)  # logits of the arms at the start: the right ones are not the favourites

Mode = Literal["selection", "learning"]


def improve(mode: Mode, draws: Floats, lr: float) -> Iterator[RoundRow]:
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
            theta = apply_gradient(theta, direction, lr)


def selections(rows: list[RoundRow]) -> Iterator[Selection]:
    """Loop B's results: the first of the best samples of each round."""
    from course.policies.bandit import ARMS, EXAMPLE

    prompt, answer = EXAMPLE["prompt"], EXAMPLE["expected_answer"]
    for row in rows:
        samples = [ARMS[action] for action in row.actions]
        chosen = row.rewards.index(max(row.rewards))
        reward, outcome, parsed = measure(answer, samples[chosen])
        best = (samples[chosen], reward, Details(outcome, parsed))
        yield Selection(f"round-{row.round:03}", prompt, answer, *best, samples, row.rewards, chosen)


def main() -> int:
    parser = Parser(
        "course.policy_improvement_demo",
        "Loops B and C on the policy of bandit_train, side by side: which of them changes it?",
    )
    parser.add_argument(
        "--mode", choices=("selection", "learning"), required=True, help="choose among samples, or learn from them"
    )
    parser.add_argument("--rounds", type=positive_int, default=40, help="how many (default: 40)")
    parser.add_argument("--n", type=positive_int, default=4, help="samples a round (default: 4)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate, when learning (default: 0.5)")
    parser.add_run_options()
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE

    with RunWriter(args.outdir) as run:
        draws = np.random.default_rng(args.seed).random((args.rounds, args.n))
        rows = list(improve(args.mode, draws, args.lr))
        run.write_rows(LOG, rows)
        summary: dict[str, Any] = {
            "rounds": args.rounds,
            "samples_per_round": args.n,
            "pass_at_1_before": rows[0].pass_at_1,
            "pass_at_1_after": rows[-1].pass_at_1,
            "delivered": mean([row.delivered for row in rows]),
        }
        if args.mode == "selection":
            results = list(selections(rows))
            run.write_rows(RESULTS, results)
            summary |= summary_of(Counter(result.details.outcome for result in results))
        else:
            sampled = ((row.round - 1, ARMS[action]) for row in rows for action in row.actions)
            run.write_rows(RESULTS, (learning_result(EXAMPLE, completion, step) for step, completion in sampled))
        publish(
            run,
            Conditions(
                loop="B" if args.mode == "selection" else "C",
                command="course.policy_improvement_demo",
                settings={"mode": args.mode, "rounds": args.rounds, "n": args.n, "lr": args.lr},
                change=args.change,
                samples_per_prompt=args.n if args.mode == "selection" else None,
                seed=args.seed,
            ),
            summary,
            policy_improvement_text(rows, summary, args.mode),
            read=[LOG],
        )
    return 0


if __name__ == "__main__":
    run_command(main)
