"""The leash as a figure: reward against drift."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png
from course.reports.kl_tradeoff_demo import Point

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_APART = 0.12  # nats between two dots that are labelled


def kl_plane(points: Sequence[Point], frontier: Sequence[Point], rewards: str) -> bytes:
    """Mean reward against KL from the reference: the closed form, gradient ascent on it, best-of-N and its bound.

    ``frontier``: the closed form again, for as many betas as make a smooth line. ``rewards``: what kind they are.
    """
    sheet = figure(7.2, 4.6)
    axes = sheet.subplots()
    ascent = [point for point in points if point.kind == "gradient_ascent"]
    choices = [point for point in points if point.kind == "best_of_n"]

    reached = [point.kl for point in frontier]
    axes.plot(reached, [point.mean_reward for point in frontier], color=BLUE, label="closed form, beta from ∞ to 0")
    dots = [point.kl for point in ascent], [point.mean_reward for point in ascent]
    axes.plot(*dots, "o", color=BLUE, markersize=4.5, label="gradient ascent, with its beta")
    if any(point.verifier_reward != point.mean_reward for point in points):
        paid = [point.verifier_reward for point in frontier]
        axes.plot(reached, paid, "--", color=GREY, label="the same policies, paid by the verifier")

    exact = [point.kl for point in choices]
    bounds = [point.kl_bound or 0.0 for point in choices]  # each has one; that of N = 1 is 0
    won = [point.mean_reward for point in choices]
    axes.hlines(won, exact, bounds, color=ORANGE, linewidth=0.8, alpha=0.6)
    axes.plot(exact, won, "D", color=ORANGE, markersize=5, label="best-of-N, exact KL")
    axes.plot(bounds, won, "D", color=ORANGE, markerfacecolor="white", markersize=5, label="best-of-N, KL at most")

    for point, x in zip(choices, bounds, strict=True):
        at, side = ((-8, -3), "right") if point.n == 1 else ((8, -3), "left")
        _label(axes, f"N = {point.n}", (x, point.mean_reward), at, side, ORANGE)
    labelled = 0.0
    for point in ascent:
        if point.kl > labelled + _APART:
            _label(axes, f"{point.beta:g}", (point.kl, point.mean_reward), (-5, 5), "right", BLUE)
            labelled = point.kl

    dress(axes, "KL from the reference policy, in nats", f"mean reward ({rewards})")
    axes.set_ylim(-0.03, 1.09)
    axes.margins(x=0.09)
    sheet.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return png(sheet)


def _label(
    axes: "Axes", text: str, xy: tuple[float, float], offset: tuple[float, float], side: str, color: str
) -> None:
    """A word beside a point, on white where a line would cross it."""
    plate = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.85}
    axes.annotate(text, xy, offset, textcoords="offset points", ha=side, fontsize=8, color=color, bbox=plate)
