"""Machinery: what course.bandit_train prints, and its log as a story for the student to annotate."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course.artifacts.learning_rows import UpdateRow
from course.show.figures import BLUE, GREY, ORANGE, figure, label_axes, png
from course.show.tables import table
from course.show.updates import before_and_after, heading, how_to_read, state_text, update_in_words, update_line
from course.text import clipped

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def bandit_text(rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str]) -> str:
    """The policy before and after; the ablation if there was one."""
    parts = [
        heading(rows),
        before_and_after(rows, arms),
        f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}",
    ]
    if "ablation" in summary:
        parts.append(ablation_text(summary["ablation"]))
    return "\n\n".join(parts)


def ablation_text(ablation: Mapping[str, Any]) -> str:
    """What a baseline certainly gains, and when the mean reward lowers the variance."""
    sides, variances = ablation["learning"], ablation["variances"]
    ends = [
        (f"{side['offset']:g}", "yes" if side["baseline"] else "no", f"{side['mean']:.3f}", f"{side['below_half']:,}")
        for side in sides
    ]
    header = ("reward offset", "baseline", "expected reward at the end", "runs that end below 0.5")
    names = {"none": "0: no baseline", "running_mean": "the mean reward so far", "best_constant": "b*"}
    rows = [(name, f"{variances[key]:.4f}") for key, name in names.items()]
    best, expected = variances["best_baseline"], variances["expected_reward"]
    return f"""\
Ablation: {ablation["runs"]:,} runs on the same draws, with and without the baseline.

{table(header, ends, right=(0, 2, 3))}

In the first update the baseline is still 0, so a constant that is added to
every reward counts in full. From the second update on, the baseline cancels the
constant. Without a baseline, the constant reinforces every sampled arm, right
or wrong.

{table(("baseline b", "variance of an estimate, mean over the updates"), rows, right=(1,))}

The variances are for offset 0, at the policies of the runs with the baseline. A
baseline that does not depend on the sampled action never changes the mean of
the estimate, and it lowers the variance only if it lies between 0 and 2 b*.
With one right arm of probability p and one wrong arm, the expected reward lies
in this range until p = 2/3; with three equally likely wrong arms, until p = 1/2
(ablation.png). Here 2 b* is {2 * best:.3f} on average, and the expected reward
is {expected:.3f}. The mean reward so far lowered the variance in {100 * variances["lowered"]:.1f} % of
the updates."""


def story_text(rows: Sequence[UpdateRow], arms: Sequence[str], own_update: str | None = None) -> str:
    """The whole run as text: which arm each update reinforced or suppressed, and why.

    ``own_update``: the name of the student's function that changed theta, if there was one.
    """
    arm_lines = (f"  {arm}  {clipped(text, 70)}" for arm, text in enumerate(arms))
    lines = [state_text(rows[0].prompt), "", "The arms", *arm_lines, "", how_to_read(rows[0].lr, own_update), ""]
    for row in rows:
        lines += [update_line(row), f"          {update_in_words(row)}"]
    return "\n".join(lines) + "\n"


LEARNING_CURVE = "learning_curve.png"  # in a run of bandit_train, and of policy_gradient_demo


def learning_curve(rewards: Sequence[float], objective: Sequence[float]) -> bytes:
    """The verifier's reward of each step, and the expected reward of the policy before it."""
    fig = figure(6.4, 3.6, "One run: each reward, and what the policy expects")
    axes = fig.subplots()
    steps = range(1, len(rewards) + 1)
    axes.plot(steps, rewards, ".", color=GREY, markersize=3, label="reward of the step")
    axes.plot(steps, objective, color=BLUE, label="expected reward of the policy")
    label_axes(axes, "step", "reward")
    axes.legend(loc="center right", frameon=False)
    return png(fig)


def ablation_panels(ablation: Sequence[Mapping[str, Any]], variances: Mapping[str, Any], runs: int) -> bytes:
    """Above: learning with the smallest offset and the largest, with bands of 80 % of the runs. Below: variances."""
    fig = figure(8.4, 7.0, "What a baseline changes: an offset in the rewards (above), the variance (below)")
    (smallest, largest), (by_step, crossing) = fig.subplots(2, 2)
    for axes, sides in ((smallest, ablation[:2]), (largest, ablation[-2:])):
        for side, color in zip(sides, (BLUE, ORANGE), strict=True):
            steps = range(len(side["mean"]))
            name = "with" if side["baseline"] else "without"
            label = f"{name} baseline: {side['below_half']:,} of {runs:,} end below 0.5"
            axes.plot(steps, side["mean"], color=color, label=label)
            axes.fill_between(steps, side["low"], side["high"], color=color, alpha=0.18, linewidth=0)
        label_axes(
            axes, "updates", "expected reward (mean, 80 % band)", f"{sides[0]['offset']:g} added to every reward"
        )
        axes.legend(loc="lower right", frameon=False, fontsize=8)

    for name, label, color, style in (
        ("none", "b = 0: none", ORANGE, "-"),
        ("running_mean", "b = mean reward so far", BLUE, "-"),
        ("best_constant", "b = b*, the best constant", GREY, "--"),
    ):
        by_step.plot(range(1, len(variances[name]) + 1), variances[name], style, color=color, label=label)
    label_axes(by_step, "step", "variance of one gradient estimate", "the same policies, three baselines", rates=False)
    by_step.legend(frameon=False, fontsize=8)
    _draw_crossing(crossing)
    return png(fig)


def _draw_crossing(axes: "Axes") -> None:
    """The variance with b = J over that with b = 0, by the probability p of arm 1, the right arm.

    The wrong arms share 1 − p equally. In a policy of two arms two of them have no probability. With m wrong arms the
    ratio is 1 at p = (m + 3) / (3m + 3), where J = 2 b*.
    """
    import numpy as np

    from course.policies.reinforce import gradient_variance

    p, right = np.arange(1, 200) / 200, np.array([0.0, 1.0, 0.0, 0.0])
    for label, wrong, color in (
        ("one wrong arm: above 1 beyond p = 2/3", [1, 0, 0, 0], BLUE),
        ("three wrong arms, as here: beyond p = 1/2", [1 / 3, 0, 1 / 3, 1 / 3], ORANGE),
    ):
        policies = np.outer(1 - p, wrong) + np.outer(p, right)
        ratio = gradient_variance(policies, right, p) / gradient_variance(policies, right, 0.0)
        axes.plot(p, ratio, color=color, label=label)
    axes.axhline(1, color="black", linewidth=0.8)
    label_axes(
        axes, "probability p of the right arm", "variance with b = mean reward / b = 0", "above 1: worse than none"
    )
    axes.set_yscale("log")
    axes.set_ylim(0.01, 10_000)
    axes.legend(loc="upper left", frameon=False, fontsize=8)
