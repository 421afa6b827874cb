"""Machinery: coverage as a figure, pass rates after the same training on more and more prompts."""

from collections.abc import Sequence

from course.artifacts.inference import CoveragePoint
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png


def coverage_curve(points: Sequence[CoveragePoint]) -> bytes:
    """Pass rates at the end against the number of training prompts; the dots are the seeds, the bars Wilson's 95 %."""
    sheet = figure(7.2, 4.6, "After the same training on more and more prompts")
    axes = sheet.subplots()
    prompts = [point.prompts for point in points]
    lows, highs = zip(*(point.holdout_ci95 for point in points), strict=True)
    axes.plot(prompts, [point.train for point in points], "o-", color=ORANGE, label="prompts that it was trained on")
    axes.plot(prompts, [point.holdout for point in points], "o-", color=BLUE, label="holdout, with 95 % interval")
    axes.vlines(prompts, lows, highs, color=BLUE, linewidth=1.2)
    axes.plot(prompts, [point.holdout_each for point in points], ".", color=BLUE, markersize=3)
    axes.plot(prompts, [point.holdout_before for point in points], color=GREY, label="holdout, before learning")
    pairs_seen = [point.pairs_seen for point in points]
    axes.plot(prompts, pairs_seen, ":", color=GREY, label="share of the holdout whose digit pairs were all seen")
    dress(axes, "training prompts", "pass rate, strict scorer")
    axes.set_xscale("log")
    axes.set_xticks(prompts, [str(count) for count in prompts])
    axes.set_xticks([], minor=True)
    axes.set_ylim(-0.03, 1.06)
    sheet.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return png(sheet)
