"""Machinery: what course.coverage_demo prints, pass rates by the number of training prompts."""

from collections.abc import Sequence
from textwrap import fill

from course.artifacts.inference import CoveragePoint
from course.policies.presets import Plan
from course.reports.tables import WIDTH, interval, percent, table

_LEGEND = (
    "visits: how often an update chose each prompt (mean). pairs seen: the share of the holdout whose tens and whose "
    "ones each stand together in some training prompt (of 25 + 73: 2 with 7, 5 with 3). times: in how many, for the "
    "rarer of the two (median)."
)


def coverage_text(points: Sequence[CoveragePoint], plan: Plan) -> str:
    """The report: a row for each number of prompts, with what else differs between them."""
    rows = [
        (
            point.prompts,
            percent(point.train),
            percent(point.holdout),
            interval(point.holdout_ci95),
            f"{plan.steps * min(plan.prompts_a_step, point.prompts) / point.prompts:.0f}",
            percent(point.pairs_seen, 0),
            f"{point.times_seen:g}",
        )
        for point in points
    ]
    header = ("prompts", "trained on", "holdout", "95 % interval", "visits", "pairs seen", "times")
    return "\n\n".join(
        [
            "Loop C, learn: the same task each time, on more and more of its prompts.",
            f"rewarded by the strict scorer, {plan.steps} updates each, seeds: {len(points[0].holdout_each)}",
            table(header, rows, right=range(7)),
            fill(_LEGEND, WIDTH),
            "A high rate on the prompts trained on and a low one on the holdout: memorised.",
        ]
    )
