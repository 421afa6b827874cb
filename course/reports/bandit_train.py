"""What course.bandit_train prints, and its log as a story to be annotated."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import UpdateRow
from course.reports.tables import table
from course.reports.updates import (
    HOW_TO_READ,
    probabilities,
    update_in_words,
    update_line,
    update_outcome,
    update_start,
)
from course.text import clipped


def bandit_text(
    rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str], *, with_baseline: bool, slow: bool
) -> str:
    """The policy before and after; every update if ``slow``; the ablation if there was one."""
    steps, lr = len(rows), rows[0].lr
    parts = ["Loop C, learn: the policy itself changes.", HOW_TO_READ]
    if slow:
        parts += [f"{update_start(row, steps, arms)}\n{update_outcome(row, arms)}" for row in rows]
    parts += [
        f"before\n{probabilities(rows[0].probs, arms)}",
        f"after {steps} steps, lr {lr:g}, {'with' if with_baseline else 'without'} baseline\n"
        f"{probabilities(rows[-1].new_probs, arms)}",
        f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}",
    ]
    if "ablation" in summary:
        parts.append(ablation_text(summary["ablation"]))
    return "\n\n".join(parts)


def ablation_text(ablation: Mapping[str, Any]) -> str:
    """The baseline's effect, in numbers."""
    cells = [
        (
            name,
            f"{ablation[name]['gradient_variance']:.4f}",
            f"{ablation[name]['curve_variance']:.5f}",
            f"{ablation[name]['expected_reward_after']:.3f}",
        )
        for name in ("with baseline", "without baseline")
    ]
    header = (f"{ablation['runs']:,} runs", "variance of gradient", "variance of curve", "reward at the end")
    return table(header, cells, right=(1, 2, 3))


def story_text(rows: Sequence[UpdateRow], arms: Sequence[str]) -> str:
    """The whole run as text: what each update reinforced or suppressed, and why."""
    lines = ["The arms", *(f"  {arm}  {clipped(text, 70)}" for arm, text in enumerate(arms)), "", HOW_TO_READ, ""]
    for row in rows:
        lines += [update_line(row), f"          {update_in_words(row)}"]
    return "\n".join(lines) + "\n"
