"""Machinery: what course.distribution_shift_demo prints, frozen completions beside fresh ones."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from course.artifacts.inference import TrainingLog, pooled_interval
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow, proxy_of
from course.reports.figures import BLUE, ORANGE, dress, figure, png
from course.reports.tables import GrowingTable, interval, percent, table
from course.text import one_line

SHIFT = GrowingTable(
    ("step", "fresh", "95 % interval", "error of frozen", "in an unseen shape"),
    ("", "100.0 %", "00.0 to 100.0 %", "", ""),
    range(5),
)


def shift_heading(rubric: str, frozen: Mapping[str, Any]) -> Iterator[str]:
    """What is known before the first update. ``frozen``: the summary of the frozen completions."""
    rate, bounds = percent(frozen["pass_rate"]), interval(frozen["pass_rate_ci95"])
    yield (
        "Loop C, learn: the policy changes, and with it what there is to measure.\n\n"
        f"trained on {rubric}; every rate is the strict scorer's, every interval 95 %"
    )
    yield f"\n{frozen['n']:,} completions frozen at step 0: {rate} ({bounds})\n\n{SHIFT.head()}"


def shift_text(row: EvaluationRow, frozen: Mapping[str, Any], unseen: int) -> str:
    """One evaluation. The error is the frozen rate less the fresh one, in points.

    ``unseen``: how many of the fresh ones have a shape that no frozen one has.
    """
    bounds = interval(pooled_interval([row], "true_reward"))
    error = f"{100 * (frozen['pass_rate'] - row.true_reward):+.1f}"
    return SHIFT.row((row.step, percent(row.true_reward), bounds, error, percent(unseen / row.n, 0)))


def unseen_table(unseen: Sequence[LearningResult], rubric: str) -> str:
    """The first three, ⏎ for a line break, with the rubric's reward. One that is cut ends in …"""
    rows = [(row.expected_answer, proxy_of(row), one_line(row.completion or "", 40)) for row in unseen[:3]]
    return table(("answer", rubric, "fresh at the end, in a shape no frozen one has"), rows, right=(0, 1))


def shift_curves(log: TrainingLog, frozen: Mapping[str, Any], unseen: Sequence[Sequence[object]]) -> bytes:
    """Over the steps, above: both pass rates with their intervals; below: the share in a shape no frozen one has."""
    fig = figure(7.2, 5.4, "Frozen completions and fresh ones of the policy that learns")
    rates, shares = fig.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    steps = [row.step for row in log]
    lows, highs = zip(*(pooled_interval([row], "true_reward") for row in log), strict=True)
    rates.axhspan(*frozen["pass_rate_ci95"], color=ORANGE, alpha=0.25, linewidth=0)
    rates.axhline(frozen["pass_rate"], color=ORANGE, label="frozen before the first update")
    rates.fill_between(steps, lows, highs, color=BLUE, alpha=0.25, linewidth=0)
    rates.plot(steps, [row.true_reward for row in log], color=BLUE, label="fresh")
    dress(rates, "", "pass rate, 95 % interval", rates=False)
    rates.legend(frameon=False, fontsize=8)
    shares.plot(steps, [len(new) / row.n for row, new in zip(log, unseen, strict=True)], color=BLUE)
    dress(shares, f"step of training on {log[0].rubric}", "fresh, in a shape\nno frozen one has")
    return png(fig)
