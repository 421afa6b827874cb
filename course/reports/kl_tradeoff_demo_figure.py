"""The figure of course.kl_tradeoff_demo: reward against KL."""

from collections.abc import Sequence

from course.artifacts.learning import TradeoffRow
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

_APART = 0.12  # nats between two labels, at least


def kl_tradeoff_figure(rows: Sequence[TradeoffRow], curve: Sequence[TradeoffRow], rewards: str) -> bytes:
    """Mean reward against KL from the reference: the closed form, gradient ascent on it, best-of-N and its bound.

    ``curve``: the closed form for enough betas to make a smooth line. ``rewards``: where they come from.
    """
    sheet = figure(7.2, 4.6)
    axes = sheet.subplots()
    ascents = [row for row in rows if row.kind == "gradient_ascent"]
    choices = [row for row in rows if row.kind == "best_of_n"]

    kls = [row.kl for row in curve]
    axes.plot(kls, [row.mean_reward for row in curve], color=BLUE, label="closed form, beta from ∞ to 0")
    if rewards == "graded":
        axes.plot(kls, [row.verifier_reward for row in curve], "--", color=GREY, label="its reward by the verifier")
    dots = [row.kl for row in ascents], [row.mean_reward for row in ascents]
    axes.plot(*dots, "o", color=BLUE, markersize=4.5, label="gradient ascent, with its beta")
    exact, bounds = [row.kl for row in choices], [row.kl_bound or 0.0 for row in choices]  # 0.0 is that of N = 1
    heights = [row.mean_reward for row in choices]
    axes.hlines(heights, exact, bounds, color=ORANGE, linewidth=0.8, alpha=0.6)
    axes.plot(exact, heights, "D", color=ORANGE, markersize=5, label="best-of-N, exact KL")
    axes.plot(bounds, heights, "D", color=ORANGE, markerfacecolor="white", markersize=5, label="best-of-N, KL at most")

    labels = [
        (f"N = {row.n}", bound, row.mean_reward, (8, -9), "left", ORANGE)
        for row, bound in zip(choices, bounds, strict=True)
    ]
    free_from = _APART
    for row in ascents:
        if row.kl > free_from:
            labels.append((f"{row.beta:g}", row.kl, row.mean_reward, (-5, 5), "right", BLUE))
            free_from = row.kl + _APART
    for text, x, y, offset, side, color in labels:
        axes.annotate(text, (x, y), offset, textcoords="offset points", ha=side, fontsize=8, color=color)
    dress(axes, "KL from the reference policy, in nats", f"mean reward ({rewards})")
    axes.set_ylim(-0.03, 1.09)
    axes.margins(x=0.09)
    sheet.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return png(sheet)
