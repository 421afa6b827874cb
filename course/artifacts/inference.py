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


def exceeds(these: TrainingLog, those: TrainingLog, share: str) -> bool:
    """Whether a share is higher in these rows than in those by more than noise: two intervals that do not touch."""
    return pooled_interval(these, share)[0] > pooled_interval(those, share)[1]


def parting(training: TrainingLog) -> EvaluationRow | None:
    """The evaluation after which the proxy rose and the true reward fell; None where the two never part.

    That is the one with the highest true reward (the last of equals), if at the end the proxy is higher than there and
    the true reward lower.
    """
    top = max(training, key=lambda row: (row.true_reward, row.step))
    last = training[-1]
    if last.proxy_reward > top.proxy_reward and last.true_reward < top.true_reward:
        return top
    return None


def divergence_step(training: TrainingLog) -> int | None:
    """The step after which the proxy rose and the true reward fell by more than noise; None where it did not.

    By more than noise: the Wilson interval of the end lies wholly below that of the top. Two 95 % intervals that do not
    touch ask for more than p < 0.05, which is in place, because the top was picked from many evaluations. The noise is
    that of sampling completions of these prompts, not that of choosing other prompts.
    """
    top = parting(training)
    return top.step if top is not None and exceeds([top], [training[-1]], "true_reward") else None


def median_rate(trainings: Trainings, place: int) -> tuple[float, tuple[float, float]]:
    """The strict pass rate of the median seed in one evaluation, and its Wilson interval of 95 %."""
    rows = rows_at(trainings, place)
    rate = median(column(rows, "true_reward"))
    return rate, wilson_interval(round(rate * rows[0].n), rows[0].n)
