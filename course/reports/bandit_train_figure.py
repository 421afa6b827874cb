"""Machinery: the figures of course.bandit_train, one learning curve, and the ablation of the baseline."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEARNING_CURVE = "learning_curve.png"  # in a run of bandit_train, and of policy_gradient_demo


def learning_curve(rewards: Sequence[float], objective: Sequence[float]) -> bytes:
    """The verifier's reward of each step, and the expected reward of the policy before it."""
    sheet = figure(6.4, 3.6, "One run: each reward, and what the policy expects")
    axes = sheet.subplots()
    steps = range(1, len(rewards) + 1)
    axes.plot(steps, rewards, ".", color=GREY, markersize=3, label="reward of the step")
    axes.plot(steps, objective, color=BLUE, label="expected reward of the policy")
    dress(axes, "step", "reward")
    axes.set_ylim(-0.05, 1.05)
    axes.legend(loc="center right", frameon=False)
    return png(sheet)


def ablation_panels(ablation: Sequence[Mapping[str, Any]], variances: Mapping[str, Any], runs: int) -> bytes:
    """Above: learning with the smallest offset and the largest, with bands of 80 % of the runs. Below: variances."""
    sheet = figure(8.4, 7.0, "What a baseline changes: an offset in the rewards (above), the variance (below)")
    (smallest, largest), (by_step, crossing) = sheet.subplots(2, 2)
    for axes, sides in ((smallest, ablation[:2]), (largest, ablation[-2:])):
        for side, color in zip(sides, (BLUE, ORANGE), strict=True):
            steps, name = range(len(side["mean"])), "with" if side["baseline"] else "without"
            label = f"{name} baseline: {side['below_half']:,} of {runs:,} end below 0.5"
            axes.plot(steps, side["mean"], color=color, label=label)
            axes.fill_between(steps, side["low"], side["high"], color=color, alpha=0.18, linewidth=0)
        dress(axes, "updates", "expected reward (mean, 80 % band)")
        axes.set_title(f"{sides[0]['offset']:g} added to every reward", fontsize=10)
        axes.set_ylim(-0.05, 1.05)
        axes.legend(loc="lower right", frameon=False, fontsize=8)

    labels = {
        "none": "b = 0: none",
        "running_mean": "b = mean reward so far",
        "best_constant": "b = b*, the best constant",
    }
    for (name, label), color, style in zip(labels.items(), (ORANGE, BLUE, GREY), ("-", "-", "--"), strict=True):
        by_step.plot(range(1, len(variances[name]) + 1), variances[name], color=color, linestyle=style, label=label)
    dress(by_step, "step", "variance of one gradient estimate")
    by_step.set_title("the same policies, three baselines", fontsize=10)
    by_step.set_ylim(bottom=0)
    by_step.legend(frameon=False, fontsize=8)
    _draw_crossing(crossing)
    return png(sheet)


def _draw_crossing(axes: "Axes") -> None:
    """The variance with b = J over that with b = 0, by the probability of a right arm; the arms of a kind share it.

    Right are the arms 1 and 3 of this bandit. In a policy of two arms the others have no probability.
    """
    import numpy as np

    from course.policies.reinforce import gradient_variance

    p, rewards = np.arange(1, 200) / 200, np.array([0.0, 1.0, 0.0, 1.0])
    for label, of_wrong, of_right, color in (
        ("two arms, one right", [1, 0, 0, 0], [0, 1, 0, 0], BLUE),
        ("this bandit, one right arm gone", [0.5, 0, 0.5, 0], [0, 1, 0, 0], ORANGE),
        ("this bandit, both right arms", [0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5], GREY),
    ):
        policies = np.outer(1 - p, of_wrong) + np.outer(p, of_right)
        ratio = gradient_variance(policies, rewards, p) / gradient_variance(policies, rewards, 0.0)
        above = f"from {p[ratio > 1][0]:.2f} on" if (ratio > 1).any() else "nowhere"
        axes.plot(p, ratio, color=color, label=f"{label}: {above}")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log")
    axes.set_ylim(0.01, 10_000)
    dress(axes, "probability p of a right answer", "variance with b = mean reward / b = 0")
    axes.set_title("above 1: worse than no baseline", fontsize=10)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
