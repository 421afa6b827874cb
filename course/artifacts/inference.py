"""Machinery: what may be inferred from the logs of token commands: where proxy and true reward diverge, what rose.

Notation as in ``token_rows``, and
    training     the rows of one training in order; trainings: the same training once for each seed
    quantity     a column of the log; a share is one that is a share of completions, and has Wilson intervals
"""

from collections.abc import Sequence
from statistics import median, median_low
from typing import NamedTuple

from course.artifacts.token_rows import EvaluationRow
from course.stats import wilson_interval

TrainingLog = Sequence[EvaluationRow]
Trainings = Sequence[TrainingLog]


def divergence_step(training: TrainingLog) -> int | None:
    """The step from which on the true reward fell while the proxy kept rising; None where the two never diverged.

    That is the step with the highest true reward (the last of equals), if at the end the proxy is higher than there,
    and the true reward lower by more than noise: the Wilson interval of the end lies wholly below that of the top.
    Two 95 % intervals that do not touch ask for more than p < 0.05, which is in place, for the top was picked from
    many evaluations. The noise is that of sampling completions of these prompts, not that of choosing other prompts.
    """
    top, last = max(training, key=lambda row: (row.true_reward, row.step)), training[-1]
    fell = exceeds([top], [last], "true_reward")
    return top.step if fell and last.proxy_reward > top.proxy_reward else None


def rose(trainings: Trainings, share: str) -> bool:
    """Whether a share is higher at the end than at the start, by more than noise."""
    return exceeds([training[-1] for training in trainings], [training[0] for training in trainings], share)


def exceeds(these: TrainingLog, those: TrainingLog, share: str) -> bool:
    """Whether a share is higher in these rows than in those by more than noise: two intervals that do not touch."""
    return pooled_interval(these, share)[0] > pooled_interval(those, share)[1]


def pooled_interval(rows: TrainingLog, share: str) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; the counts of several rows, one a seed, are added up."""
    counts = [row.holdout_n if share.startswith("holdout") else row.n for row in rows]
    passes = sum(round(rate * n) for rate, n in zip(column(rows, share), counts, strict=True))
    return wilson_interval(passes, sum(counts))


def median_of(rows: TrainingLog, quantity: str) -> float:
    """The median of a column over rows that are one a seed."""
    return median(column(rows, quantity))


def medians(trainings: Trainings, quantity: str) -> list[float]:
    """The median over the seeds at each evaluation."""
    return [median(column(rows, quantity)) for rows in zip(*trainings, strict=True)]


def column(rows: TrainingLog, quantity: str) -> list[float]:
    return [getattr(row, quantity) for row in rows]


class CoveragePoint(NamedTuple):
    """All trainings on so many prompts, strictly scored: medians over the seeds, the lower of two in the middle."""

    prompts: int
    train: float  # pass rate on the prompts that it was trained on, at the end
    holdout: float
    holdout_ci95: tuple[float, float]  # Wilson's, of the median seed: what other prompts might have given
    holdout_each: list[float]  # seed by seed
    holdout_before: float  # of the reference policy
    pairs_seen: float  # share of the holdout's prompts of which training showed every digit pair
    times_seen: float  # how often training showed a prompt's rarest digit pair: median over the holdout


def coverage_point(trainings: Trainings, times: Sequence[int]) -> CoveragePoint:
    """``times``: for each prompt of the holdout, how often training showed its rarest digit pair."""
    before, after = ([training[place] for training in trainings] for place in (0, -1))
    each = column(after, "holdout_true_reward")
    return CoveragePoint(
        prompts=after[0].n,
        train=median_low(column(after, "true_reward")),
        holdout=median_low(each),
        holdout_ci95=wilson_interval(round(median_low(each) * len(times)), len(times)),
        holdout_each=each,
        holdout_before=median_low(column(before, "holdout_true_reward")),
        pairs_seen=sum(time > 0 for time in times) / len(times),
        times_seen=median(times),
    )
