"""Coverage as a figure: pass rates after the same training on more and more prompts."""

from collections.abc import Sequence

from course.artifacts.inference import CoveragePoint
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png


def coverage_curve(points: Sequence[CoveragePoint]) -> bytes:
    """Pass rates at the end against the number of training prompts, with a dot for each seed where there are several.

    The bars are Wilson's 95 % intervals. Grey: the reference policy on the holdout, and the share of the holdout whose
    digit pairs were all seen.
    """
    sheet = figure(7.2, 4.6)
    axes = sheet.subplots()
    prompts = [point.prompts for point in points]
    after = [point.holdout_after for point in points]
    lows, highs = zip(*(point.holdout_after_ci95 for point in points), strict=True)

    seen = [point.pairs_seen for point in points]
    axes.plot(prompts, seen, ":", color=GREY, label="share of the holdout whose digit pairs were all seen")
    axes.plot(prompts, [point.train_after for point in points], "o-", color=ORANGE, label="training prompts")
    axes.plot(prompts, after, "o-", color=BLUE, label="holdout, with 95 % interval")
    axes.vlines(prompts, lows, highs, color=BLUE, linewidth=1.2)
    start = [point.holdout_before for point in points]
    axes.plot(prompts, start, color=GREY, linewidth=0.8, label="holdout, before learning")
    for point in points:
        if len(point.holdout_each) > 1:
            for each, color in ((point.train_each, ORANGE), (point.holdout_each, BLUE)):
                axes.plot([point.prompts] * len(each), each, ".", color=color, markersize=3, alpha=0.6)

    dress(axes, "training prompts", "pass rate, strict scorer")
    axes.set_xscale("log")
    axes.set_xticks(prompts, [str(count) for count in prompts])
    axes.set_xticks([], minor=True)
    axes.set_ylim(-0.03, 1.06)
    sheet.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return png(sheet)
