"""Machinery: Loop C, and the reward comes later and later: how many updates a text of 1 to 8 tokens takes.

    python3 -m course.late_reward

The loop of ``toy_mdp`` with more tokens. Each token is one of two, and one of the two is right. There is one reward, at
the end: 1 if all tokens are right. At first each token is a coin flip. A training ends when a text is right with
probability ``GOAL``.

Left out: the state. A token has the same probability whatever stands before it, so theta has a row for each place.
"""

from collections.abc import Mapping, Sequence
from math import inf
from statistics import median

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import LengthRow
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.show.ending import end_run
from course.show.tables import table

LOG = "late_reward_log.jsonl"
LENGTHS = range(1, 9)
GOAL = 0.9
LEARNING_RATE = 0.5
MOST_UPDATES = 20_000  # a training that is not at the goal by then ends

Numbers = Mapping[str, float | None]


def learn(tokens: int, seed: int) -> LengthRow:
    """One training, with an update for each text, until the goal or ``MOST_UPDATES``."""
    import numpy as np

    from course.policies.reinforce import apply_gradient, running_mean
    from course.policies.softmax import grad_log_prob, sample, softmax

    rng = np.random.default_rng(seed)
    theta, baseline, first_reward = np.zeros((tokens, 2)), 0.0, None
    for step in range(1, MOST_UPDATES + 1):
        p = softmax(theta)
        action = sample(p, rng.random(tokens))
        reward = float(action.all())  # action 1 is the right token
        if reward and first_reward is None:
            first_reward = step
        theta = apply_gradient(theta, (reward - baseline) * grad_log_prob(p, action), LEARNING_RATE)
        baseline = running_mean(baseline, reward, step)
        if softmax(theta)[:, 1].prod() >= GOAL:
            return LengthRow(tokens, seed, first_reward, step)
    return LengthRow(tokens, seed, first_reward, None)


def summarise(rows: Sequence[LengthRow]) -> Numbers:
    """Medians over the seeds, and the fastest and the slowest training; None for what is not there in time."""
    firsts = [inf if row.first_reward is None else row.first_reward for row in rows]
    updates = [inf if row.updates is None else row.updates for row in rows]
    numbers = {
        "first_reward": median(firsts),
        "updates": median(updates),
        "fastest": min(updates),
        "slowest": max(updates),
    }
    return {name: None if number == inf else number for name, number in numbers.items()}


def late_reward_text(by_length: Mapping[int, Numbers], seeds: int) -> str:
    cells = []
    for tokens, numbers in by_length.items():
        counts = [f"over {MOST_UPDATES}" if number is None else f"{number:g}" for number in numbers.values()]
        cells.append((tokens, 2**tokens, *counts))
    header = ("tokens", "possible texts", "first reward", f"updates until {GOAL}", "fastest", "slowest")
    return (
        "Loop C, learn: one reward at the end of a longer and longer text.\n\n"
        f"each token is right or wrong, one text per update; medians over {seeds} seeds\n\n"
        f"{table(header, cells, right=range(6))}"
    )


def main() -> None:
    parser = Parser("course.late_reward", "Loop C with one reward at the end of a text of 1 to 8 tokens.")
    parser.add_argument("--seeds", type=positive_int, default=100, help="trainings of each length (default: 100)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="the first of the seeds (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()
    with RunWriter(args.outdir) as run:
        seeds = range(args.seed, args.seed + args.seeds)
        rows = {tokens: [learn(tokens, seed) for seed in seeds] for tokens in LENGTHS}
        for of_length in rows.values():
            run.append(LOG, *of_length)
        run.write_rows(RESULTS, [])  # the verifier scores nothing here
        by_length = {tokens: summarise(of_length) for tokens, of_length in rows.items()}
        summary = {f"{tokens} tokens": numbers for tokens, numbers in by_length.items()}
        settings = {"seeds": args.seeds, "lr": LEARNING_RATE, "goal": GOAL, "most_updates": MOST_UPDATES}
        end_run(run, conditions_of(args, settings), summary, late_reward_text(by_length, args.seeds))


if __name__ == "__main__":
    run_command(main)
