"""Machinery: what course.coverage_demo prints, pass rates by the number of training prompts."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from textwrap import fill

from course.artifacts.inference import CoveragePoint
from course.policies.presets import Plan
from course.reports.tables import NOTHING_KEPT, WIDTH, GrowingTable, interval, percent, table

_LEGEND = (
    "visits: how often an update chose each prompt (mean). pairs seen: the share of the holdout whose tens and whose "
    "ones each stand together in some training prompt (of 25 + 73: 2 with 7, 5 with 3). times: in how many, for the "
    "rarer of the two (median)."
)


def coverage_text(
    counts: Iterable[int], point_of: Callable[[int], CoveragePoint], plan: Plan, seeds: int
) -> Iterator[str]:
    """The report part by part, up to its ending. ``point_of``: trains on so many prompts, when its row is due."""
    yield (
        "Loop C, learn: the same task each time, on more and more of its prompts.\n\n"
        f"rewarded by the strict scorer, {plan.steps} updates each, seeds: {seeds}\n\n"
        f"{fill(_LEGEND, WIDTH)}\n{NOTHING_KEPT}\n"
    )
    rows = GrowingTable(
        ("prompts", "trained on", "visits", "pairs seen", "times"), ("1000", "100.0 %", *[""] * 3), range(5)
    )
    yield rows.head()
    for point in map(point_of, counts):
        visits = f"{plan.steps * min(plan.prompts_a_step, point.prompts) / point.prompts:.0f}"
        seen = percent(point.pairs_seen, 0), f"{point.times_seen:g}"
        yield rows.row((point.prompts, percent(point.train), visits, *seen))


def coverage_ending(points: Sequence[CoveragePoint]) -> str:
    """What the holdout says, shown when the look at it is counted."""
    rows = [
        (point.prompts, percent(point.train), percent(point.holdout), interval(point.holdout_ci95)) for point in points
    ]
    head = table(("prompts", "trained on", "holdout", "95 % interval"), rows, right=range(4))
    return f"\n{head}\n\nA high rate on the prompts trained on and a low one on the holdout: memorised."
