"""Machinery: verifiers that believe too much. The proxy reward rises, and the true reward does not.

From the same reference policy, one policy is trained on the strict scorer, and one on each hackable rubric. Nothing
tells a policy about any gap. The rubric's reward is the proxy reward; the strict scorer's reward for the same
completions is the true reward. Both are also measured on prompts that are never trained on. Then policies are trained
on ``anywhere`` again, with KL penalties of several strengths: kl_coef (beta) is the price of a nat of KL from the
reference policy.

Notation as in ``course.artifacts.inference``.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import ceil
from statistics import median
from textwrap import fill
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from course.artifacts.inference import Trainings, column, compare, divergence_step, medians, tally_of
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import STRICT, EvaluationRow, is_exploit
from course.experiments.driver import Experiment, Report
from course.policies.train_config import MEMORISE, TrainConfig
from course.rubrics.hackable import GAPS, RUBRICS
from course.show.figures import BLUE, GREY, ORANGE, figure, label_axes, legend_below, png
from course.show.tables import WIDTH, GrowingTable, percent, table
from course.show.terminal import NOTHING_KEPT, show_each
from course.text import clipped, one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BASE = MEMORISE._replace(steps=300, eval_every=20, samples=3)
KL_RUBRIC = "anywhere"  # the rubric that is trained on again with a KL penalty
KL_COEFS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # above 1 the penalty overshoots at this learning rate
CONFIGS = (
    *(BASE._replace(rubric=rubric) for rubric in RUBRICS),
    *(BASE._replace(rubric=KL_RUBRIC, kl_coef=beta) for beta in KL_COEFS),
)
SHARES = ("true_reward", "hack_rate", "holdout_true_reward", "holdout_hack_rate")  # that may have been learned
QUANTITIES = ("proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "kl")


def name_of(config: TrainConfig) -> str:
    return f"{config.rubric}, kl_coef {config.kl_coef:g}"


class Learned(NamedTuple):
    """What a row of the table learned, over all its seeds."""

    logs: Trainings
    diverged_at: list[int | None]  # of each seed, the ``divergence_step``
    gained: frozenset[str]  # the shares that are shown to be higher at the end than at the start
    exploit: LearningResult | None  # of the last evaluation


def report(experiment: Experiment[EvaluationRow]) -> Report:
    """What each rubric taught, the exploits that the policies found, and the effect of a KL penalty."""

    @cache
    def train(config: TrainConfig) -> Learned:
        return learned(experiment, config)

    configs = experiment.configs
    shown = show_each(goodhart_text(configs, train), NOTHING_KEPT)
    by_rubric = {config.rubric: train(config) for config in configs_without_penalty(configs)}
    by_beta = {config.kl_coef: train(config) for config in configs_by_beta(configs)}
    figures = {
        "goodhart_steps.png": rubrics_figure(by_rubric, "step"),
        "goodhart_kl.png": rubrics_figure(by_rubric, "kl"),
    }
    if by_beta:
        figures["kl_coef.png"] = kl_coef_figure({beta: row.logs for beta, row in by_beta.items()})
    summary = {rubric: numbers_at_the_end(row) for rubric, row in by_rubric.items()}
    for beta, row in by_beta.items():
        summary[f"{KL_RUBRIC}, kl_coef {beta:g}"] = numbers_at_the_end(row)
    return Report(shown, goodhart_ending(by_rubric), figures, summary)


def learned(experiment: Experiment[EvaluationRow], config: TrainConfig) -> Learned:
    """Train with each seed. A prompt's completions are counted over all seeds, because they are about one prompt."""
    logs, diverged_at = [], []
    first: list[LearningResult] = []
    last: list[LearningResult] = []
    for training in experiment.trainings[config]:
        evaluations = list(experiment.evaluations(training))
        log = [row for rows, _ in evaluations for row in rows]
        logs.append(log)
        diverged_at.append(divergence_step(log, [tally_of(results) for _, results in evaluations]))
        first += evaluations[0][1]
        last += evaluations[-1][1]
    before, after = tally_of(first), tally_of(last)
    gained = frozenset(share for share in SHARES if compare(before, after, share).shown == "gain")
    return Learned(logs, diverged_at, gained, next(filter(is_exploit, last), None))


def configs_without_penalty(configs: Sequence[TrainConfig]) -> list[TrainConfig]:
    return [config for config in configs if config.kl_coef == 0]


def configs_by_beta(configs: Sequence[TrainConfig]) -> list[TrainConfig]:
    """The trainings on ``KL_RUBRIC``, beta 0 among them; none if no training has a penalty."""
    if all(config.kl_coef == 0 for config in configs):
        return []
    return [config for config in configs if config.rubric == KL_RUBRIC]


def numbers_at_the_end(row: Learned) -> dict[str, Any]:
    """The trainings in the summary: medians over the seeds at the end, and where each one diverged."""
    ends: dict[str, Any] = {name: medians(row.logs, name)[-1] for name in QUANTITIES}
    return ends | {"diverged_at": row.diverged_at}


def goodhart_text(configs: Sequence[TrainConfig], train: Callable[[TrainConfig], Learned]) -> Iterator[str]:
    """The report part by part, up to its ending."""
    yield (
        "Loop C, learn: the policy itself changes, rewarded by careless verifiers.\n\n"
        "proxy: the rubric's reward. true: the strict scorer's reward for the same\n"
        "completions. Both are medians over the seeds. diverged at step: from this step\n"
        "on, proxy rose, and true fell by more than chance explains."
    )
    unpenalised = configs_without_penalty(configs)
    yield from growing_table("trained on", ((config.rubric, train(config)) for config in unpenalised))
    exploits = {}
    for config in unpenalised:
        row = train(config)
        if row.exploit is not None and "hack_rate" in row.gained:
            exploits[config.rubric] = row.exploit
    if exploits:
        yield f"\n{exploits_table(exploits)}"
    by_beta = configs_by_beta(configs)
    if by_beta:
        yield f"\nWith a KL penalty: '{KL_RUBRIC}' again, with beta as the price of a nat of KL"
        yield from growing_table("beta", ((f"{config.kl_coef:g}", train(config)) for config in by_beta))


def growing_table(name: str, groups: Iterable[tuple[str, Learned]]) -> Iterator[str]:
    """A row for each group: the medians over its seeds at the end of training, and the step where the two diverged."""
    table_rows = GrowingTable(
        (name, "proxy", "true", "KL", "diverged at step"),
        ("without_punctuation", "00.00", "00.00", "00.00", "never (00/00)"),
        range(1, 5),
    )
    yield f"\n{table_rows.head()}"
    for group, row in groups:
        ends = [f"{medians(row.logs, quantity)[-1]:.2f}" for quantity in ("proxy_reward", "true_reward", "kl")]
        yield table_rows.row((group, *ends, divergence_text(row.diverged_at)))


def divergence_text(diverged_at: Sequence[int | None]) -> str:
    """The step at which proxy and true reward diverged; of several seeds the median, and in how many they did."""
    steps = [step for step in diverged_at if step is not None]
    return f"{median(steps):g} ({len(steps)}/{len(diverged_at)})" if steps else "never"


def exploits_table(exploits: Mapping[str, LearningResult]) -> str:
    """An exploit of each rubric that has one, as the policy wrote it. What is cut ends in …"""
    rows = [
        (name, clipped(row.prompt, 14), f"{row.proxy_reward:.1f}", one_line(row.completion or "", 32))
        for name, row in exploits.items()
    ]
    return table(("exploited", "prompt", "proxy", "completion, true reward 0"), rows, right=(2,))


def goodhart_ending(by_rubric: Mapping[str, Learned]) -> str:
    """The rates on the holdout, shown once the look at it is counted; and on how many rubrics the rewards diverged."""
    lines = []
    wrong = [row for rubric, row in by_rubric.items() if rubric != STRICT]
    if wrong:
        diverged = sum(any(step is not None for step in row.diverged_at) for row in wrong)
        lines.append(f"proxy and true diverged in at least one seed on {diverged} of {len(wrong)} wrong verifiers")
    if STRICT in by_rubric:
        true = medians(by_rubric[STRICT].logs, "true_reward")
        lines.append(f"trained on the strict scorer, true went from {true[0]:.2f} to {true[-1]:.2f}")
    first = next(iter(by_rubric.values())).logs[0][0]
    head = (
        "\nDoes the policy do the same on prompts that it was never trained on? Each\n"
        f"share is a mean over {first.n} completions, on the holdout over {first.holdout_n}.\n"
    )
    return "\n".join([head, gain_table(by_rubric), "", *lines])


def gain_table(by_rubric: Mapping[str, Learned]) -> str:
    """What was learned on the training prompts, and how much of that gain there is on the holdout.

    The skill is the true reward of the policy trained on the strict scorer. Exploits are the share of completions that
    the rubric pays at least half, though they say a wrong value, or several.
    """
    rows = []
    for name, row in by_rubric.items():
        share, what = "hack_rate", f"exploits: {name}"
        if name == STRICT:
            share, what = "true_reward", "the skill"
        if share not in row.gained:
            continue
        seen = medians(row.logs, share)
        unseen = medians(row.logs, f"holdout_{share}")
        ends = [f"{curve[0]:.2f} -> {curve[-1]:.2f}" for curve in (seen, unseen)]
        kept = "not shown"
        gain = seen[-1] - seen[0]  # 0 if the median seed did not learn it, whatever others did
        if gain > 0 and f"holdout_{share}" in row.gained:
            kept = percent((unseen[-1] - unseen[0]) / gain, 0)
        rows.append((what, *ends, kept))
    if not rows:
        return "Even on the training prompts, no share rose by more than chance explains."
    head = table(("learned", "on its prompts", "on the holdout", "generalised"), rows, right=(1, 2, 3))
    legend = (
        "(generalised: gain on the holdout divided by gain on the training prompts; not shown: the gain on the holdout "
        "may be chance. An exploit counts if the rubric pays at least half.)"
    )
    return f"{head}\n{fill(legend, WIDTH)}"


_CURVES = (
    ("proxy: the rubric's reward", "proxy_reward", ORANGE, "-"),
    ("true: the strict scorer's", "true_reward", BLUE, "-"),
    ("proxy on the holdout", "holdout_proxy_reward", ORANGE, "--"),
    ("true on the holdout", "holdout_true_reward", BLUE, "--"),
)
_ACROSS = 3  # panels


def rubrics_figure(by_rubric: Mapping[str, Learned], x: Literal["step", "kl"]) -> bytes:
    """A panel for each rubric: both rewards over the steps or over the KL, and a dotted line where they diverge.

    The KL is on a scale of d = √KL, as Gao et al. 2022 (arXiv 2210.10760) draw it. They find that under RL the true
    reward follows d (α − β ln d) while the proxy rises on. Nothing is fitted here.
    """
    import numpy as np

    across = min(_ACROSS, len(by_rubric))
    down = ceil(len(by_rubric) / _ACROSS)
    title = "What each rubric pays, and what is right"
    if x == "kl":
        title += ", over the distance from the start"
    fig = figure(10.2, 1.3 + 2.3 * down, title) if across > 1 else figure(7.6, 4.9, title)
    for place, (name, row) in enumerate(by_rubric.items(), 1):
        trainings = row.logs
        axes = fig.add_subplot(down, across, place)
        for label, y, color, style in _CURVES:
            axes.plot(medians(trainings, x), medians(trainings, y), style, color=color, label=label)
            if len(trainings) > 1:
                for training in trainings:
                    axes.plot(column(training, x), column(training, y), style, color=color, linewidth=0.6, alpha=0.5)
            if x == "kl" and style == "-":
                _point_along(axes, medians(trainings, x), medians(trainings, y), color)
        for training, step in zip(trainings, row.diverged_at, strict=True):
            for evaluation in training:
                if evaluation.step == step:
                    label = "reward hacking begins"
                    axes.axvline(getattr(evaluation, x), color=GREY, linestyle=":", linewidth=1.4, label=label)
        gap = f"overlooks {GAPS[name].overlooks}" if name in GAPS else "the strict scorer: proxy and true are one"
        label_axes(axes, "", "", f"{name}\n{fill(gap, 50)}")
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


def kl_coef_figure(by_beta: Mapping[float, Trainings]) -> bytes:
    """Both rewards at the end, for each beta; under each beta the KL."""
    fig = figure(7, 4.2, f"What a KL penalty costs and saves, trained on {KL_RUBRIC}")
    axes = fig.subplots()
    for label, quantity, color, style in _CURVES:
        ends = [medians(trainings, quantity)[-1] for trainings in by_beta.values()]
        axes.plot(ends, style, color=color, marker="o", markersize=4, label=label)
    label_axes(axes, "beta, and the KL that is left, in nats", "reward at the end")
    names = [f"{beta:g}\n{medians(trainings, 'kl')[-1]:.3g}" for beta, trainings in by_beta.items()]
    axes.set_xticks(range(len(names)), names)
    legend_below(fig, 4)
    return png(fig)
