"""How fast the token policy learns, and how well, over five seeds.

    python benchmarks/learning.py

Speed is told as a ratio within one run: a training step against its matrix products alone, of the same shapes and as
many, on arrays that are in memory already. The two take turns, so that what else the machine does hits both; one
BLAS thread, as in all of the lab. What a policy comes to is told seed by seed,
with the median beside its limit. A limit that is missed is said to be.
"""

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from timeit import default_timer, timeit
from typing import NamedTuple

from course.artifacts.token_rows import Measured, measured_row
from course.datasets.sources import Dataset
from course.policies.evaluation import moments
from course.policies.presets import PRESETS, Regime
from course.policies.token_learner import Example, imitate, learn
from course.policies.token_policy import Completions, Weights
from course.rubrics.hackable import RUBRICS

LAB = Path(__file__).resolve().parents[1]
STEPS = 200  # that are timed
RATIO = 3.0  # a step may take this many times as long as its matrix products
SEEDS = range(5)


class Figure(NamedTuple):
    """A number of one look at a training, the first or the last, and what its median over the seeds may be."""

    name: str
    look: int
    at_most: float = 1.0
    at_least: float = 0.0

    def judged(self, values: list[float]) -> str:
        found = median(values)
        limit = f"at most {self.at_most}" if self.at_most < 1 else f"at least {self.at_least}" if self.at_least else ""
        verdict = limit and ("   ok" if self.at_least <= found <= self.at_most else "   missed")
        each = "  ".join(f"{value:.3f}" for value in values)
        return f"  {self.name:22}{'last' if self.look else 'first':7}{each}   median {found:.3f}   {limit}{verdict}"


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


def examples_of(regime: Regime) -> tuple[list[Example], list[Example]]:
    """What is learned on, and the holdout."""
    dataset, holdout = (Dataset(LAB / path, None) for path in (regime.dataset, regime.holdout))
    return [example.asked() for example in dataset], [example.asked() for example in holdout]


def products(weights: Weights, completions: Completions) -> Callable[[], None]:
    """The matrix products of one step, ready to run: those of drawing, token by token, and those of the gradient."""
    import numpy as np  # after the course, which sets the number of threads

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
    regime = PRESETS[name]
    examples, _ = examples_of(regime)
    reference = deque(imitate(examples, regime.plan, 0), maxlen=1).pop()
    updates = learn(reference, examples, RUBRICS[rubric], regime.plan._replace(steps=STEPS + 1), 0)
    ours, bare = [], []
    update = next(updates)
    for _ in range(STEPS):
        started = default_timer()
        update = next(updates)
        ours.append(default_timer() - started)
        bare.append(timeit(products(update.policy.weights, update.completions), number=1))
    ratio = median(one / other for one, other in zip(ours, bare, strict=True))
    verdict = "ok" if ratio <= RATIO else "missed"
    print(
        f"  {name:12}{rubric:10}{median(ours) * 1e3:8.2f} ms {median(bare) * 1e3:8.2f} ms {ratio:7.2f} x"
        f"   at most {RATIO:g}   {verdict}",
        flush=True,
    )


def trained(name: str, rubric: str, seed: int) -> Iterator[Measured]:
    """A training by its own plan, whole: the supervised start, every update, a look before them and one after."""
    regime = PRESETS[name]
    examples, holdout = examples_of(regime)
    reference = deque(imitate(examples, regime.plan, seed), maxlen=1).pop()
    looks = moments(reference, examples, holdout, RUBRICS[rubric], regime.plan, seed, regime.plan.steps)
    return map(measured_row, looks)


def learning(name: str, rubric: str, figures: tuple[Figure, ...]) -> None:
    """Print the figures of a training and how long it took, for each seed and in the median."""
    looks: list[list[Measured]] = []
    times: list[float] = []
    for seed in SEEDS:
        started = default_timer()
        looks.append(list(trained(name, rubric, seed)))
        times.append(default_timer() - started)
    print(f"\n{name}, paid by {rubric}: seeds {SEEDS[0]} to {SEEDS[-1]}")
    for figure in figures:
        print(figure.judged([getattr(look[figure.look], figure.name) for look in looks]))
    each = "  ".join(f"{time:5.1f}" for time in times)
    print(f"  {'wall time, seconds':29}{each}   median {median(times):5.1f}", flush=True)


def main() -> None:
    print(f"a training step, and its matrix products alone: medians of {STEPS}\n")
    print(f"  {'':22}{'ours':>11} {'products':>11} {'ratio':>9}")
    for name, rubric, _ in TRAININGS:
        step_cost(name, rubric)
    for name, rubric, figures in TRAININGS:
        learning(name, rubric, figures)


if __name__ == "__main__":
    main()
