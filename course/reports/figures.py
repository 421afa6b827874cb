"""Figures as PNG bytes: the same numbers give the same bytes. Matplotlib is loaded when the first one is drawn."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, ORANGE, GREY = "#2563a8", "#c8641b", "#8a8a8a"


def learning_curve(rewards: Sequence[float], objective: Sequence[float]) -> bytes:
    """Rewards as they came, and the expected reward of the policy that drew each."""
    sheet = figure(6.4, 3.6)
    axes = sheet.subplots()
    steps = range(1, len(rewards) + 1)
    axes.plot(steps, rewards, ".", color=GREY, markersize=3, label="reward of the step")
    axes.plot(steps, objective, color=BLUE, label="expected reward of the policy")
    dress(axes, "step", "reward")
    axes.set_ylim(-0.05, 1.05)
    axes.legend(loc="center right", frameon=False)
    return png(sheet)


def ablation_bands(ablation: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Both learning curves with the band that holds 80 % of the runs, and both variances of the gradient estimate."""
    sheet = figure(8.4, 3.6)
    curves, variances = sheet.subplots(1, 2)
    for (name, found), color in zip(ablation.items(), (BLUE, ORANGE), strict=True):
        means, lows, highs, _ = zip(*found["expected_reward"], strict=True)
        steps = range(1, len(means) + 1)
        curves.plot(steps, means, color=color, label=name)
        curves.fill_between(steps, lows, highs, color=color, alpha=0.18, linewidth=0)
        variances.plot(steps, found["gradient_variance"], color=color, label=name)
    dress(curves, "step", "expected reward (mean, 80 % band)")
    dress(variances, "step", "variance of one gradient estimate")
    variances.set_ylim(bottom=0)
    curves.legend(loc="lower right", frameon=False)
    return png(sheet)


def figure(width: float, height: float) -> "Figure":
    from matplotlib import rcdefaults
    from matplotlib.figure import Figure

    rcdefaults()  # a matplotlibrc in the working folder decides nothing
    return Figure(figsize=(width, height), dpi=120, layout="constrained")


def dress(axes: "Axes", x: str, y: str) -> None:
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)


def png(sheet: "Figure") -> bytes:
    out = BytesIO()
    sheet.savefig(out, format="png", metadata={"Software": None})
    return out.getvalue()
