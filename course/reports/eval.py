"""Machinery: what course.eval prints."""

from collections.abc import Mapping
from typing import Any

from course.artifacts.records import Result
from course.artifacts.summary import family_of
from course.reports.measurement import pass_line
from course.reports.tables import percent, table
from course.stats import smallest_visible_difference
from course.text import clipped


def eval_text(summary: Mapping[str, Any], conditions: str, firsts: Mapping[str, Result]) -> str:
    """Loop A's report. ``conditions``: of the measurement, in words. ``firsts``: outcome -> the first row of it."""
    return "\n".join(
        [
            "Loop A, measure: this is what is true right now, nothing was improved.",
            "",
            conditions,
            "",
            pass_line(summary),
            resolution_text(summary["n"]),
            "",
            outcomes_text(summary["outcomes"], firsts),
        ]
    )


def resolution_text(n: int) -> str:
    """What this many prompts cannot show."""
    points = min(100, 100 * smallest_visible_difference(n))
    shown = f"n = {n:,}: a true difference of {points:.1f} points shows four times in five"
    return f"{shown}, if a\nquarter of the prompts flip"


def outcomes_text(outcomes: Mapping[str, int], firsts: Mapping[str, Result]) -> str:
    """Outcomes by count, each with a completion that had it."""
    n = sum(outcomes.values())
    rows = [
        (
            family_of(outcome),
            outcome,
            f"{count:,}",
            percent(count / n),
            "(none)" if (text := firsts[outcome].completion) is None else clipped(text, 28),
        )
        for outcome, count in sorted(outcomes.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    ]
    return table(("family", "outcome", "n", "share", "such as"), rows, right=(2, 3))
