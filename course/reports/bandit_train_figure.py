"""Machinery: the figures of course.bandit_train, one learning curve, and the ablation of the baseline."""

from collections.abc import Mapping, Sequence

from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png


def learning_curve(rewards: Sequence[float], objective: Sequence[float]) -> bytes:
    """The reward of each step, and the expected reward of the policy before it."""
    sheet = figure(6.4, 3.6)
    axes = sheet.subplots()
    steps = range(1, len(rewards) + 1)
    axes.plot(steps, rewards, ".", color=GREY, markersize=3, label="reward of the step")
    axes.plot(steps, objective, color=BLUE, label="expected reward of the policy")
    dress(axes, "step", "reward")
    axes.set_ylim(-0.05, 1.05)
    axes.legend(loc="center right", frameon=False)
    return png(sheet)


def ablation_bands(ablation: Mapping[str, Mapping[str, Sequence[float]]]) -> bytes:
    """Left: both learning curves, with the band that holds 80 % of the runs. Right: both variances of the estimate."""
    sheet = figure(8.4, 3.6)
    curves, variances = sheet.subplots(1, 2)
    for (name, columns), color in zip(ablation.items(), (BLUE, ORANGE), strict=True):
        steps = range(1, len(columns["mean"]) + 1)
        curves.plot(steps, columns["mean"], color=color, label=name)
        curves.fill_between(steps, columns["low"], columns["high"], color=color, alpha=0.18, linewidth=0)
        variances.plot(steps, columns["gradient_variance"], color=color)
    dress(curves, "step", "expected reward (mean, 80 % band)")
    dress(variances, "step", "variance of one gradient estimate")
    variances.set_ylim(bottom=0)
    curves.legend(loc="lower right", frameon=False)
    return png(sheet)
