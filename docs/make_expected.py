"""Write docs/figures/expected_*.svg: how learning curves look when nothing is broken, five seeds of each training.

    python3 docs/make_expected.py --jobs 2     train, write expected.json, draw: five minutes
    python3 docs/make_expected.py --draw       draw again from expected.json

The lab's own functions learn, as in the commands that stand in ``TRAININGS``. A band goes from the lowest of the seeds
to the highest, step by step; the line in it is their median. A sixth seed lies outside such a band in one of three
cases at any one step, for each of six is as likely as the others to be the lowest or the highest.
"""

from __future__ import annotations

import json
import os
import re
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

LAB = Path(__file__).resolve().parents[1]
FIGURES = LAB / "docs" / "figures"
TABLE = FIGURES / "expected.json"
SEEDS = range(5)
UPDATES = [*range(30), *range(30, 201, 5)]  # of the small learners: each of the first 30, then every fifth
EVERY = 25  # updates between evaluations of a token policy

Curves = dict[str, list[float]]  # name -> a value for each step


def bandit(seed: int, lr: float = 0.5) -> Curves:
    """The expected reward before the first update, and after each of the ``UPDATES``."""
    import numpy as np

    from course.bandit_train import draws_of, learn
    from course.policies.bandit import ARMS, arm_rewards
    from course.policies.softmax import expected_reward, softmax

    updates = learn(arm_rewards(), draws_of(seed, UPDATES[-1]), lr, with_baseline=True)
    thetas = [np.zeros((1, len(ARMS))), *(update.new_theta for update in updates)]
    return {"expected reward": [float(expected_reward(softmax(thetas[n][0]), arm_rewards())) for n in UPDATES]}


def two_steps(seed: int, *credited: bool) -> Curves:
    """The expected return before the first episode, and after each of the ``UPDATES``."""
    import numpy as np

    from course.policies.two_step import ACTIONS, STATES, expected_return
    from course.toy_mdp import learn

    draws = np.random.default_rng(seed).random((UPDATES[-1], len(credited)))
    updates = learn(draws, 0.5, np.array(credited, dtype=float))
    thetas = [np.zeros((STATES, ACTIONS)), *(update.new_theta for update in updates)]
    return {"expected return": [expected_return(thetas[n]) for n in UPDATES]}


def tokens(seed: int, preset: str, rubric: str, updates: int = 600) -> Curves:
    """The mean rewards of rubric and strict scorer at each evaluation."""
    from course.datasets.records import task_of
    from course.datasets.sources import Dataset
    from course.policies.evaluation import learn_and_evaluate
    from course.policies.token_learner import fine_tune
    from course.policies.train_config import PRESETS
    from course.rubrics.hackable import RUBRICS

    config = PRESETS[preset]._replace(steps=updates, eval_every=EVERY)
    examples = [task_of(example) for example in Dataset(LAB / config.dataset)]
    reference = fine_tune(examples, config, seed)
    learning = learn_and_evaluate(reference, examples, (), RUBRICS[rubric], config, seed)
    found = [checkpoint.evaluations["train"] for checkpoint in learning]
    curves = {"strict": [float(of.true.mean()) for of in found]}
    if rubric != "score":
        curves["rubric"] = [float(of.proxy.mean()) for of in found]
    return curves


class Training(NamedTuple):
    """What is trained once for each seed, and the command that does the same."""

    command: str
    steps: Sequence[int]
    curves: Callable[..., Curves]
    how: tuple[Any, ...] = ()


EVALUATIONS = range(0, 601, EVERY)
TRAININGS = {
    "bandit": Training("course.bandit_train --steps 200", UPDATES, bandit),
    "bandit_backwards": Training("course.bandit_train --steps 200 --lr -0.5", UPDATES, bandit, (-0.5,)),
    "two_steps": Training("course.toy_mdp", UPDATES, two_steps, (True, True)),
    "two_steps_sabotage": Training("course.toy_mdp --no-credit-step1", UPDATES, two_steps, (False, True)),
    "tokens_memorise": Training("course.token_train --preset memorise", EVALUATIONS, tokens, ("memorise", "score")),
    "tokens_anywhere": Training(
        "course.token_train --preset memorise --rubric anywhere", EVALUATIONS, tokens, ("memorise", "anywhere")
    ),
    "tokens_generalise": Training("course.token_train", EVALUATIONS, tokens, ("generalise", "score")),
}


def banded(seeds: Sequence[Curves]) -> dict[str, dict[str, list[float]]]:
    """For each curve the lowest, the middle and the highest of the seeds at each step, to four places."""
    table = {}
    for name in seeds[0]:
        columns = list(zip(*(curves[name] for curves in seeds), strict=True))
        ends = {"low": map(min, columns), "median": map(median, columns), "high": map(max, columns)}
        table[name] = {end: [round(value, 4) for value in values] for end, values in ends.items()}
    return table


def measured(name: str, curves: Sequence[Curves]) -> dict[str, Any]:
    """The part of expected.json that stands under ``name``."""
    training = TRAININGS[name]
    command = f"python3 -m {training.command} --seed SEED"
    return {"command": command, "seeds": list(SEEDS), "steps": list(training.steps), "curves": banded(curves)}


def measure(jobs: int) -> dict[str, Any]:
    """Train everything, on so many processes."""
    from course.jobs import map_in_order, processes

    with processes(jobs) as executor:
        todo = [(training.curves, (seed, *training.how)) for training in TRAININGS.values() for seed in SEEDS]
        done = map_in_order(executor, _call, todo)
        return {name: measured(name, [next(done) for _ in SEEDS]) for name in TRAININGS}


def _call(function: Callable[..., Curves], arguments: tuple[Any, ...]) -> Curves:
    return function(*arguments)


def write_table(table: Mapping[str, Any]) -> str:
    """expected.json: a list of numbers on one line each."""
    text = json.dumps(table, indent=1)
    return re.sub(r"\[[^\[\]]*\]", lambda found: re.sub(r"\s+", " ", found[0]), text) + "\n"


def main() -> None:
    parser = ArgumentParser(description="Write docs/figures/expected.json and expected_*.svg.")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--draw", action="store_true", help="train nothing: draw what expected.json has")
    args = parser.parse_args()
    if not args.draw:
        TABLE.write_text(write_table(measure(args.jobs)), encoding="utf-8", newline="\n")
    from docs.expected_figures import draw, drawings

    table = json.loads(TABLE.read_text(encoding="utf-8"))
    for name, drawing in drawings().items():
        (FIGURES / f"expected_{name}.svg").write_text(draw(drawing, table), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    os.environ |= dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")
    sys.path.insert(0, str(LAB))
    main()
