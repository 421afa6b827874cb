"""Machinery: what course.policy_improvement_demo prints, some rounds and what became of the policy."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import RoundRow
from course.reports.tables import percent, table
from course.reports.updates import has_changed
from course.stats import mean
from course.text import clipped


def policy_improvement_text(rows: Sequence[RoundRow], summary: Mapping[str, Any], mode: str, prompt: str) -> str:
    """Rounds 1, 2, 5, 10, 20 and the last; the mean reward of what was delivered; the policy before and after."""
    cells = [
        (row.round, percent(row.pass_at_1), " ".join(f"{r:.0f}" for r in row.rewards[:16]), f"{row.delivered:.0f}")
        for row in rows
        if row.round in (1, 2, 5, 10, 20, len(rows))
    ]
    learning = mode == "learning"
    alike = learning and all(len(set(row.rewards)) == 1 for row in rows)
    same = f"stayed the same{': no round had two different rewards' if alike else ''}"
    return (
        f"Loop {'C, learn' if learning else 'B, choose'}: the policy {'changed' if has_changed(rows) else same}."
        f"{'' if learning else recorded_text(summary)}\n\n"
        f"A toy policy and one prompt:\n  {clipped(prompt, 74)}\n\n"
        f"{table(('round', 'pass@1 of the policy', 'rewards of its samples', 'delivered'), cells, right=(0, 1, 3))}\n\n"
        f"mean reward of what was delivered: {percent(mean([row.delivered for row in rows]))}\n"
        f"pass@1 of the policy: {percent(rows[0].pass_at_1)} -> {percent(rows[-1].new_pass_at_1)}"
    )


def recorded_text(summary: Mapping[str, Any]) -> str:
    """What choosing got from the recorded samples, and what it did not change."""
    return f"""

Recorded samples of {summary["n"]} prompts, right in
  {percent(summary["first_sample_accuracy"]):>7}  the first sample
  {percent(summary["selected_accuracy"]):>7}  the first of the best of {summary["samples_per_prompt"]}
  {percent(summary["pass_at_k"]["1"]):>7}  pass@1 of their policy, from all its samples: no choice changes it"""
