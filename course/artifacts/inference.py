"""What may be inferred from the logs of token commands: where proxy and true reward diverge, and what rose.

Notation as in ``token_rows``, and
    training     the rows of one training in order; trainings: the same training once for each seed
    quantity     a column of the log; those that are shares of completions have Wilson intervals
"""

from collections.abc import Mapping, Sequence
from statistics import median, median_low
from typing import Literal, NamedTuple

from course.artifacts.token_rows import CoverageRow, GoodhartRow
from course.stats import wilson_interval

Training = Sequence[GoodhartRow]
Trainings = Sequence[Training]
Quantity = Literal[
    "step", "kl", "proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "gap", "holdout_gap"
]
ENDS: tuple[Quantity, ...] = ("proxy_reward", "true_reward", "kl", "holdout_proxy_reward", "holdout_true_reward")


def trainings_of(log: Sequence[GoodhartRow], rubric: str, kl_coef: float) -> list[list[GoodhartRow]]:
    """The trainings on one rubric with one kl_coef, seed by seed, out of a whole log."""
    rows = [row for row in log if (row.rubric, row.kl_coef) == (rubric, kl_coef)]
    return [[row for row in rows if row.seed == seed] for seed in dict.fromkeys(row.seed for row in rows)]


def divergence_step(training: Training) -> int | None:
    """The step from which on the true reward fell while the proxy kept rising; None where the two never diverged.

    That is the step with the highest true reward (the last of equals), if at the end the proxy is higher than there,
    and the true reward lower by more than noise: the Wilson interval of the end lies wholly below that of the top.
    Two 95 % intervals that do not touch ask for more than p < 0.05, which is in place, for the top was picked from
    many evaluations. The noise is that of sampling completions of these prompts, not that of choosing other prompts.
    """
    top, last = max(training, key=lambda row: (row.true_reward, row.step)), training[-1]
    fell = exceeds([top], [last], "true_reward")
    return top.step if fell and last.proxy_reward > top.proxy_reward else None


def exceeds(these: Training, those: Training, share: Quantity) -> bool:
    """Whether a share of completions is higher in these rows than in those by more than noise.

    That is: Wilson intervals that do not touch. The counts of several seeds are added up.
    """
    return _pooled(these, share)[0] > _pooled(those, share)[1]


def rose(training: Training, share: Quantity) -> bool:
    """Whether a share is higher at the end of a training than at its start, by more than noise."""
    return exceeds([training[-1]], [training[0]], share)


def medians(trainings: Trainings, quantity: Quantity) -> list[float]:
    """The median over the seeds at each evaluation."""
    return [median(getattr(row, quantity) for row in rows) for rows in zip(*trainings, strict=True)]


def _pooled(rows: Training, share: Quantity) -> tuple[float, float]:
    counts = [row.holdout_n if share.startswith("holdout") else row.n for row in rows]
    passed = sum(round(getattr(row, share) * n) for row, n in zip(rows, counts, strict=True))
    return wilson_interval(passed, sum(counts))


class CoveragePoint(NamedTuple):
    """All trainings on this many prompts: medians over their seeds, of two in the middle the lower one."""

    prompts: int
    train_before: float  # pass rate on the training prompts, of the reference policy
    train_after: float
    holdout_before: float
    holdout_after: float
    holdout_after_ci95: tuple[float, float]  # Wilson's, of the median seed: what other prompts might have given
    pairs_seen: float  # share of the holdout's prompts of which training showed every digit pair
    times_seen: float  # how often training showed a prompt's rarest digit pair: median over the holdout
    train_each: list[float]  # at the end, seed by seed
    holdout_each: list[float]


def coverage_points(log: Sequence[CoverageRow], times: Mapping[int, Sequence[int]]) -> list[CoveragePoint]:
    """A point for each number of training prompts, from each training's first and last row.

    ``times``: prompts → for each prompt of the holdout, how often training showed its rarest digit pair.
    """

    def point(prompts: int, seen: Sequence[int]) -> CoveragePoint:
        rows = [row for row in log if row.prompts == prompts]
        before, after = ([row for row in rows if row.step == step] for step in (0, rows[-1].step))
        holdout = median_low(row.holdout_true_reward for row in after)
        return CoveragePoint(
            prompts=prompts,
            train_before=median_low(row.true_reward for row in before),
            train_after=median_low(row.true_reward for row in after),
            holdout_before=median_low(row.holdout_true_reward for row in before),
            holdout_after=holdout,
            holdout_after_ci95=wilson_interval(round(holdout * len(seen)), len(seen)),
            pairs_seen=sum(time > 0 for time in seen) / len(seen),
            times_seen=median(seen),
            train_each=[row.true_reward for row in after],
            holdout_each=[row.holdout_true_reward for row in after],
        )

    return [point(prompts, seen) for prompts, seen in times.items()]
