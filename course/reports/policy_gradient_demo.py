"""What course.policy_gradient_demo prints after its last update."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import UpdateRow
from course.reports.updates import probabilities, update_line


def policy_gradient_text(
    rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str], *, line_a_step: bool
) -> str:
    """The policy before and after; a line for each step if asked for; how many predictions were right."""
    parts = ["Loop C, learn: the policy itself changes."]
    if line_a_step:
        parts.append("\n".join(map(update_line, rows)))
    parts += [
        f"before\n{probabilities(rows[0].probs, arms)}",
        f"after {len(rows)} steps\n{probabilities(rows[-1].new_probs, arms)}",
    ]
    if "predictions" in summary:
        parts.append(f"right predictions: {summary['predicted_right']} of {summary['predictions']}")
    return "\n\n".join(parts)
