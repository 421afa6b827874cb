"""Loops B and C on one policy: both raise what is delivered, only one changes the policy.

    python -m course.policy_improvement_demo --mode selection
    python -m course.policy_improvement_demo --mode learning

Each round draws N completions of one prompt. Selection delivers the best of them and throws the rest away; learning
delivers the first, and pushes the policy by what all of them earned. ``pass@1`` is the policy's own, exact: the chance
that one fresh sample is paid. Watch in which mode it moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from course.artifacts.conditions import manifest_of
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.reports.run_page import run_page
from course.reports.tables import percent, table
from course.stats import mean
from course.text import visible_path

LOG = "policy_improvement.jsonl"
START = (1.0, -0.5, 0.5, -1.0)  # preferences of the arms at the start: the paid ones are not the favourites
MODES = ("selection", "learning")


class Round(Struct, frozen=True, forbid_unknown_fields=True):
    """One round: what the policy was worth before it, and what was delivered."""

    round: int
    pass_at_1: float  # of the policy, exact
    probs: list[float]
    sampled: list[int]
    rewards: list[float]
    delivered: float  # the reward of the completion that was handed out


def rounds_of(mode: str, rounds: int, n: int, seed: int, lr: float) -> Iterator[Round]:
    """Both loops in one place: they part in the last lines only."""
    import numpy as np

    from course.policies.bandit import rewards
    from course.policies.reinforce import reinforce
    from course.policies.softmax import expected_reward, sample, softmax

    draw = np.random.default_rng(seed).random
    paid = rewards()
    theta = np.array(START)
    for number in range(1, rounds + 1):
        p = softmax(theta)
        draws = draw(n)
        sampled = sample(np.broadcast_to(p, (n, len(p))), draws)
        earned = paid[sampled]
        delivered = earned.max() if mode == "selection" else earned[0]
        yield Round(
            number, float(expected_reward(p, paid)), p.tolist(), sampled.tolist(), earned.tolist(), float(delivered)
        )
        if mode == "learning":  # the baseline is the mean of the round, the group's
            updates = [reinforce(theta, u, paid, earned.mean(), lr) for u in draws]
            theta = theta + lr * np.mean([update.gradient for update in updates], axis=0)


def main() -> int:
    parser = Parser("course.policy_improvement_demo", "Loops B and C on one policy: which of them changes it?")
    parser.add_argument("--mode", choices=MODES, required=True, help="choose among samples, or learn from them")
    parser.add_argument("--rounds", type=positive_int, default=40, help="how many (default: 40)")
    parser.add_argument("--n", type=positive_int, default=4, help="samples a round (default: 4)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument(
        "--lr", type=finite_float, default=0.5, help="how far a push goes, when learning (default: 0.5)"
    )
    parser.add_run_options()
    args = parser.parse_args()

    loop: Literal["B", "C"] = "B" if args.mode == "selection" else "C"
    with RunWriter(args.outdir) as writer:
        rounds = list(rounds_of(args.mode, args.rounds, args.n, args.seed, args.lr))
        writer.write_rows(LOG, rounds)
        summary = {
            "rounds": args.rounds,
            "samples_per_round": args.n,
            "pass_at_1_before": rounds[0].pass_at_1,
            "pass_at_1_after": rounds[-1].pass_at_1,
            "delivered": mean([one.delivered for one in rounds]),
        }
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop=loop,
            command="course.policy_improvement_demo",
            settings={"mode": args.mode, "rounds": args.rounds, "n": args.n, "lr": args.lr},
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        path = writer.publish(manifest, run_page(loop, summary, room_conditions(manifest), args.change, [], 0))

    print(f"Loop {'B, choose' if loop == 'B' else 'C, learn'}: {args.n} samples a round, {args.rounds} rounds.\n")
    told = [one for one in rounds if one.round in (1, 2, 5, 10, 20, args.rounds)]
    rows = [
        (one.round, percent(one.pass_at_1), " ".join(f"{r:.0f}" for r in one.rewards[:16]), f"{one.delivered:.0f}")
        for one in told
    ]
    print(table(("round", "pass@1 of the policy", "rewards of its samples", "delivered"), rows, right=(0, 1, 3)))
    print(f"\ndelivered over all rounds: {percent(summary['delivered'])} paid")
    moved = "changed: this is learning" if args.mode == "learning" else "did not change: this is selection"
    print(f"pass@1 of the policy {percent(rounds[0].pass_at_1)} -> {percent(rounds[-1].pass_at_1)}; the policy {moved}")
    print(f"\nrun: {visible_path(path)}")
    return 0


if __name__ == "__main__":
    run_command(main)
