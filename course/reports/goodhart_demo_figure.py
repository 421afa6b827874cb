"""Proxy and true reward as figures: over the steps, over the drift, and on leashes.

With several seeds a thin line is one of them and a thick one their median. Dashed: on the holdout.
"""

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

from course.artifacts.inference import Quantity, Seeds, medians, parting
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES: tuple[tuple[str, Quantity, str, str], ...] = (
    ("proxy: the rubric pays", "proxy_reward", ORANGE, "-"),
    ("true: the strict scorer pays", "true_reward", BLUE, "-"),
    ("proxy on the holdout", "holdout_proxy_reward", ORANGE, "--"),
    ("true on the holdout", "holdout_true_reward", BLUE, "--"),
)
_ACROSS = 3  # panels


def over_steps(rubrics: Mapping[str, Seeds], overlooks: Mapping[str, str]) -> bytes:
    """A panel for each rubric: both rewards over the steps, and a dotted line where they part."""
    return png(_panels(rubrics, overlooks, "step", "step"))


def over_kl(rubrics: Mapping[str, Seeds], overlooks: Mapping[str, str]) -> bytes:
    """The same over the drift, on a scale of d = √KL, as Gao et al. 2022 (arXiv 2210.10760) draw it.

    They find that under RL the true reward follows d (α − β ln d) while the proxy rises on. Nothing is fitted here.
    """
    import numpy as np

    sheet = _panels(rubrics, overlooks, "kl", "KL from the start in nats, on a scale of its square root")
    for axes in sheet.axes:
        axes.set_xscale("function", functions=(lambda x: np.copysign(abs(x) ** 0.5, x), lambda d: d * abs(d)))
        axes.locator_params(axis="x", nbins=4)
    return png(sheet)


def leash_figure(leashes: Mapping[float, Seeds], rubric: str) -> bytes:
    """Both rewards at the end, and the drift, for each beta."""
    sheet = figure(9, 3.9)
    rewards, drift = sheet.subplots(1, 2)
    places = range(len(leashes))
    for label, quantity, color, style in CURVES:
        ends = [medians(seeds, quantity)[-1] for seeds in leashes.values()]
        rewards.plot(places, ends, style, color=color, marker="o", markersize=4, label=label)
    drift.plot(places, [medians(seeds, "kl")[-1] for seeds in leashes.values()], "-o", color=GREY, markersize=4)
    dress(rewards, "beta", f"reward at the end, trained on {rubric}")
    dress(drift, "beta", "KL from the start, in nats")
    rewards.set_ylim(-0.04, 1.04)
    drift.set_yscale("symlog", linthresh=0.1)
    drift.set_ylim(bottom=0)
    drift.yaxis.set_major_formatter("{x:g}")
    for axes in (rewards, drift):
        axes.set_xticks(places, [f"{beta:g}" for beta in leashes])
    sheet.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=8, handlelength=3.2)
    return png(sheet)


def _panels(rubrics: Mapping[str, Seeds], overlooks: Mapping[str, str], x: Quantity, x_label: str) -> "Figure":
    across, down = min(_ACROSS, len(rubrics)), ceil(len(rubrics) / _ACROSS)
    sheet = figure(10.2, 1 + 2.3 * down)
    for place, (name, seeds) in enumerate(rubrics.items(), 1):
        axes = sheet.add_subplot(down, across, place)
        for curve in CURVES:
            _draw(axes, seeds, x, *curve)
        for stages in seeds:
            parted = parting(stages)
            for stage in (stage for stage in stages if stage.step == parted):
                axes.axvline(getattr(stage, x), color=GREY, linestyle=":", linewidth=1.4, label="where they part")
        dress(axes, "", "")
        axes.set_ylim(-0.04, 1.04)
        axes.tick_params(labelsize=8)
        said = f"overlooks {overlooks[name]}" if name in overlooks else "the strict scorer: proxy and true are one"
        axes.set_title(f"{name}\n{said}", fontsize=8.5)
    many = max(map(len, rubrics.values()))
    sheet.supxlabel(x_label + (f" (thin: each of {many} seeds, thick: their median)" if many > 1 else ""), fontsize=9)
    sheet.supylabel("reward", fontsize=9)
    labelled = {text: line for axes in sheet.axes for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    sheet.legend(labelled.values(), labelled, loc="outside upper center", ncols=5, frameon=False, fontsize=8)
    return sheet


def _draw(axes: "Axes", seeds: Seeds, x: Quantity, label: str, y: Quantity, color: str, style: str) -> None:
    axes.plot(medians(seeds, x), medians(seeds, y), style, color=color, label=label)
    if len(seeds) > 1:
        for stages in seeds:
            axes.plot(medians([stages], x), medians([stages], y), style, color=color, linewidth=0.6, alpha=0.5)
