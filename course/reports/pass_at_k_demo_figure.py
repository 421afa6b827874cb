"""Machinery: pass@k before and after learning as a figure, a panel for each set of prompts."""

from collections.abc import Mapping

from course.artifacts.counted_samples import Comparison
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png


def pass_at_k_figure(compared: Mapping[str, Comparison]) -> bytes:
    """Both curves over k; a dotted line where they cross, a shade over the 95 % interval of that k."""
    sheet = figure(8.4, 1.2 + 1.4 * len(compared), "pass@k before and after learning")
    panels = sheet.subplots((len(compared) + 1) // 2, 2, sharex=True, sharey=True, squeeze=False).flat
    for axes, (name, one) in zip(panels, compared.items(), strict=False):
        ks, low = range(1, len(one.before) + 1), one.crossing_ci95[0]
        axes.plot(ks, one.before, color=GREY, label="before learning")
        axes.plot(ks, one.after, color=BLUE, label="after")
        if low is not None:
            axes.axvspan(low, one.crossing_ci95[1] or len(one.before), color=ORANGE, alpha=0.15, linewidth=0)
        if one.crossing is not None:
            axes.axvline(one.crossing, color=ORANGE, linestyle=":", label="lower from here on, and its 95 % interval")
        dress(axes, "", "")
        axes.set_title(f"{name}: entropy {one.entropy_before:.2f} → {one.entropy_after:.2f} nats a token", fontsize=9)
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, 2, 4, 8, 16, 32, 64, 128], ["1", "2", "4", "8", "16", "32", "64", "128"])
        axes.set_ylim(-0.04, 1.04)
    sheet.supxlabel("k, samples of a prompt\n")  # room for the legend, which Matplotlib puts over it
    sheet.supylabel("pass@k, strict scorer")
    labelled = {text: line for axes in sheet.axes for line, text in zip(*axes.get_legend_handles_labels(), strict=True)}
    sheet.legend(labelled.values(), labelled, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
    return png(sheet)
