"""Frozen completions beside fresh ones, as a figure."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course.artifacts.token_rows import ShiftRow
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OTHER = "other"
SMALL = 0.03  # an outcome that is nowhere more common than this is one of the others
COLOURS = {  # after Okabe and Ito, to be told apart with any eyes; an outcome that is not here is one of the others
    "ok": "#0072b2",
    "wrong_answer": "#e69f00",
    "not_an_integer": "#009e73",
    "missing_prefix": "#cc79a7",
    "not_single_line": "#882255",
    "extra_whitespace": "#56b4e9",
    "empty": "#f0e442",
    OTHER: "#bbbbbb",
}


def shift_curves(log: Sequence[ShiftRow], frozen: Mapping[str, Any], rubric: str) -> bytes:
    """Three panels over the steps: both pass rates, the outcomes, and the share that no frozen completion shows."""
    sheet = figure(7.6, 8.6)
    rates, outcomes, unseen = sheet.subplots(3, 1, sharex=True, height_ratios=(1, 1.15, 0.85))
    steps = [row.step for row in log]
    _draw_rates(rates, log, frozen)
    _draw_outcomes(outcomes, steps, outcome_shares([frozen, *(row.fresh for row in log)]))
    unseen.plot(steps, [row.unseen_text for row in log], "--", color=GREY, label="text not frozen\nfor its prompt")
    unseen.plot(
        steps, [row.outcome_distance for row in log], ":", color=ORANGE, label="outcomes differ\n(total variation)"
    )
    unseen.plot(steps, [row.unseen_shape for row in log], color=BLUE, label="shape of no\nfrozen completion")
    dress(unseen, f"step of training on {rubric}", "share of fresh completions")
    unseen.set_ylim(-0.02, 1.04)
    for axes in (rates, outcomes, unseen):
        beside = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False, "fontsize": 8}
        axes.legend(reverse=axes is outcomes, **beside)  # the stack is read from the top
    return png(sheet)


def outcome_shares(counts: Sequence[Mapping[str, Any]]) -> dict[str, list[float]]:
    """Outcome -> its share in each of some groups of completions. Those that are small everywhere are added up."""
    groups = [{outcome: count / one["n"] for outcome, count in one["outcomes"].items()} for one in counts]
    named = [name for name in COLOURS if max(group.get(name, 0.0) for group in groups) >= SMALL]
    shares = {name: [group.get(name, 0.0) for group in groups] for name in named}
    others = [sum(share for name, share in group.items() if name not in named) for group in groups]
    return shares | ({OTHER: others} if any(others) else {})


def _draw_rates(axes: "Axes", log: Sequence[ShiftRow], frozen: Mapping[str, Any]) -> None:
    steps = [row.step for row in log]
    fresh = [row.fresh["pass_rate"] for row in log]
    lows, highs = zip(*(row.fresh["pass_rate_ci95"] for row in log), strict=True)
    rate = frozen["pass_rate"]
    axes.fill_between(steps, rate, fresh, facecolor="none", edgecolor=GREY, hatch="///", linewidth=0, label="error")
    axes.axhspan(*frozen["pass_rate_ci95"], color=ORANGE, alpha=0.25, linewidth=0)
    axes.axhline(rate, color=ORANGE, label=f"frozen, n = {frozen['n']}")
    axes.fill_between(steps, lows, highs, color=BLUE, alpha=0.25, linewidth=0)
    axes.plot(steps, fresh, color=BLUE, label=f"fresh, n = {log[0].fresh['n']}")
    dress(axes, "", "pass rate (95 % interval)")
    axes.set_ylim(-0.02, min(1.02, 1.15 * max(*highs, frozen["pass_rate_ci95"][1])))


def _draw_outcomes(axes: "Axes", steps: Sequence[int], shares: Mapping[str, Sequence[float]]) -> None:
    """The outcomes of the frozen completions are a bar to the left of step 0."""
    last, bottom = steps[-1], 0.0
    for name, (share, *_) in shares.items():
        axes.bar(-0.07 * last, share, 0.06 * last, bottom, color=COLOURS[name], edgecolor="white", linewidth=0.6)
        bottom += share
    fresh, colours = [share[1:] for share in shares.values()], [COLOURS[name] for name in shares]
    axes.stackplot(steps, fresh, labels=list(shares), colors=colours, edgecolor="white", linewidth=0.6)
    axes.annotate("frozen", (-0.07 * last, 1.0), (0, 3), textcoords="offset points", ha="center", fontsize=8)
    dress(axes, "", "outcome of the strict scorer")
    axes.set_ylim(0, 1)
    axes.set_axisbelow(True)
