"""Machinery: what course.eval prints."""

from collections.abc import Mapping
from typing import Any

from course.artifacts.records import Result
from course.artifacts.summary import family_of
from course.reports.measurement import as_scored, pass_line
from course.reports.tables import percent, table
from course.stats import smallest_visible_difference

FLIPS = 0.25  # the share of prompts that is assumed to flip between two runs


def eval_text(summary: Mapping[str, Any], conditions: str, firsts: Mapping[str, Result]) -> str:
    """Loop A's report. ``conditions``: of the measurement, in words. ``firsts``: outcome -> the first row of it."""
    return f"""\
Loop A, measure: this is what is true right now, nothing was improved.

{outcomes_text(summary["outcomes"], firsts)}

{conditions}

{resolution_text(summary["n"])}
{pass_line(summary)}"""


def resolution_text(n: int) -> str:
    """Which difference this many prompts would detect: none is larger than the share of prompts that flip."""
    difference = smallest_visible_difference(n, FLIPS)
    detected = "no difference"
    if difference <= FLIPS:
        detected = f"a true difference of {100 * difference:.1f} points"
    return (
        f"power: with n = {n:,}, {detected} would be\n"
        "detected with 80 % power, if a quarter of the prompts flip between two runs"
    )


def outcomes_text(outcomes: Mapping[str, int], firsts: Mapping[str, Result]) -> str:
    """Outcomes by count, each with a completion that had it."""
    n = sum(outcomes.values())
    rows = [
        (family_of(outcome), outcome, f"{count:,}", percent(count / n), as_scored(firsts[outcome].completion, 28))
        for outcome, count in sorted(outcomes.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    ]
    return table(("family", "outcome", "n", "share", "such as"), rows, right=(2, 3))
