"""Loop C plus time: two tokens, one reward at the end, and how the first token gets its credit.

    python3 -m course.toy_mdp --episodes 200 --seed 0
    python3 -m course.toy_mdp --episodes 200 --seed 0 --no-credit-step1

New since ``bandit_train``: an episode has two steps, so theta has a row for each state, and the return, which is the
sum of the rewards from a step on, is compared with the baseline. ``--no-credit-step1`` is a sabotage: the first step is
never updated, as if the last token alone had earned the reward. Next: ``token_train``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import EpisodeRow, episode_row, learning_result
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.score import score
from course.show.ending import end_run
from course.show.updates import heading, knob_of, state_text
from course.stats import mean
from course.text import clipped

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats
    from course.policies.two_step import EpisodeUpdate

LOG, EPISODES = "toy_mdp_log.jsonl", "toy_mdp_log.txt"


def learn(draws: Floats, lr: float, credited: Floats) -> Iterator[EpisodeUpdate]:
    """All of Loop C, with time: one run, with one episode of T steps and its update for each row of ``draws`` [N, T].

    ``credited``: [T] 1, or 0 for a step that is never updated. The baseline is the mean return of earlier episodes.
    """
    import numpy as np

    from course.policies.bandit import EXAMPLE
    from course.policies.reinforce import apply_gradient, return_to_go, running_mean
    from course.policies.softmax import grad_log_prob, softmax
    from course.policies.two_step import ACTIONS, STATES, EpisodeUpdate, decode, sample_trajectory

    theta, baseline = np.zeros((STATES, ACTIONS)), 0.0
    for step, u in enumerate(draws, 1):
        state, action = sample_trajectory(theta, u)
        reward = np.array([0.0, score(EXAMPLE, decode(action))["reward"]])
        return_ = return_to_go(reward)
        advantage = credited * (return_ - baseline)
        direction = np.zeros_like(theta)
        direction[state] = advantage[:, None] * grad_log_prob(softmax(theta[state]), action)
        new_theta = apply_gradient(theta, direction, lr)
        yield EpisodeUpdate(theta, state, action, reward, return_, baseline, advantage, direction, new_theta)
        theta = new_theta
        baseline = running_mean(baseline, return_[0], step)


def toy_mdp_text(rows: Sequence[EpisodeRow], summary: Mapping[str, Any]) -> str:
    """The first episode, the first with a reward, and the last; then the expected return before and after."""
    rewarded = next((row for row in rows if row.return_[0] > 0), rows[0])
    examples = {row.episode: row for row in (rows[0], rewarded, rows[-1])}
    parts = [heading(rows), head_text(rows[0])]
    parts += map(episode_text, examples.values())
    parts.append(f"expected return {summary['expected_return_before']:.3f} -> {summary['expected_return_after']:.3f}")
    if not rows[0].credited[0]:
        parts.append(f"The first step was never updated: p of 'Final: ' stays {summary['first_step_probs'][1]:.3f}.")
    return "\n\n".join(parts)


def head_text(row: EpisodeRow) -> str:
    """The world: its state, its reward, and whether the first step gets credit for the reward."""
    credited = "is credited" if row.credited[0] else "is not credited here"
    return f"""\
{state_text(row.prompt, " plus the text so far, which is empty at first")}
An episode has two steps, and one reward at the end. The first token alone earns
nothing. Its step {credited} with the return, which is the sum of the
rewards from that step on."""


def episode_text(row: EpisodeRow) -> str:
    """One episode, step by step: the token, its reward and return, and what the update did to its probability."""
    lines = [f"episode {row.episode}: {clipped(''.join(row.tokens), 50)}"]
    for step, (token, action) in enumerate(zip(row.tokens, row.actions, strict=True)):
        lines.append(
            f"  step {step + 1}  after {clipped(repr(row.prefixes[step]), 12):12} writes {clipped(repr(token), 12):12}"
            f" reward {row.rewards[step]:.0f}  return from here {row.return_[step]:.0f}"
        )
        p, new_p = row.probs[step][action], row.new_probs[step][action]
        comparison = f"advantage {row.return_[step]:.0f} - {row.baseline:.3f} = {row.advantage[step]:+.3f}"
        if not row.credited[step]:
            comparison = "no credit, so nothing changes"
        elif not any(row.direction[step]):
            comparison += ", so nothing changes"
        lines.append(f"          {comparison}: p {p:.3f} -> {new_p:.3f}")
    return "\n".join(lines)


def toy_mdp_story(rows: Sequence[EpisodeRow]) -> str:
    """The whole run as text, for the student to annotate."""
    return "\n".join([head_text(rows[0]), "", *map(episode_text, rows)]) + "\n"


def main() -> None:
    what = "Loop C plus time. New since bandit_train: an episode of two steps, with one reward at the end."
    parser = Parser("course.toy_mdp", what)
    parser.add_argument("--episodes", type=positive_int, default=200, help="number of episodes (default: 200)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="seed of the random draws (default: 0)")
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate (default: 0.5)")
    parser.add_argument("--no-credit-step1", action="store_true", help="sabotage: never update the first step")
    parser.add_run_options("expected_return_after")
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import EXAMPLE
    from course.policies.two_step import expected_return

    with RunWriter(args.outdir) as run:
        credited = [not args.no_credit_step1, True]
        draws = np.random.default_rng(args.seed).random((args.episodes, len(credited)))
        updates = list(learn(draws, args.lr, np.array(credited, dtype=float)))
        rows = [episode_row(episode, update, args.lr, credited) for episode, update in enumerate(updates, 1)]
        run.write_rows(LOG, rows)
        run.write_rows(RESULTS, (learning_result(EXAMPLE, "".join(row.tokens), row.episode - 1) for row in rows))
        run.write_bytes(EPISODES, toy_mdp_story(rows).encode("utf-8"))
        summary = {
            "mean_return": mean([row.return_[0] for row in rows]),
            "expected_return_before": rows[0].expected_return,
            "expected_return_after": expected_return(updates[-1].new_theta),
            "first_step_probs": rows[-1].new_probs[0],
        }
        settings = {"prompt": EXAMPLE["prompt"], "episodes": args.episodes, "lr": args.lr, "credit_step1": credited[0]}
        conditions = conditions_of(args, settings, knob=knob_of(rows))
        text = toy_mdp_text(rows, summary)
        end_run(run, conditions, summary, text, read=[EPISODES], next_command=["check"])


if __name__ == "__main__":
    run_command(main)
