"""Machinery: proxy and true reward as figures, over the steps, over the KL, and for several KL penalties.

With several seeds a thin line is one of them and a thick one their median. Dashed: on the holdout.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from course.artifacts.inference import Trainings, column, divergence_step, medians
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png
from course.rubrics.hackable import GAPS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = (
    ("proxy: the rubric's reward", "proxy_reward", ORANGE, "-"),
    ("true: the strict scorer's", "true_reward", BLUE, "-"),
    ("proxy on the holdout", "holdout_proxy_reward", ORANGE, "--"),
    ("true on the holdout", "holdout_true_reward", BLUE, "--"),
)
_ACROSS = 3  # panels


def rubrics_figure(by_rubric: Mapping[str, Trainings], x: Literal["step", "kl"]) -> bytes:
    """A panel for each rubric: both rewards over the steps or over the KL, and a dotted line where they diverge.

    The KL is on a scale of d = √KL, as Gao et al. 2022 (arXiv 2210.10760) draw it. They find that under RL the true
    reward follows d (α − β ln d) while the proxy rises on. Nothing is fitted here.
    """
    import numpy as np

    across, down = min(_ACROSS, len(by_rubric)), ceil(len(by_rubric) / _ACROSS)
    title = "What each rubric pays, and what is right" + (", over the distance from the start" if x == "kl" else "")
    sheet = figure(10.2, 1.3 + 2.3 * down, title) if across > 1 else figure(7.6, 4.9, title)
    for place, (name, trainings) in enumerate(by_rubric.items(), 1):
        axes = sheet.add_subplot(down, across, place)
        for label, y, color, style in _CURVES:
            axes.plot(medians(trainings, x), medians(trainings, y), style, color=color, label=label)
            for training in trainings if len(trainings) > 1 else ():
                axes.plot(column(training, x), column(training, y), style, color=color, linewidth=0.6, alpha=0.5)
            if x == "kl" and style == "-":
                _point_along(axes, medians(trainings, x), medians(trainings, y), color)
        for training in trainings:
            for row in (row for row in training if row.step == divergence_step(training)):
                axes.axvline(getattr(row, x), color=GREY, linestyle=":", linewidth=1.4, label="reward hacking begins")
        dress(axes, "", "")
        axes.set_ylim(-0.04, 1.04)
        gap = f"overlooks {GAPS[name].overlooks}" if name in GAPS else "the strict scorer: proxy and true are one"
        axes.set_title(f"{name}\n{fill(gap, 50)}", fontsize=8.5)
        if x == "kl":
            axes.set_xscale("function", functions=(lambda kl: np.copysign(abs(kl) ** 0.5, kl), lambda d: d * abs(d)))
            axes.locator_params(axis="x", nbins=4)
    label = "step" if x == "step" else "KL from the reference in nats, on a scale of its square root"
    sheet.supxlabel(f"{label}\n\n")  # room for the legend, which Matplotlib puts over it
    sheet.supylabel("reward")
    labelled = {text: line for axes in sheet.axes for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    sheet.legend(
        labelled.values(), labelled, loc="outside lower center", ncols=5 if across > 1 else 3, frameon=False, fontsize=8
    )
    return png(sheet)


def _point_along(axes: "Axes", xs: Sequence[float], ys: Sequence[float], color: str) -> None:
    """An arrow in the middle of a curve: the way the training went, for the KL need not grow."""
    middle = max(range(1, len(xs)), key=lambda i: abs(xs[i] - xs[i - 1]))
    before, after = (xs[middle - 1], ys[middle - 1]), (xs[middle], ys[middle])
    axes.annotate("", after, before, arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.6})


def kl_coef_figure(by_beta: Mapping[float, Trainings], rubric: str) -> bytes:
    """Both rewards at the end, for each beta; under each beta the KL."""
    sheet = figure(7, 4.2, f"What a KL penalty costs and saves, trained on {rubric}")
    axes = sheet.subplots()
    for label, quantity, color, style in _CURVES:
        ends = [medians(trainings, quantity)[-1] for trainings in by_beta.values()]
        axes.plot(ends, style, color=color, marker="o", markersize=4, label=label)
    dress(axes, "beta, and the KL that is left, in nats", "reward at the end")
    axes.set_ylim(-0.04, 1.04)
    names = [f"{beta:g}\n{medians(trainings, 'kl')[-1]:.3g}" for beta, trainings in by_beta.items()]
    axes.set_xticks(range(len(names)), names)
    sheet.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    return png(sheet)
