"""Machinery: what course.pass_at_k_demo prints, pass@k before and after learning."""

from collections.abc import Mapping
from textwrap import fill

from course.artifacts.inference import Comparison
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, legend_below, png
from course.reports.tables import WIDTH, percent, table

_KS = (1, 8, 32, 128)
_LEGEND = (
    "entropy: of the next token, in nats. crossing: the k from which on, up to the last, k samples of the trained "
    "policy hold a right one less often than k of the untrained. Intervals: 95 %, bootstrap over the prompts, not over "
    "other trainings."
)


def pass_at_k_text(compared: Mapping[str, Comparison], steps: int, samples: int, seeds: int) -> str:
    """The report: two rows for each set of prompts, then where its two curves cross."""
    curves: list[tuple[str, ...]] = []
    crossings = []
    for name, one in compared.items():
        ends = ("before", one.before, one.entropy_before), ("after", one.after, one.entropy_after)
        curves += [(name, when, *(percent(curve[k - 1]) for k in _KS), f"{nats:.2f}") for when, curve, nats in ends]
        bounds = " to ".join(dict.fromkeys(str(k or "none") for k in one.crossing_ci95))
        gain = f"{100 * one.last_gain:+.1f} points", " to ".join(f"{100 * end:+.1f}" for end in one.last_gain_ci95)
        crossings.append((name, one.prompts, one.crossing or "none", bounds, *gain))
    last = len(next(iter(compared.values())).before)
    return "\n\n".join(
        [
            "Loop C, learn: does what makes one sample right take other right ones away?",
            f"strict scorer, {steps} updates, {samples} completions a prompt, seeds: {seeds}",
            table(("prompts", "learning", *(f"pass@{k}" for k in _KS), "entropy"), curves, right=range(2, 7)),
            table(("prompts", "n", "crossing", "95 %", f"pass@{last}, gain", "95 %"), crossings, right=[1, 2, 4]),
            fill(_LEGEND, WIDTH),
        ]
    )


def pass_at_k_figure(compared: Mapping[str, Comparison]) -> bytes:
    """Both curves over k; a dotted line where they cross, a shade over the 95 % interval of that k."""
    fig = figure(8.4, 1.2 + 1.4 * len(compared), "pass@k before and after learning")
    panels = fig.subplots((len(compared) + 1) // 2, 2, sharex=True, sharey=True, squeeze=False).flat
    for axes, (name, one) in zip(panels, compared.items(), strict=False):
        ks, low = range(1, len(one.before) + 1), one.crossing_ci95[0]
        axes.plot(ks, one.before, color=GREY, label="before learning")
        axes.plot(ks, one.after, color=BLUE, label="after")
        if low is not None:
            axes.axvspan(low, one.crossing_ci95[1] or len(one.before), color=ORANGE, alpha=0.15, linewidth=0)
        if one.crossing is not None:
            axes.axvline(one.crossing, color=ORANGE, linestyle=":", label="lower from here on, and its 95 % interval")
        dress(axes, "", "", f"{name}: entropy {one.entropy_before:.2f} → {one.entropy_after:.2f} nats a token")
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, 2, 4, 8, 16, 32, 64, 128], ["1", "2", "4", "8", "16", "32", "64", "128"])
    fig.supxlabel("k, samples of a prompt\n")  # room for the legend, which Matplotlib puts over it
    fig.supylabel("pass@k, strict scorer")
    legend_below(fig, 3)
    return png(fig)
