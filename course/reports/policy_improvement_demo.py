"""Machinery: what course.policy_improvement_demo prints, some rounds and what became of the policy."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import RoundRow
from course.reports.tables import percent, table


def policy_improvement_text(rows: Sequence[RoundRow], summary: Mapping[str, Any], mode: str) -> str:
    """Rounds 1, 2, 5, 10, 20 and the last; the mean reward of what was delivered; the policy before and after."""
    cells = [
        (row.round, percent(row.pass_at_1), " ".join(f"{r:.0f}" for r in row.rewards[:16]), f"{row.delivered:.0f}")
        for row in rows
        if row.round in (1, 2, 5, 10, 20, len(rows))
    ]
    head = "Loop C, learn: the policy changes." if mode == "learning" else "Loop B, choose: the policy stays the same."
    before, after = percent(summary["pass_at_1_before"]), percent(summary["pass_at_1_after"])
    return (
        f"{head}\n\n"
        f"{table(('round', 'pass@1 of the policy', 'rewards of its samples', 'delivered'), cells, right=(0, 1, 3))}\n\n"
        f"mean reward of what was delivered: {percent(summary['delivered'])}\n"
        f"pass@1 of the policy: {before} -> {after}"
    )
