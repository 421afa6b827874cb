"""Coverage as text: the curve's points from the log of ``coverage_demo``, its tables, and how to read them."""

from collections.abc import Sequence
from math import inf
from statistics import median, median_low
from textwrap import fill
from typing import NamedTuple

from course.artifacts.token_rows import Measured
from course.reports.tables import WIDTH, interval, percent, table
from course.stats import wilson_interval

_BINS = ((0, 0), (1, 2), (3, 5), (6, 10), (11, inf))  # times shown, from and to


class Row(Measured, frozen=True, forbid_unknown_fields=True):
    """One look at one training. ``by_times``: (times, prompts of the holdout, how many of them passed).

    Times: how often training showed the rarest digit pair of a prompt. Each prompt of the holdout is counted once.
    """

    prompts: int  # trained on
    seed: int
    by_times: list[tuple[int, int, int]]


class Point(NamedTuple):
    """All trainings on this many prompts: medians over their seeds, of two in the middle the lower one."""

    prompts: int
    train_before: float  # pass rate on the training prompts, of the supervised start
    train_after: float
    holdout_before: float
    holdout_after: float
    holdout_after_ci95: tuple[float, float]  # Wilson's, of the seed in the middle: what other prompts might have given
    pairs_seen: float  # share of the holdout's prompts of which training showed every digit pair
    times: float  # how often it showed the rarest pair of a prompt, median over the holdout's prompts
    train_each: list[float]  # at the end, seed by seed
    holdout_each: list[float]


def points_of(log: Sequence[Row]) -> list[Point]:
    """A point for each number of prompts, in the order of the log. Each training was looked at first and last."""
    return [_point([row for row in log if row.prompts == prompts]) for prompts in dict.fromkeys(r.prompts for r in log)]


def _point(rows: Sequence[Row]) -> Point:
    before, after = ([row for row in rows if row.step == step] for step in (0, rows[-1].step))
    times = [time for time, prompts, _ in after[0].by_times for _ in range(prompts)]
    passes, n = [sum(passed for *_, passed in row.by_times) for row in after], len(times)
    return Point(
        prompts=after[0].prompts,
        train_before=median_low(row.true_reward for row in before),
        train_after=median_low(row.true_reward for row in after),
        holdout_before=median_low(sum(passed for *_, passed in row.by_times) for row in before) / n,
        holdout_after=median_low(passes) / n,
        holdout_after_ci95=wilson_interval(median_low(passes), n),
        pairs_seen=sum(time > 0 for time in times) / n,
        times=median(times),
        train_each=[row.true_reward for row in after],
        holdout_each=[passed / n for passed in passes],
    )


def coverage_table(points: Sequence[Point]) -> str:
    """A row for each number of prompts, and what its last two columns mean."""
    rows = [
        (
            point.prompts,
            f"{100 * point.train_before:.1f} -> {percent(point.train_after)}",
            f"{100 * point.holdout_before:.1f} -> {percent(point.holdout_after)}",
            interval(point.holdout_after_ci95),
            percent(point.pairs_seen),
            f"{point.times:g}",
        )
        for point in points
    ]
    header = ("prompts", "training", "holdout", "95 % interval", "pairs seen", "times")
    legend = (
        "pairs seen: the share of the holdout whose tens and whose ones each stand together in some training prompt "
        "(of 25 + 73: 2 with 7, 5 with 3). times: in how many, for the rarer of the two (median)."
    )
    return f"{table(header, rows, right=range(6))}\n\n{fill(legend, WIDTH)}"


def shown_table(log: Sequence[Row]) -> str:
    """How much of the holdout passed at the end, by how often its pairs were shown: all trainings of a log together."""
    rows = []
    last = [entry for row in log if row.step == log[-1].step for entry in row.by_times]
    for low, high in _BINS:
        inside = [(n, passed) for time, n, passed in last if low <= time <= high]
        if inside:
            n, passes = (sum(part) for part in zip(*inside, strict=True))
            name = f"{low} to {high}" if high < inf else f"{low} or more"
            rows.append((name if high else "never", n, passes, percent(passes / n)))
    return table(("times shown", "prompts", "passed", "pass rate"), rows, right=(0, 1, 2, 3))


def reading_text(points: Sequence[Point]) -> str:
    """The curve in a few sentences, each said only where the numbers bear it out."""
    wide, narrow = max(points, key=_gap), min(points, key=_gap)
    if wide.train_after <= wide.holdout_after_ci95[1]:
        return fill("No pass rate on the training prompts stands out from the holdout's interval.", WIDTH)
    lines = [
        f"Trained on {wide.prompts}, the policy passes {percent(wide.train_after)} of its own prompts and "
        f"{percent(wide.holdout_after)} of the holdout. What lies between the two was remembered, prompt by prompt."
    ]
    if narrow.prompts > wide.prompts:
        lines.append(
            f"Trained on {narrow.prompts} it is {percent(narrow.train_after)} and {percent(narrow.holdout_after)}: the "
            "same task, the same plan. How much holds for prompts it never saw, only a holdout tells."
        )
    least = max(points, key=lambda point: point.pairs_seen - point.holdout_after)
    if least.pairs_seen > least.holdout_after_ci95[1]:
        lines.append(
            f"To have seen the pairs is not enough: {least.prompts} prompts show those of {percent(least.pairs_seen)} "
            f"of the holdout, and {percent(least.holdout_after)} passes. The table says how often they were shown."
        )
    return "\n".join(fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ") for line in lines)


def _gap(point: Point) -> float:
    return point.train_after - point.holdout_after
