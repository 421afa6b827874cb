"""Machinery: what course.cold_start_demo prints, the start's pass rate against the end's."""

from collections.abc import Callable, Iterable, Iterator
from textwrap import fill

from course.artifacts.inference import TrainingLog, Trainings, median_of
from course.reports.tables import NOTHING_KEPT, WIDTH, GrowingTable, interval, percent
from course.stats import wilson_interval

_LEGEND = (
    "equal: the share of groups in which all rewards are equal, all 0 or all 1, so that nothing is pushed; up to the "
    "first evaluation, and since the last but one. Starts of one pass rate may end apart: what counts is in how many "
    "groups there is anything to compare. Medians over the seeds; intervals: 95 %, of sampling completions in one "
    "training, not of other trainings."
)


def cold_start_text(
    counts: Iterable[int], trained: Callable[[int], Trainings], steps: int, seeds: int
) -> Iterator[str]:
    """The report part by part. ``trained``: trains after so many steps of fine-tuning, when its row is due."""
    yield (
        "Loop C, learn: the same learning from several starts.\n\n"
        f"strict scorer, {steps} updates each, seeds: {seeds}\n\n{fill(_LEGEND, WIDTH)}\n{NOTHING_KEPT}\n"
    )
    header = ("steps of\nfine-tuning", "start", "95 %", "end", "95 %", "equal\nfirst", "\nlast")
    rows = GrowingTable(header, ("", *("100.0 %", "00.0 to 100.0") * 2, "100 %", "100 %"), (0, 1, 3, 5, 6))
    yield rows.head()
    for count in counts:
        logs = trained(count)
        start, first, end = ([log[place] for log in logs] for place in (0, 1, -1))
        equal = [percent(median_of(part, "equal_groups"), 0) for part in (first, end)]
        yield rows.row((count, *rate(start), *rate(end), *equal))


def rate(rows: TrainingLog) -> tuple[str, str]:
    """The pass rate of the median seed in an evaluation, one row a seed, and its interval."""
    share, n = median_of(rows, "true_reward"), rows[0].n
    return percent(share), interval(wilson_interval(round(share * n), n)).removesuffix(" %")
