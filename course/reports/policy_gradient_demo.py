"""Machinery: what course.policy_gradient_demo says of a prediction, and what it prints after its last update."""

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
    parts.append(f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}")
    if predictions := summary.get("predictions"):
        right = sum(is_right(answer, row) for answer, row in zip(predictions, rows, strict=False))
        parts.append(f"right predictions: {right} of {len(predictions)}")
    return "\n\n".join(parts)


def arm_named(answer: str) -> str:
    """What a prediction begins with: the arm, or ``none``. The rest says why."""
    return answer.lower().replace(",", " ").partition(" ")[0]


def raised_arms(row: UpdateRow) -> list[str]:
    """The arms whose probability the update raises, or ``none``."""
    arms = [str(arm) for arm, (old, new) in enumerate(zip(row.probs, row.new_probs, strict=True)) if new > old]
    return arms or ["none"]


def is_right(answer: str, row: UpdateRow) -> bool:
    return arm_named(answer) in raised_arms(row)


def prediction_text(answer: str, row: UpdateRow) -> str:
    """Whether a prediction is right, and of which arms it would have been."""
    *others, last = raised_arms(row)
    named = f"{', '.join(others)} and {last} go up" if others else f"{last} goes up"
    return f"{'right' if is_right(answer, row) else 'wrong'}: {named}"
