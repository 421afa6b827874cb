"""What course.coverage_demo prints: pass rates by the number of training prompts, and how to read them."""

from collections.abc import Sequence
from math import inf
from textwrap import fill

from course.artifacts.inference import CoveragePoint
from course.reports.tables import WIDTH, interval, percent, table

_BINS = ((0, 0), (1, 2), (3, 5), (6, 10), (11, inf))  # times seen, from and to


def coverage_text(points: Sequence[CoveragePoint], passed: Sequence[tuple[int, bool]], steps: int) -> str:
    """The report. ``passed``: for each holdout prompt of each training, times seen and whether it passed at the end."""
    return "\n\n".join(
        [
            "Loop C, learn: the same task each time, on more and more of its prompts.",
            f"rewarded by the strict scorer, {steps} updates each, seeds: {len(points[0].train_each)}",
            coverage_table(points),
            "all trainings together: the holdout by how often the rarer pair was seen",
            times_table(passed),
            coverage_reading(points),
        ]
    )


def coverage_table(points: Sequence[CoveragePoint]) -> str:
    """A row for each number of prompts, and what its last two columns mean."""
    rows = [
        (
            point.prompts,
            f"{100 * point.train_before:.1f} -> {percent(point.train_after)}",
            f"{100 * point.holdout_before:.1f} -> {percent(point.holdout_after)}",
            interval(point.holdout_after_ci95),
            percent(point.pairs_seen),
            f"{point.times_seen:g}",
        )
        for point in points
    ]
    header = ("prompts", "training", "holdout", "95 % interval", "pairs seen", "times")
    legend = (
        "pairs seen: the share of the holdout whose tens and whose ones each stand together in some training prompt "
        "(of 25 + 73: 2 with 7, 5 with 3). times: in how many, for the rarer of the two (median)."
    )
    return f"{table(header, rows, right=range(6))}\n\n{fill(legend, WIDTH)}"


def times_table(passed: Sequence[tuple[int, bool]]) -> str:
    """How much of the holdout passed at the end, by how often its pairs were seen."""
    rows = []
    for low, high in _BINS:
        if inside := [solved for times, solved in passed if low <= times <= high]:
            name = f"{low} to {high}" if high < inf else f"{low} or more"
            rows.append((name if high else "never", len(inside), sum(inside), percent(sum(inside) / len(inside))))
    return table(("times seen", "prompts", "passed", "pass rate"), rows, right=(0, 1, 2, 3))


def coverage_reading(points: Sequence[CoveragePoint]) -> str:
    """The curve in a sentence or two, each printed only where the numbers bear it out."""
    widest = max(points, key=lambda point: point.train_after - point.holdout_after)
    if widest.train_after <= widest.holdout_after_ci95[1]:
        return fill("No pass rate on the training prompts stands out from the holdout's interval.", WIDTH)
    lines = [
        f"Trained on {widest.prompts}, the policy passes {percent(widest.train_after)} of its own prompts and "
        f"{percent(widest.holdout_after)} of the holdout. The difference was memorised, prompt by prompt."
    ]
    least = max(points, key=lambda point: point.pairs_seen - point.holdout_after)
    if least.pairs_seen > least.holdout_after_ci95[1]:
        lines.append(
            f"To have seen the pairs is not enough: {least.prompts} prompts show those of {percent(least.pairs_seen)} "
            f"of the holdout, and {percent(least.holdout_after)} passes. The table says how often they were seen."
        )
    return "\n".join(fill(line, WIDTH, initial_indent="- ", subsequent_indent="  ") for line in lines)
