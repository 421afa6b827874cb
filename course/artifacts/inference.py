"""Machinery: what is inferred from the logs of token commands.

Notation as in ``token_rows``, and
    training     the rows of one training in order; trainings: the same training once for each seed
    quantity     a column of the log; a share is one that is a share of completions, and has Wilson intervals
"""

from collections.abc import Sequence
from statistics import median

from course.artifacts.token_rows import EvaluationRow
from course.stats import wilson_interval

TrainingLog = Sequence[EvaluationRow]
Trainings = Sequence[TrainingLog]


def pooled_interval(rows: TrainingLog, share: str) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; the counts of several rows, one a seed, are added up."""
    passes = n = 0
    for row in rows:
        completions = row.holdout_n if share.startswith("holdout") else row.n
        passes += round(getattr(row, share) * completions)
        n += completions
    return wilson_interval(passes, n)


def column(rows: TrainingLog, quantity: str) -> list[float]:
    return [getattr(row, quantity) for row in rows]


def medians(trainings: Trainings, quantity: str) -> list[float]:
    """The median over the seeds at each evaluation."""
    return [median(column(rows, quantity)) for rows in zip(*trainings, strict=True)]


def rows_at(trainings: Trainings, place: int) -> list[EvaluationRow]:
    """One evaluation of every seed: place 0 is the one before learning, −1 the last."""
    return [training[place] for training in trainings]


def median_rate(trainings: Trainings, place: int) -> tuple[float, tuple[float, float]]:
    """The strict pass rate of the median seed in one evaluation, and its Wilson interval of 95 %."""
    rows = rows_at(trainings, place)
    rate = median(column(rows, "true_reward"))
    return rate, wilson_interval(round(rate * rows[0].n), rows[0].n)
