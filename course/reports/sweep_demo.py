"""Machinery: what course.sweep_demo prints and draws: a row and a line, or a point, for each setting of a sweep."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from textwrap import fill
from typing import NamedTuple

from course.artifacts.inference import CoveragePoint, TrainingLog, Trainings, coverage_point, median_of, medians
from course.artifacts.token_rows import STRICT
from course.policies.presets import Plan
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, legend_below, png
from course.reports.tables import WIDTH, GrowingTable, interval, percent, table
from course.stats import wilson_interval

_MEDIANS = "Medians over the seeds; intervals: 95 %, of sampling completions in one training, not of other trainings."


class Setting(NamedTuple):
    """One setting of a sweep: on how many prompts a policy is trained, with which rubric and plan.

    ``times``: coverage only, for each prompt of the holdout how often training shows its rarest digit pair.
    """

    name: str  # no two of a sweep share it
    prompts: int
    rubric: str
    plan: Plan
    times: tuple[int, ...] = ()


Trained = Callable[[Setting], Trainings]  # trains in this setting, when its row is due


class Report(NamedTuple):
    """How an experiment is printed. ``cells``: the row of a setting."""

    heading: str
    legend: str
    rows: GrowingTable
    cells: Callable[[Setting, Trained], Sequence[object]]


def sweep_text(experiment: str, settings: Sequence[Setting], trained: Trained, seeds: int) -> Iterator[str]:
    """The report part by part, up to its ending. What is corrected stands in the row of what it corrects."""
    heading, legend, rows, cells = REPORTS[experiment]
    how = f"{heading}, {settings[0].plan.steps} updates each, seeds: {seeds}"
    yield f"Loop C, learn: {how}\n\n{fill(legend, WIDTH)}"
    yield f"\n{rows.head()}"
    for setting in settings:
        if not setting.plan.corrected:
            yield rows.row(cells(setting, trained))


def sweep_ending(experiment: str, trainings: Mapping[Setting, Trainings]) -> str:
    """Of coverage what the holdout says, shown when the look at it is counted; of noise where all started."""
    if experiment == "coverage":
        points = [point_of(*one) for one in trainings.items()]
        rows = [(one.prompts, percent(one.train), percent(one.holdout), interval(one.holdout_ci95)) for one in points]
        head = table(("prompts", "trained on", "holdout", "95 % interval"), rows, right=range(4))
        return f"\n{head}\n\nA high rate on the prompts trained on and a low one on the holdout: memorised."
    if experiment == "verifier_noise":
        return f"\ntrue reward at the start, before learning: {rate(next(iter(trainings.values())), 0)[0]}"
    return ""


def sweep_figure(experiment: str, trainings: Mapping[Setting, Trainings]) -> bytes:
    """A line or a point for each setting; medians over the seeds."""
    if experiment == "coverage":
        return coverage_figure([point_of(*one) for one in trainings.items()])
    return start_figure(trainings) if experiment == "cold_start" else verifier_figure(trainings)


def rate(logs: Trainings, place: int) -> tuple[str, str]:
    """The pass rate of the median seed in an evaluation, and its interval."""
    rows = [log[place] for log in logs]
    share, n = median_of(rows, "true_reward"), rows[0].n
    return percent(share), interval(wilson_interval(round(share * n), n)).removesuffix(" %")


def start_cells(setting: Setting, trained: Trained) -> Sequence[object]:
    logs = trained(setting)
    equal = [percent(median_of([log[place] for log in logs], "equal_groups"), 0) for place in (1, -1)]
    return setting.plan.sft_steps, *rate(logs, 0), *rate(logs, -1), *equal


def start_figure(trainings: Mapping[Setting, Trainings]) -> bytes:
    """A line for each number of steps of fine-tuning, darker for more."""
    from matplotlib import colormaps

    fig = figure(9, 4, "The same learning from better and worse starts")
    left, right = fig.subplots(1, 2)
    for place, (setting, logs) in enumerate(trainings.items(), 1):
        line = {"color": colormaps["Blues"](0.25 + 0.75 * place / len(trainings)), "label": setting.name}
        steps = medians(logs, "step")
        left.plot(steps, medians(logs, "true_reward"), **line)
        right.plot(steps[1:], medians([log[1:] for log in logs], "equal_groups"), **line)
    dress(left, "updates", "pass rate, strict scorer")
    dress(right, "updates", "groups in which all rewards are equal")
    fig.legend(*left.get_legend_handles_labels(), title="fine-tuned for", loc="outside right center", frameon=False)
    return png(fig)


def point_of(setting: Setting, logs: Trainings) -> CoveragePoint:
    return coverage_point(logs, setting.times)


def coverage_cells(setting: Setting, trained: Trained) -> Sequence[object]:
    plan, point = setting.plan, point_of(setting, trained(setting))
    visits = f"{plan.steps * min(plan.prompts_a_step, point.prompts) / point.prompts:.0f}"
    return point.prompts, percent(point.train), visits, percent(point.pairs_seen, 0), f"{point.times_seen:g}"


def coverage_figure(points: Sequence[CoveragePoint]) -> bytes:
    """Pass rates at the end against the number of training prompts; the dots are the seeds, the bars Wilson's 95 %."""
    fig = figure(7.2, 4.6, "After the same training on more and more prompts")
    axes = fig.subplots()
    prompts = [point.prompts for point in points]
    lows, highs = zip(*(point.holdout_ci95 for point in points), strict=True)
    axes.plot(prompts, [point.train for point in points], "o-", color=ORANGE, label="prompts that it was trained on")
    axes.plot(prompts, [point.holdout for point in points], "o-", color=BLUE, label="holdout, with 95 % interval")
    axes.vlines(prompts, lows, highs, color=BLUE, linewidth=1.2)
    axes.plot(prompts, [point.holdout_each for point in points], ".", color=BLUE, markersize=3)
    axes.plot(prompts, [point.holdout_before for point in points], color=GREY, label="holdout, before learning")
    pairs_seen = [point.pairs_seen for point in points]
    axes.plot(prompts, pairs_seen, ":", color=GREY, label="share of the holdout whose digit pairs were all seen")
    dress(axes, "training prompts", "pass rate, strict scorer")
    axes.set_xscale("log")
    axes.set_xticks(prompts, [str(count) for count in prompts])
    axes.set_xticks([], minor=True)
    legend_below(fig, 2)
    return png(fig)


def verifier_cells(setting: Setting, trained: Trained) -> Sequence[object]:
    plan, logs, other = setting.plan, trained(setting), with_correction(setting)
    strict = "coin" if plan.false_positives + plan.false_negatives else "strict"
    return (
        strict if setting.rubric == STRICT else setting.rubric,
        *(percent(false_positive_share([log[place] for log in logs], plan), 0) for place in (0, -1)),
        percent(plan.false_negatives, 0),
        *rate(logs, -1),
        rate(trained(other), -1)[0] if other else "-",
    )


def false_positive_share(rows: TrainingLog, plan: Plan) -> float:
    """Of what the strict scorer does not pay, the share that this verifier pays: counted, and then at random."""
    wrong = 1 - median_of(rows, "true_reward")
    counted = median_of(rows, "gap") / wrong if wrong else 0.0
    return counted + (1 - counted) * plan.false_positives


def verifier_name(rubric: str, plan: Plan) -> str:
    """The verifier with its random errors."""
    rates = f"false + {plan.false_positives:g}, false - {plan.false_negatives:g}"
    return f"{rubric}, {rates}{', corrected' if plan.corrected else ''}"


def with_correction(setting: Setting) -> Setting | None:
    """The same on rewards corrected for the random errors; None where there are none, or they cannot be corrected."""
    plan = setting.plan._replace(corrected=True)
    able = 0 < plan.false_positives + plan.false_negatives < 1
    return setting._replace(name=verifier_name(setting.rubric, plan), plan=plan) if able else None


def verifier_figure(trainings: Mapping[Setting, Trainings]) -> bytes:
    """A line for each verifier, lighter for more random errors, orange for the hole."""
    from matplotlib import colormaps

    fig = figure(9.2, 3.9, "What was learned from verifiers that err")
    panels = fig.subplots(1, 2, sharex=True, sharey=True)
    for setting, logs in trainings.items():
        wrong, missed = setting.plan.false_positives, setting.plan.false_negatives
        line = {"color": ORANGE, "linewidth": 4, "zorder": 1, "label": f"{setting.rubric}: one hole"}
        if setting.rubric == STRICT:
            style = "--" if not missed and wrong else ":" if not wrong and missed else "-"
            label = f"false + {wrong:g}, false - {missed:g}"
            line = {"color": colormaps["Blues"](1 - 0.7 * (wrong + missed)), "linestyle": style, "label": label}
        one = panels[int(setting.plan.corrected)]
        for axes in [one] if wrong + missed else panels:  # without errors there is nothing to correct: it is in both
            axes.plot(medians(logs, "step"), medians(logs, "true_reward"), **line)
    for axes, title in zip(panels, ("rewards as they are paid", "rewards corrected for the errors"), strict=True):
        dress(axes, "updates", "true reward, strict scorer", title)
    fig.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    return png(fig)


REPORTS = {
    "cold_start": Report(
        "the same learning from several starts.\n\nstrict scorer",
        "equal: the share of groups in which all rewards are equal, all 0 or all 1, so that nothing is pushed; up to "
        "the first evaluation, and since the last but one. Starts of one pass rate may end apart: what counts is in "
        f"how many groups there is anything to compare. {_MEDIANS}",
        GrowingTable(
            ("steps of\nfine-tuning", "start", "95 %", "end", "95 %", "equal\nfirst", "\nlast"),
            ("", *("100.0 %", "00.0 to 100.0") * 2, "100 %", "100 %"),
            (0, 1, 3, 5, 6),
        ),
        start_cells,
    ),
    "coverage": Report(
        "the same task each time, on more and more of its prompts.\n\nrewarded by the strict scorer",
        "visits: how often an update chose each prompt (mean). pairs seen: the share of the holdout whose tens and "
        "whose ones each stand together in some training prompt (of 25 + 73: 2 with 7, 5 with 3). times: in how many, "
        "for the rarer of the two (median).",
        GrowingTable(
            ("prompts", "trained on", "visits", "pairs seen", "times"), ("1000", "100.0 %", *[""] * 3), range(5)
        ),
        coverage_cells,
    ),
    "verifier_noise": Report(
        "a verifier that errs at random, and one that errs by a rule.\n\none start a seed",
        "coin: the strict scorer with random errors. false +: the share of wrong completions that the verifier pays, "
        "before and after learning; false -: the share of right ones that it does not. corrected: trained on (reward "
        "- false +) / (1 - false + - false -) instead, which against the mean of a group is a larger step and nothing "
        "else. Where the rates add up to 1 a reward says nothing: the pushes are random, and after enough of them what "
        "the policy could is lost; a step made too large by the correction does the same. " + _MEDIANS,
        GrowingTable(
            ("verifier", "false +\nfirst", "\nlast", "false -", "true reward", "95 %", "corrected"),
            ("anywhere", "", "", "", "100.0 %", "00.0 to 100.0", "100.0 %"),
            (1, 2, 3, 4, 6),
        ),
        verifier_cells,
    ),
}
