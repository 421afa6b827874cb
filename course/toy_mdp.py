"""Loop C plus time: two tokens, one reward at the end, and how the first token gets its credit.

    python3 -m course.toy_mdp --episodes 200 --seed 0
    python3 -m course.toy_mdp --episodes 200 --seed 0 --no-credit-step1

Adds to ``bandit_train``: an episode has two steps, so theta has a row for each state, and what is compared with the
baseline is the return, the sum of the rewards from a step on. ``--no-credit-step1`` is a sabotage: the first step is
never updated, as if only the token that was rewarded had earned it. Next: ``token_train``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from course.artifacts.learning import episode_row, learning_result
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, finite_float, non_negative_int, positive_int, run_command
from course.publishing import conditions_of, publish
from course.reports.toy_mdp import toy_mdp_story, toy_mdp_text
from course.reports.updates import knob_of
from course.score import score
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats
    from course.policies.two_step import EpisodeUpdate

LOG, EPISODES = "toy_mdp_log.jsonl", "toy_mdp_log.txt"


def learn(draws: Floats, lr: float, credited: Floats) -> Iterator[EpisodeUpdate]:
    """Loop C, whole, with time: one run, one episode of T steps and its update for each row of ``draws`` [N, T].

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


def main() -> None:
    what = "Loop C plus time. Adds to bandit_train: two steps of two tokens each, and a reward only at the end."
    parser = Parser("course.toy_mdp", what)
    parser.add_argument("--episodes", type=positive_int, default=200, help="how many (default: 200)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_argument("--lr", type=finite_float, default=0.5, help="learning rate (default: 0.5)")
    parser.add_argument("--no-credit-step1", action="store_true", help="sabotage: never update the first step")
    parser.add_run_options()
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
        publish(run, conditions, summary, text, read=[EPISODES], next_command=["check"])


if __name__ == "__main__":
    run_command(main)
