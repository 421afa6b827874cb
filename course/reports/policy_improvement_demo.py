"""Machinery: what course.policy_improvement_demo prints, some rounds and what became of the policy."""

from collections.abc import Sequence

from course.artifacts.learning import RoundRow
from course.reports.tables import percent, table
from course.stats import mean


def policy_improvement_text(rows: Sequence[RoundRow], mode: str) -> str:
    """Rounds 1, 2, 5, 10, 20 and the last; the mean reward of what was delivered; the policy before and after."""
    cells = [
        (row.round, percent(row.pass_at_1), " ".join(f"{r:.0f}" for r in row.rewards[:16]), f"{row.delivered:.0f}")
        for row in rows
        if row.round in (1, 2, 5, 10, 20, len(rows))
    ]
    head = "Loop C, learn: the policy changes." if mode == "learning" else "Loop B, choose: the policy stays the same."
    return (
        f"{head}\n\n"
        f"{table(('round', 'pass@1 of the policy', 'rewards of its samples', 'delivered'), cells, right=(0, 1, 3))}\n\n"
        f"mean reward of what was delivered: {percent(mean([row.delivered for row in rows]))}\n"
        f"pass@1 of the policy: {percent(rows[0].pass_at_1)} -> {percent(rows[-1].pass_at_1)}"
    )
