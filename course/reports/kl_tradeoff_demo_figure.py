"""Machinery: the figure of course.kl_tradeoff_demo, reward against KL."""

from collections.abc import Sequence

from course.artifacts.learning import TradeoffRow
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

_APART = 0.12  # nats between two labelled betas, at least


def kl_tradeoff_figure(rows: Sequence[TradeoffRow], curve: Sequence[TradeoffRow], rewards: str) -> bytes:
    """Mean reward against KL from the reference: the optimum for each beta, and best-of-N.

    ``curve``: the same rows for enough betas to make a smooth line. ``rewards``: "verifier" or "graded".
    """
    sheet = figure(7.2, 4.8, "How much reward a policy can get for how much KL")
    axes = sheet.subplots()
    smooth = [row for row in curve if row.beta]
    kls = [row.kl for row in smooth]
    axes.plot(kls, [row.mean_reward for row in smooth], color=BLUE, label="optimum, for betas from ∞ to 0")
    if rewards == "graded":
        axes.plot(kls, [row.verifier_reward for row in smooth], "--", color=GREY, label="its reward by the verifier")
    optima, choices = [row for row in rows if row.beta], [row for row in rows if row.n]
    for points, marker, color in ((optima, "o", BLUE), (choices, "D", ORANGE)):
        label = "best-of-N" if points is choices else None
        axes.plot([row.kl for row in points], [row.mean_reward for row in points], marker, color=color, label=label)

    for row in choices:
        axes.annotate(f"N = {row.n}", (row.kl, row.mean_reward), (8, -9), textcoords="offset points", color=ORANGE)
    free_from = _APART
    for row in optima:
        if row.kl > free_from:
            axes.annotate(f"{row.beta:g}", (row.kl, row.mean_reward), (-5, 5), textcoords="offset points", ha="right")
            free_from = row.kl + _APART
    dress(axes, "KL from the reference policy, in nats", f"mean reward ({rewards})")
    axes.set_ylim(-0.03, 1.09)
    axes.margins(x=0.09)
    sheet.legend(loc="outside lower center", ncols=3, frameon=False)
    return png(sheet)
