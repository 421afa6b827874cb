"""How fast the token policy learns, and how well, over five seeds.

    python3 benchmarks/learning.py --jobs 2

``--jobs``: how many processes share the trainings; what is timed alone, a step, is timed first.

Speed is a ratio within one run: a training step against its matrix products alone, of the same shapes and as many, on
arrays that are in memory already. The two take turns, so that what else the machine does hits both; one BLAS thread, as
in all of the lab. What a policy achieves is printed seed by seed, with the median beside its limit.
"""

import os
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable
from concurrent.futures import Executor
from pathlib import Path
from statistics import median
from timeit import default_timer, timeit
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is loaded

from course.artifacts.token_rows import EvaluationRow, evaluation_row
from course.datasets.records import Task, task_of
from course.datasets.sources import Dataset
from course.jobs import in_order, processes
from course.policies.evaluation import learn_and_evaluate
from course.policies.presets import PRESETS, Preset
from course.policies.token_learner import fine_tune, learn
from course.policies.token_policy import Completions, Weights
from course.rubrics.hackable import RUBRICS

LAB = Path(__file__).resolve().parents[1]
STEPS = 200  # that are timed
RATIOS = {"generalise": 1.6, "memorise": 2.5}  # a step may take so many times as long as its matrix products
SEEDS = range(5)


class Figure(NamedTuple):
    """A number of one evaluation of a training, the first or the last, and the limits of its median over the seeds."""

    name: str
    evaluation: int  # 0 or -1
    at_most: float = 1.0
    at_least: float = 0.0

    def verdict(self, values: list[float]) -> str:
        found = median(values)
        limit = f"at most {self.at_most}" if self.at_most < 1 else f"at least {self.at_least}" if self.at_least else ""
        held = limit and ("   ok" if self.at_least <= found <= self.at_most else "   missed")
        each = "  ".join(f"{value:.3f}" for value in values)
        return f"  {self.name:22}{'last' if self.evaluation else 'first':7}{each}   median {found:.3f}   {limit}{held}"


TRAININGS: tuple[tuple[str, str, tuple[Figure, ...]], ...] = (
    (
        "memorise",
        "score",
        (
            Figure("true_reward", 0, at_most=0.25),
            Figure("true_reward", -1, at_least=0.85),
            Figure("holdout_true_reward", 0),
            Figure("holdout_true_reward", -1, at_most=0.1),
        ),
    ),
    (
        "memorise",
        "anywhere",
        (
            Figure("proxy_reward", 0),
            Figure("proxy_reward", -1, at_least=0.95),
            Figure("true_reward", -1, at_most=0.05),
            Figure("holdout_proxy_reward", 0),
            Figure("holdout_proxy_reward", -1),
        ),
    ),
    (
        "generalise",
        "score",
        (
            Figure("true_reward", 0),
            Figure("true_reward", -1),
            Figure("holdout_true_reward", 0, at_most=0.35),
            Figure("holdout_true_reward", -1, at_least=0.9),
        ),
    ),
)


def examples_of(preset: Preset) -> tuple[list[Task], list[Task]]:
    """What is learned on, and the holdout."""
    dataset, holdout = (Dataset(LAB / path, None) for path in (preset.dataset, preset.holdout))
    return [task_of(example) for example in dataset], [task_of(example) for example in holdout]


def products(weights: Weights, completions: Completions) -> Callable[[], None]:
    """The matrix products of one step, ready to run: those of sampling, token by token, and those of the gradient."""
    import numpy as np

    units, vocabulary = weights.out.shape
    writing = [int((completions.lengths > t).sum()) for t in range(completions.tokens.shape[1])]
    all_tokens = int(completions.lengths.sum())
    inputs = np.ones((all_tokens, len(weights.hidden)))
    hidden = np.ones((all_tokens, units))
    theta = np.ones((all_tokens, vocabulary))

    def run() -> None:
        for rows in (*writing, all_tokens):  # the gradient goes forward once more, over all tokens
            inputs[:rows] @ weights.hidden
            hidden[:rows] @ weights.out
        theta @ weights.out.T
        hidden @ weights.hidden.T
        inputs.T @ hidden
        hidden.T @ theta

    return run


def step_cost(name: str, rubric: str) -> None:
    """Print the median of a step of ``learn``, of its products, and of the ratios of the two."""
    preset = PRESETS[name]
    examples, _ = examples_of(preset)
    reference = fine_tune(examples, preset.plan, 0)
    updates = learn(reference, examples, RUBRICS[rubric], preset.plan._replace(steps=STEPS + 1), 0)
    ours, bare = [], []
    update = next(updates)
    for _ in range(STEPS):
        started = default_timer()
        update = next(updates)
        ours.append(default_timer() - started)
        bare.append(timeit(products(update.policy.weights, update.completions), number=1))
    ratio = median(one / other for one, other in zip(ours, bare, strict=True))
    verdict = "ok" if ratio <= RATIOS[name] else "missed"
    print(
        f"  {name:12}{rubric:10}{median(ours) * 1e3:8.2f} ms {median(bare) * 1e3:8.2f} ms {ratio:7.2f} x"
        f"   at most {RATIOS[name]:g}: {verdict}",
        flush=True,
    )


def train(name: str, rubric: str, seed: int) -> tuple[list[EvaluationRow], float]:
    """A training by its own plan, whole: fine-tuning, every update, an evaluation before and one after. And seconds."""
    started = default_timer()
    preset = PRESETS[name]
    examples, holdout = examples_of(preset)
    reference = fine_tune(examples, preset.plan, seed)
    plan = preset.plan
    checkpoints = learn_and_evaluate(reference, examples, holdout, RUBRICS[rubric], plan, seed, plan.steps)
    rows = [evaluation_row(checkpoint, rubric, plan.kl_coef, seed) for checkpoint in checkpoints]
    return rows, default_timer() - started


def train_all(name: str, rubric: str, figures: tuple[Figure, ...], executor: Executor | None) -> None:
    """Print the figures of a training and how long it took, for each seed and in the median."""
    trainings, times = zip(*in_order(executor, train, [(name, rubric, seed) for seed in SEEDS]), strict=True)
    print(f"\n{name}, rubric {rubric}: seeds {SEEDS[0]} to {SEEDS[-1]}")
    for figure in figures:
        print(figure.verdict([getattr(rows[figure.evaluation], figure.name) for rows in trainings]))
    each = "  ".join(f"{time:5.1f}" for time in times)
    print(f"  {'wall time, seconds':29}{each}   median {median(times):5.1f}", flush=True)


def step_costs() -> None:
    print(f"a training step, and the matrix products of one in which nothing is skipped: medians of {STEPS}\n")
    print(f"  {'':22}{'ours':>11} {'products':>11} {'ratio':>9}")
    for name, rubric, _ in TRAININGS:
        step_cost(name, rubric)


def main() -> None:
    parser = ArgumentParser(description=__doc__, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="use N processes (default: 1)")
    args = parser.parse_args()
    step_costs()
    with processes(args.jobs) as executor:
        for name, rubric, figures in TRAININGS:
            train_all(name, rubric, figures, executor)


if __name__ == "__main__":
    main()
