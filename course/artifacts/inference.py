"""Machinery: what is inferred from the logs of token commands.

Notation as in ``token_rows``, and
    training     the rows of one training in order; trainings: the same training once for each seed
    quantity     a column of the log; a share is one that is a share of completions
    tally        of one evaluation: a share -> id of a prompt -> how many of its completions count
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from statistics import median

from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow, is_exploit
from course.stats import Judgement, judge_difference, wilson_interval

TrainingLog = Sequence[EvaluationRow]
Trainings = Sequence[TrainingLog]
Tally = defaultdict[str, Counter[str]]


def column(rows: TrainingLog, quantity: str) -> list[float]:
    return [getattr(row, quantity) for row in rows]


def medians(trainings: Trainings, quantity: str) -> list[float]:
    """The median over the seeds at each evaluation."""
    return [median(column(rows, quantity)) for rows in zip(*trainings, strict=True)]


def rows_at(trainings: Trainings, place: int) -> list[EvaluationRow]:
    """One evaluation of every seed: place 0 is the one before learning, −1 the last."""
    return [training[place] for training in trainings]


def tally_of(results: Iterable[LearningResult]) -> Tally:
    """The completions of one evaluation, counted prompt by prompt."""
    tally: Tally = defaultdict(Counter)
    for row in results:
        split = "holdout_" if row.split == "holdout" else ""
        tally[f"{split}n"][row.id] += 1
        tally[f"{split}true_reward"][row.id] += row.reward == 1
        tally[f"{split}hack_rate"][row.id] += is_exploit(row)
    return tally


def compare(before: Tally, after: Tally, share: str, tried: int = 1) -> Judgement:
    """Two evaluations, paired by prompt: is a share higher or lower? ``tried`` as in ``judge_difference``.

    The prompts are those of both, with as many completions each time; else ValueError.
    """
    n = "holdout_n" if share.startswith("holdout") else "n"
    if before[n] != after[n]:
        raise ValueError("two evaluations of the same prompts, with as many completions of each")
    rises = [after[share][id_] - before[share][id_] for id_ in before[n]]
    gained, lost = sum(rise > 0 for rise in rises), sum(rise < 0 for rise in rises)
    return judge_difference(gained, lost, len(rises), tried)


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


def fall_since(top: int, tallies: Sequence[Tally]) -> Judgement:
    """The true reward of the last evaluation against that of the evaluation ``top``, picked from all before it."""
    return compare(tallies[top], tallies[-1], "true_reward", tried=len(tallies) - 1)


def divergence_step(training: TrainingLog, tallies: Sequence[Tally]) -> int | None:
    """The step after which the proxy rose and the true reward is shown to have fallen; None where it is not.

    ``tallies``: of each evaluation. Not covered: other prompts, and other trainings.
    """
    top = parting(training)
    if top is None or fall_since(training.index(top), tallies).shown != "loss":
        return None
    return top.step


def median_rate(trainings: Trainings, place: int) -> tuple[float, tuple[float, float]]:
    """The strict pass rate of the median seed in one evaluation, and its Wilson interval of 95 %."""
    rows = rows_at(trainings, place)
    rate = median(column(rows, "true_reward"))
    return rate, wilson_interval(round(rate * rows[0].n), rows[0].n)
