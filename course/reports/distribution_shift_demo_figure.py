"""Machinery: frozen completions beside fresh ones, as a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.inference import TrainingLog, pooled_interval
from course.reports.figures import BLUE, ORANGE, dress, figure, png


def shift_curves(log: TrainingLog, frozen: Mapping[str, Any], unseen: Sequence[Sequence[object]]) -> bytes:
    """Over the steps, above: both pass rates with their intervals; below: the share in a shape no frozen one has."""
    sheet = figure(7.2, 5.4, "Frozen completions and fresh ones of the policy that learns")
    rates, shares = sheet.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    steps = [row.step for row in log]
    lows, highs = zip(*(pooled_interval([row], "true_reward") for row in log), strict=True)
    rates.axhspan(*frozen["pass_rate_ci95"], color=ORANGE, alpha=0.25, linewidth=0)
    rates.axhline(frozen["pass_rate"], color=ORANGE, label="frozen before the first update")
    rates.fill_between(steps, lows, highs, color=BLUE, alpha=0.25, linewidth=0)
    rates.plot(steps, [row.true_reward for row in log], color=BLUE, label="fresh")
    dress(rates, "", "pass rate, 95 % interval")
    rates.set_ylim(bottom=0)
    rates.legend(frameon=False, fontsize=8)
    shares.plot(steps, [len(new) / row.n for row, new in zip(log, unseen, strict=True)], color=BLUE)
    dress(shares, f"step of training on {log[0].rubric}", "fresh, in a shape\nno frozen one has")
    shares.set_ylim(-0.02, 1.04)
    return png(sheet)
