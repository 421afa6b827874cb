"""Machinery: what course.distribution_shift_demo prints, frozen completions beside fresh ones."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.inference import TrainingLog, pooled_interval
from course.artifacts.records import LearningResult
from course.reports.tables import interval, percent, table
from course.text import one_line


def shift_text(log: TrainingLog, frozen: Mapping[str, Any], unseen: Sequence[Sequence[LearningResult]]) -> str:
    """The report. ``frozen``: their summary. ``unseen``: of each evaluation, those in a shape no frozen one has."""
    rate, bounds = percent(frozen["pass_rate"]), interval(frozen["pass_rate_ci95"])
    return "\n\n".join(
        [
            "Loop C, learn: the policy changes, and with it what there is to measure.",
            f"trained on {log[0].rubric}; every rate is the strict scorer's, every interval 95 %",
            f"{frozen['n']:,} completions frozen at step 0: {rate} ({bounds})",
            shift_table(log, frozen, unseen),
            *([unseen_table(unseen[-1], log[0].rubric)] if unseen[-1] else []),
        ]
    )


def shift_table(log: TrainingLog, frozen: Mapping[str, Any], unseen: Sequence[Sequence[LearningResult]]) -> str:
    """The evaluations 0, 1, 2, 4, 8 … and the last. The error is the frozen rate less the fresh one, in points."""
    rows = [
        (
            row.step,
            percent(row.true_reward),
            interval(pooled_interval([row], "true_reward")),
            f"{100 * (frozen['pass_rate'] - row.true_reward):+.1f}",
            percent(len(new) / row.n, 0),
        )
        for place, (row, new) in enumerate(zip(log, unseen, strict=True))
        if place & (place - 1) == 0 or row is log[-1]
    ]
    return table(("step", "fresh", "95 % interval", "error of frozen", "in an unseen shape"), rows, right=range(5))


def unseen_table(unseen: Sequence[LearningResult], rubric: str) -> str:
    """The first three, ⏎ for a line break, with the rubric's reward. One that is cut ends in …"""
    rows = [
        (
            row.expected_answer,
            row.reward if row.proxy_reward is None else row.proxy_reward,
            one_line(row.completion or "", 40),
        )
        for row in unseen[:3]
    ]
    return table(("answer", rubric, "fresh at the end, in a shape no frozen one has"), rows, right=(0, 1))
