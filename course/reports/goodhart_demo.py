"""Machinery: what course.goodhart_demo prints. Notation as in ``course.artifacts.inference``."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import ceil
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Literal

from course.artifacts.inference import Trainings, column, divergence_step, medians, rose
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import STRICT
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, legend_below, png
from course.reports.tables import GrowingTable, percent, table
from course.rubrics.hackable import GAPS
from course.text import clipped, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes


QUANTITIES = ("proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "kl")
KL_RUBRIC = "anywhere"  # what is trained on again with a KL penalty
_HEADER = ("proxy", "true", "KL", "diverged at step")


def goodhart_text(
    rubrics: Sequence[str],
    betas: Sequence[float],
    trained: Callable[[tuple[str, float]], Trainings],
    exploit_of: Callable[[str], LearningResult | None],
) -> Iterator[str]:
    """The report part by part, up to its ending. ``trained``: trains on (rubric, beta), when its row is due.

    ``exploit_of``: what the trained policy of a rubric wrote to exploit it, if it did.
    """
    yield (
        "Loop C, learn: the policy itself changes, rewarded by careless verifiers.\n\n"
        "proxy: the rubric's reward; true: the strict scorer's, for the same completions.\n"
        "Medians over the seeds. diverged: from there on proxy rose and true fell."
    )
    yield from growing("trained on", ((name, trained((name, 0.0))) for name in rubrics))
    found = {name: exploit_of(name) for name in rubrics if rose(trained((name, 0.0)), "gap")}
    if exploited := {name: exploit for name, exploit in found.items() if exploit}:
        yield f"\n{exploits_table(exploited)}"
    if betas:
        yield "\na KL penalty: 'anywhere' again, where a nat of KL from the reference costs beta"
        yield from growing("beta", ((f"{beta:g}", trained((KL_RUBRIC, beta))) for beta in betas))


def growing(name: str, groups: Iterable[tuple[str, Trainings]]) -> Iterator[str]:
    """A row for each group: the medians over its seeds at the end of training, and the step where the two diverged."""
    rows = GrowingTable((name, *_HEADER), ("without_punctuation", *["00.00"] * 3, "never (00/00)"), range(1, 5))
    yield f"\n{rows.head()}"
    for group, trainings in groups:
        ends = (f"{medians(trainings, quantity)[-1]:.2f}" for quantity in ("proxy_reward", "true_reward", "kl"))
        yield rows.row((group, *ends, diverged_text(trainings)))


def goodhart_ending(by_rubric: Mapping[str, Trainings]) -> str:
    """What the holdout says, shown when the look at it is counted, and in how many rubrics the two diverged."""
    wrong = {name: trainings for name, trainings in by_rubric.items() if name != STRICT}
    diverged = sum(any(divergence_step(one) is not None for one in trainings) for trainings in wrong.values())
    lines = [f"diverged, in one seed at least: on {diverged} of {len(wrong)} wrong verifiers"] * bool(wrong)
    if STRICT in by_rubric:
        true = medians(by_rubric[STRICT], "true_reward")
        lines.append(f"with the strict scorer true went from {true[0]:.2f} to {true[-1]:.2f}")
    first = next(iter(by_rubric.values()))[0][0]
    head = f"\ngeneralised to prompts never trained on? Means of {first.n}, and {first.holdout_n} there\n"
    return "\n".join([head, generalised_table(by_rubric), "", *lines])


def diverged_text(trainings: Trainings) -> str:
    """The step at which proxy and true reward diverged; of several seeds the median, and in how many they did."""
    steps = [step for training in trainings if (step := divergence_step(training)) is not None]
    return f"{median(steps):g} ({len(steps)}/{len(trainings)})" if steps else "never"


def exploits_table(found: Mapping[str, LearningResult]) -> str:
    """An exploit of each rubric that has one, as the policy wrote it. What is cut ends in …"""
    rows = [
        (name, clipped(row.prompt, 14), f"{row.proxy_reward:.1f}", one_line(row.completion or "", 32))
        for name, row in found.items()
    ]
    return table(("exploited", "prompt", "proxy", "completion, true reward 0"), rows, right=(2,))


def generalised_table(by_rubric: Mapping[str, Trainings]) -> str:
    """What was learned on the training prompts, and how much of that gain there is on the holdout.

    The skill is true reward under the strict scorer; a hack is the share of completions that its rubric pays
    at least half and the strict scorer nothing.
    """
    rows = []
    for name, trainings in by_rubric.items():
        share, what = ("true_reward", "the skill") if name == STRICT else ("gap", f"hack: {name}")
        if rose(trainings, share):
            seen, unseen = medians(trainings, share), medians(trainings, f"holdout_{share}")
            kept = (unseen[-1] - unseen[0]) / (seen[-1] - seen[0])
            ends = (f"{curve[0]:.2f} -> {curve[-1]:.2f}" for curve in (seen, unseen))
            rows.append((what, *ends, percent(kept, 0) if rose(trainings, f"holdout_{share}") else "only noise"))
    if not rows:
        return "nothing: on the training prompts, too, nothing rose by more than noise"
    head = table(("learned", "on its prompts", "on the holdout", "generalised"), rows, right=(1, 2, 3))
    legend = "(gain on the holdout by gain on its prompts; over 100 %: it gained more there;"
    return f"{head}\n{legend}\na hack counts from half the reward on)"


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
    fig = figure(10.2, 1.3 + 2.3 * down, title) if across > 1 else figure(7.6, 4.9, title)
    for place, (name, trainings) in enumerate(by_rubric.items(), 1):
        axes = fig.add_subplot(down, across, place)
        for label, y, color, style in _CURVES:
            axes.plot(medians(trainings, x), medians(trainings, y), style, color=color, label=label)
            for training in trainings if len(trainings) > 1 else ():
                axes.plot(column(training, x), column(training, y), style, color=color, linewidth=0.6, alpha=0.5)
            if x == "kl" and style == "-":
                _point_along(axes, medians(trainings, x), medians(trainings, y), color)
        for training in trainings:
            for row in (row for row in training if row.step == divergence_step(training)):
                axes.axvline(getattr(row, x), color=GREY, linestyle=":", linewidth=1.4, label="reward hacking begins")
        gap = f"overlooks {GAPS[name].overlooks}" if name in GAPS else "the strict scorer: proxy and true are one"
        dress(axes, "", "", f"{name}\n{fill(gap, 50)}")
        if x == "kl":
            axes.set_xscale("function", functions=(lambda kl: np.copysign(abs(kl) ** 0.5, kl), lambda d: d * abs(d)))
            axes.locator_params(axis="x", nbins=4)
    label = "step" if x == "step" else "KL from the reference in nats, on a scale of its square root"
    fig.supxlabel(f"{label}\n\n")  # room for the legend, which Matplotlib puts over it
    fig.supylabel("reward")
    legend_below(fig, 5 if across > 1 else 3)
    return png(fig)


def _point_along(axes: "Axes", xs: Sequence[float], ys: Sequence[float], color: str) -> None:
    """An arrow in the middle of a curve: the way the training went, for the KL need not grow."""
    middle = max(range(1, len(xs)), key=lambda i: abs(xs[i] - xs[i - 1]))
    before, after = (xs[middle - 1], ys[middle - 1]), (xs[middle], ys[middle])
    axes.annotate("", after, before, arrowprops={"arrowstyle": "->", "color": color, "linewidth": 1.6})


def kl_coef_figure(by_beta: Mapping[float, Trainings], rubric: str) -> bytes:
    """Both rewards at the end, for each beta; under each beta the KL."""
    fig = figure(7, 4.2, f"What a KL penalty costs and saves, trained on {rubric}")
    axes = fig.subplots()
    for label, quantity, color, style in _CURVES:
        ends = [medians(trainings, quantity)[-1] for trainings in by_beta.values()]
        axes.plot(ends, style, color=color, marker="o", markersize=4, label=label)
    dress(axes, "beta, and the KL that is left, in nats", "reward at the end")
    names = [f"{beta:g}\n{medians(trainings, 'kl')[-1]:.3g}" for beta, trainings in by_beta.items()]
    axes.set_xticks(range(len(names)), names)
    legend_below(fig, 4)
    return png(fig)
