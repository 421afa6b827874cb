"""Loop C plus time: two choices, one reward at the end, and how the first choice gets its credit.

    python -m course.toy_mdp --episodes 200 --seed 0
    python -m course.toy_mdp --episodes 200 --seed 0 --no-credit-step1

The loop is the one of ``bandit_train``, with a second step inside the episode and a return in the place of the reward.
``--no-credit-step1`` is a sabotage: the first step is never updated, as if only the piece that was paid had earned it.
"""

from __future__ import annotations

from collections.abc import Iterator

from course.artifacts.conditions import manifest_of
from course.artifacts.learning import Episode
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.reports.run_page import run_page
from course.reports.toy_mdp import episode_text, mdp_story
from course.stats import mean
from course.text import visible_path

LOG, STORY = "toy_mdp_log.jsonl", "toy_mdp_log.txt"


def learn(episodes: int, seed: int, lr: float, credit_step1: bool) -> Iterator[Episode]:
    """Loop C with time: sample two pieces, be paid at the end, push every step by the return that followed it.

    The baseline is the mean return of the episodes before.
    """
    import numpy as np

    from course.policies.softmax import softmax
    from course.policies.two_step import PIECES, Theta, expected_return, pay, return_to_go, start, visit

    draw = np.random.default_rng(seed).random
    theta = start()
    baseline = 0.0
    for number in range(1, episodes + 1):
        first = visit(theta.first, draw())
        second = visit(theta.second[first.action], draw())
        rewards = [0.0, pay(first.action, second.action)]
        returns = return_to_go(rewards)
        advantages = [return_ - baseline for return_ in returns]
        new_first = theta.first + lr * advantages[0] * first.direction if credit_step1 else theta.first
        new_second = theta.second.copy()
        new_second[first.action] = second.theta + lr * advantages[1] * second.direction
        yield Episode(
            episode=number,
            expected_return=expected_return(theta),
            prefixes=["", PIECES[0][first.action]],
            pieces=[PIECES[0][first.action], PIECES[1][second.action]],
            actions=[first.action, second.action],
            probs=[first.p.tolist(), second.p.tolist()],
            rewards=rewards,
            return_=returns,
            baseline=baseline,
            advantage=advantages,
            direction=[first.direction.tolist(), second.direction.tolist()],
            lr=lr,
            credited=[credit_step1, True],
            theta=[first.theta.tolist(), second.theta.tolist()],
            new_theta=[new_first.tolist(), new_second[first.action].tolist()],
            new_probs=[softmax(new_first).tolist(), softmax(new_second[first.action]).tolist()],
        )
        theta = Theta(new_first, new_second)
        baseline += (returns[0] - baseline) / number


def main() -> int:
    parser = Parser("course.toy_mdp", "Loop C plus time: two steps, two actions each, one reward at the end.")
    parser.add_argument("--episodes", type=positive_int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument("--lr", type=finite_float, default=0.5, help="how far a push goes (default: 0.5)")
    parser.add_argument("--no-credit-step1", action="store_true", help="sabotage: never update the first step")
    parser.add_run_options()
    args = parser.parse_args()

    with RunWriter(args.outdir) as writer:
        episodes = list(learn(args.episodes, args.seed, args.lr, not args.no_credit_step1))
        story = mdp_story(episodes)
        writer.write_rows(LOG, episodes)
        writer.write_bytes(STORY, story.encode("utf-8"))
        last = episodes[-max(1, len(episodes) // 10) :]
        summary = {
            "episodes": args.episodes,
            "mean_return": mean([episode.return_[0] for episode in episodes]),
            "mean_return_of_the_last_tenth": mean([episode.return_[0] for episode in last]),
            "expected_return_at_the_last": episodes[-1].expected_return,
            "first_step_probs": episodes[-1].new_probs[0],
        }
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop="C",
            command="course.toy_mdp",
            settings={"episodes": args.episodes, "lr": args.lr, "credit_step1": not args.no_credit_step1},
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        path = writer.publish(manifest, run_page("C", summary, room_conditions(manifest), args.change, [], 0))

    print("Loop C, learn: two choices, and a reward only at the end.\n")
    print("\n\n".join(episode_text(episode) for episode in told(episodes)))
    print(f"\nexpected return {episodes[0].expected_return:.3f} -> {episodes[-1].expected_return:.3f}", end="")
    print(
        f"\nmean return, last {len(last)} of {args.episodes} episodes: {summary['mean_return_of_the_last_tenth']:.2f}"
    )
    if args.no_credit_step1:
        print("the first step was never updated: it still chooses blindly, and half of all episodes are lost there")
    print(f"\nrun: {visible_path(path)}\nread: {visible_path(path / STORY)}")
    return 0


def told(episodes: list[Episode]) -> list[Episode]:
    """Three episodes worth telling: the first, the first that was paid, the last."""
    paid = [episode for episode in episodes if episode.return_[0] > 0]
    return list({episode.episode: episode for episode in [episodes[0], *paid[:1], episodes[-1]]}.values())


if __name__ == "__main__":
    run_command(main)
