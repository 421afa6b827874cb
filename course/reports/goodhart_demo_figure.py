"""Proxy and true reward as figures: over the steps, over the KL, and for several KL penalties.

With several seeds a thin line is one of them and a thick one their median. Dashed: on the holdout.
"""

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from course.artifacts.inference import Quantity, Trainings, divergence_step, medians
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CURVES: tuple[tuple[str, Quantity, str, str], ...] = (
    ("proxy: the rubric's reward", "proxy_reward", ORANGE, "-"),
    ("true: the strict scorer's", "true_reward", BLUE, "-"),
    ("proxy on the holdout", "holdout_proxy_reward", ORANGE, "--"),
    ("true on the holdout", "holdout_true_reward", BLUE, "--"),
)
_ACROSS = 3  # panels


def over_steps(by_rubric: Mapping[str, Trainings], overlooks: Mapping[str, str]) -> bytes:
    """A panel for each rubric: both rewards over the steps, and a dotted line where they diverge."""
    return png(_panels(by_rubric, overlooks, "step", "step"))


def over_kl(by_rubric: Mapping[str, Trainings], overlooks: Mapping[str, str]) -> bytes:
    """The same over the KL, on a scale of d = √KL, as Gao et al. 2022 (arXiv 2210.10760) draw it.

    They find that under RL the true reward follows d (α − β ln d) while the proxy rises on. Nothing is fitted here.
    """
    import numpy as np

    sheet = _panels(by_rubric, overlooks, "kl", "KL from the reference in nats, on a scale of its square root")
    for axes in sheet.axes:
        axes.set_xscale("function", functions=(lambda x: np.copysign(abs(x) ** 0.5, x), lambda d: d * abs(d)))
        axes.locator_params(axis="x", nbins=4)
    return png(sheet)


def kl_coef_figure(by_beta: Mapping[float, Trainings], rubric: str) -> bytes:
    """Both rewards at the end, and the KL, for each beta."""
    sheet = figure(9, 3.9)
    rewards, kl = sheet.subplots(1, 2)
    places = range(len(by_beta))
    for label, quantity, color, style in _CURVES:
        ends = [medians(trainings, quantity)[-1] for trainings in by_beta.values()]
        rewards.plot(places, ends, style, color=color, marker="o", markersize=4, label=label)
    kl.plot(places, [medians(trainings, "kl")[-1] for trainings in by_beta.values()], "-o", color=GREY, markersize=4)
    dress(rewards, "beta", f"reward at the end, trained on {rubric}")
    dress(kl, "beta", "KL from the reference, in nats")
    rewards.set_ylim(-0.04, 1.04)
    kl.set_yscale("symlog", linthresh=0.1)
    kl.set_ylim(bottom=0)
    kl.yaxis.set_major_formatter("{x:g}")
    for axes in (rewards, kl):
        axes.set_xticks(places, [f"{beta:g}" for beta in by_beta])
    sheet.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8, handlelength=3.2)
    return png(sheet)


def _panels(by_rubric: Mapping[str, Trainings], overlooks: Mapping[str, str], x: Quantity, x_label: str) -> "Figure":
    across, down = min(_ACROSS, len(by_rubric)), ceil(len(by_rubric) / _ACROSS)
    sheet = figure(10.2, 1 + 2.3 * down)
    for place, (name, trainings) in enumerate(by_rubric.items(), 1):
        axes = sheet.add_subplot(down, across, place)
        for label, y, color, style in _CURVES:
            axes.plot(medians(trainings, x), medians(trainings, y), style, color=color, label=label)
            for training in trainings if len(trainings) > 1 else ():
                axes.plot(medians([training], x), medians([training], y), style, color=color, linewidth=0.6, alpha=0.5)
        for training in trainings:
            step = divergence_step(training)
            for row in (row for row in training if row.step == step):
                axes.axvline(getattr(row, x), color=GREY, linestyle=":", linewidth=1.4, label="where they diverge")
        dress(axes, "", "")
        axes.set_ylim(-0.04, 1.04)
        axes.tick_params(labelsize=8)
        gap = f"overlooks {overlooks[name]}" if name in overlooks else "the strict scorer: proxy and true are one"
        axes.set_title(f"{name}\n{gap}", fontsize=8.5)
    seeds = max(map(len, by_rubric.values()))
    sheet.supxlabel(x_label + (f" (thin: each of {seeds} seeds, thick: their median)" if seeds > 1 else ""), fontsize=9)
    sheet.supylabel("reward", fontsize=9)
    labelled = {text: line for axes in sheet.axes for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    sheet.legend(labelled.values(), labelled, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    return sheet
