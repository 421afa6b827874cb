"""Machinery: what course.cold_start_demo prints, the start's pass rate against the end's."""

from collections.abc import Mapping
from textwrap import fill

from course.artifacts.inference import TrainingLog, Trainings, median_of
from course.reports.tables import WIDTH, interval, percent, table
from course.stats import wilson_interval

_LEGEND = (
    "equal: the share of groups in which all rewards are equal, all 0 or all 1, so that nothing is pushed; up to the "
    "first evaluation, and since the last but one. Starts of one pass rate may end apart: what counts is in how many "
    "groups there is anything to compare. Medians over the seeds; intervals: 95 %, of sampling completions in one "
    "training, not of other trainings."
)


def cold_start_text(trainings: Mapping[int, Trainings], steps: int) -> str:
    """The report: a row for each number of steps of fine-tuning."""
    rows = []
    for count, logs in trainings.items():
        start, first, end = ([log[place] for log in logs] for place in (0, 1, -1))
        equal = [percent(median_of(part, "equal_groups"), 0) for part in (first, end)]
        rows.append((count, *rate(start), *rate(end), *equal))
    header = ("steps of\nfine-tuning", "start", "95 %", "end", "95 %", "equal\nfirst", "\nlast")
    seeds = len(next(iter(trainings.values())))
    return "\n\n".join(
        [
            "Loop C, learn: the same learning from several starts.",
            f"strict scorer, {steps} updates each, seeds: {seeds}",
            table(header, rows, right=(0, 1, 3, 5, 6)),
            fill(_LEGEND, WIDTH),
        ]
    )


def rate(rows: TrainingLog) -> tuple[str, str]:
    """The pass rate of the median seed in an evaluation, one row a seed, and its interval."""
    share, n = median_of(rows, "true_reward"), rows[0].n
    return percent(share), interval(wilson_interval(round(share * n), n)).removesuffix(" %")
