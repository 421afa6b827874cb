"""Machinery: what course.policy_gradient_demo prints after its last update."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import UpdateRow
from course.reports.updates import before_and_after, heading, update_line


def policy_gradient_text(
    rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str], *, line_a_step: bool
) -> str:
    """A line for each step if asked for; the policy before and after; how many predictions were right."""
    lines = ["\n".join(map(update_line, rows))] if line_a_step else []
    parts = [heading(rows), *lines, before_and_after(rows, arms)]
    if "predictions" in summary:
        parts.append(f"right predictions: {summary['right_predictions']} of {len(rows)}")
    return "\n\n".join(parts)
