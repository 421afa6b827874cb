"""Machinery: what course.bandit_train prints, and its log as a story to be annotated."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import UpdateRow
from course.reports.updates import (
    HOW_TO_READ,
    before_and_after,
    update_in_words,
    update_line,
    update_outcome,
    update_start,
)
from course.text import clipped


def bandit_text(rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str], *, slow: bool) -> str:
    """The policy before and after; every update if ``slow``; the ablation if there was one."""
    parts = ["Loop C, learn: the policy itself changes."]
    if slow:
        parts += [HOW_TO_READ, *(f"{update_start(row, len(rows), arms)}\n{update_outcome(row)}" for row in rows)]
    parts += [
        before_and_after(rows, arms),
        f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}",
    ]
    lines = [
        f"  {name:18}{numbers['gradient_variance']:.4f}   {numbers['last_expected_reward']:.3f}"
        for name, numbers in summary.get("ablation", {}).items()
    ]
    if lines:
        head = "mean variance of one gradient estimate, expected reward at the last step"
        parts.append("\n".join([head, *lines]))
    return "\n\n".join(parts)


def story_text(rows: Sequence[UpdateRow], arms: Sequence[str]) -> str:
    """The whole run as text: what each update reinforced or suppressed, and why."""
    lines = ["The arms", *(f"  {arm}  {clipped(text, 70)}" for arm, text in enumerate(arms)), "", HOW_TO_READ, ""]
    for row in rows:
        lines += [update_line(row), f"          {update_in_words(row)}"]
    return "\n".join(lines) + "\n"
