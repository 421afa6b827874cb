"""Frozen completions beside fresh ones, as a figure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course.reports.distribution_shift_demo import Look, Scored
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHER = "other"
SMALL = 0.03  # an outcome that is nowhere more often than this is one of the others
COLOURS = {  # after Okabe and Ito, to be told apart with any eyes; what has none here is one of the others
    "ok": "#0072b2",
    "wrong_answer": "#e69f00",
    "not_an_integer": "#009e73",
    "missing_prefix": "#cc79a7",
    "not_single_line": "#882255",
    "extra_whitespace": "#56b4e9",
    "empty": "#f0e442",
    "plus_sign": "#000000",
    "leading_zeros": "#d55e00",
    OTHER: "#bbbbbb",
}


def shift_curves(looks: Sequence[Look], frozen: Scored, rubric: str) -> bytes:
    """Three panels over the steps: the two pass rates, the mix of outcomes, and what no frozen completion shows."""
    sheet = figure(7.6, 8.6)
    rates, mix, unseen = sheet.subplots(3, 1, sharex=True, height_ratios=(1, 1.15, 0.85))
    _draw_rates(rates, looks, frozen)
    _draw_mix(mix, looks, frozen)
    _draw_unseen(unseen, looks)
    unseen.set_xlabel(f"step of training, paid by {rubric}")
    for axes in (rates, mix, unseen):
        beside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False, "fontsize": 8}
        axes.legend(reverse=axes is mix, **beside)  # the mix is read from the top
    return png(sheet)


def shares(looks: Sequence[Look], frozen: Scored) -> dict[str, list[float]]:
    """Outcome -> its share of the frozen completions, then of the fresh ones at each look. Small ones are added up."""
    mixes = [_rates(frozen), *(_rates(look.fresh) for look in looks)]
    kept = [name for name in COLOURS if max(mix.get(name, 0.0) for mix in mixes) >= SMALL]
    found = {name: [mix.get(name, 0.0) for mix in mixes] for name in kept}
    others = [sum(rate for name, rate in mix.items() if name not in kept) for mix in mixes]
    return found | ({OTHER: others} if any(others) else {})


def _rates(scored: Scored) -> Mapping[str, float]:
    return {outcome: count / scored["n"] for outcome, count in scored["outcomes"].items()}


def _draw_rates(axes: "Axes", looks: Sequence[Look], frozen: Scored) -> None:
    steps = [look.step for look in looks]
    fresh = [look.fresh["pass_rate"] for look in looks]
    lows, highs = zip(*(look.fresh["pass_rate_ci95"] for look in looks), strict=True)
    said = frozen["pass_rate"]
    axes.fill_between(steps, said, fresh, facecolor="none", edgecolor=GREY, hatch="///", linewidth=0, label="error")
    axes.axhspan(*frozen["pass_rate_ci95"], color=ORANGE, alpha=0.25, linewidth=0)
    axes.axhline(said, color=ORANGE, label=f"frozen, n = {frozen['n']}")
    axes.fill_between(steps, lows, highs, color=BLUE, alpha=0.25, linewidth=0)
    axes.plot(steps, fresh, color=BLUE, label=f"fresh, n = {looks[0].fresh['n']}")
    dress(axes, "", "pass rate (95 % interval)")
    axes.set_ylim(-0.02, min(1.02, 1.15 * max(*highs, frozen["pass_rate_ci95"][1])))


def _draw_mix(axes: "Axes", looks: Sequence[Look], frozen: Scored) -> None:
    """The frozen mix is a bar to the left of step 0."""
    steps, last = [look.step for look in looks], looks[-1].step
    found = shares(looks, frozen)
    bottom = 0.0
    for name, (share, *_) in found.items():
        axes.bar(-0.07 * last, share, 0.06 * last, bottom, color=COLOURS[name], edgecolor="white", linewidth=0.6)
        bottom += share
    fresh = [share[1:] for share in found.values()]
    colours = [COLOURS[name] for name in found]
    axes.stackplot(steps, fresh, labels=list(found), colors=colours, edgecolor="white", linewidth=0.6)
    axes.annotate("frozen", (-0.07 * last, 1.0), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    dress(axes, "", "outcome of the strict scorer")
    axes.set_ylim(0, 1)
    axes.set_axisbelow(True)


def _draw_unseen(axes: "Axes", looks: Sequence[Look]) -> None:
    steps = [look.step for look in looks]
    axes.plot(steps, [look.unseen_text for look in looks], "--", color=GREY, label="text not frozen\nfor its prompt")
    axes.plot(steps, [look.moved for look in looks], ":", color=ORANGE, label="outcome mix moved\n(total variation)")
    axes.plot(steps, [look.unseen_shape for look in looks], color=BLUE, label="shape of no\nfrozen completion")
    dress(axes, "", "share of fresh completions")
    axes.set_ylim(-0.02, 1.04)
