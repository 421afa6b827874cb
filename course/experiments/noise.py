"""Machinery: a verifier that errs at random, and one that errs by a rule.

Policies are trained on the strict scorer, then on the strict scorer with random errors at several rates, then on the
rubric ``anywhere``, which has one hole. The true reward is that of the strict scorer without errors. Random errors
strike each completion independently, so no policy can learn to cause them; a policy can find the hole.
"""

from collections.abc import Iterator, Mapping
from statistics import median
from textwrap import fill
from typing import Any

from course.artifacts.inference import TrainingLog, Trainings, column, median_rate, medians, rows_at
from course.artifacts.token_rows import STRICT, EvaluationRow
from course.experiments.driver import Experiment, Report
from course.policies.train_config import MEMORISE, TrainConfig
from course.show.figures import ORANGE, figure, label_axes, png
from course.show.tables import WIDTH, GrowingTable, interval, percent
from course.show.terminal import NOTHING_KEPT, show_each

BASE = MEMORISE._replace(holdout=None, steps=400, eval_every=50, samples=4)
CONFIGS = (
    BASE,
    BASE._replace(false_positives=0.1),
    BASE._replace(false_positives=0.3),
    BASE._replace(false_negatives=0.3),
    BASE._replace(false_positives=0.2, false_negatives=0.2),
    BASE._replace(false_positives=0.4, false_negatives=0.4),
    BASE._replace(false_positives=0.5, false_negatives=0.5),
    BASE._replace(rubric="anywhere"),
)

_ROWS = GrowingTable(
    ("verifier", "false +\nfirst", "\nlast", "false -", "true reward", "95 %"),
    ("anywhere", "", "", "", "100.0 %", "00.0 to 100.0"),
    (1, 2, 3, 4),
)
_LEGEND = (
    "coin: the strict scorer with random errors. false +: the share of wrong completions that the verifier pays, "
    "before (first) and after learning (last). false -: the share of right completions that the verifier does not pay. "
    "If the two rates add up to 1, a reward says nothing: the pushes are random, and after enough of them the policy "
    "loses what it had learned. Rates are medians over the seeds. The 95 % intervals are for sampling completions in "
    "one training, not for different trainings."
)


def name_of(config: TrainConfig) -> str:
    """The verifier with the rates of its random errors."""
    return f"{config.rubric}, false + {config.false_positives:g}, false - {config.false_negatives:g}"


def report(experiment: Experiment[EvaluationRow]) -> Report:
    """What was learned from each verifier."""
    shown = show_each(noise_text(experiment), NOTHING_KEPT)
    by_verifier = {config: experiment.logs(config) for config in experiment.configs}
    start, _ = median_rate(experiment.logs(experiment.configs[0]), 0)
    ending = f"\ntrue reward before learning: {percent(start)}"
    summary: dict[str, Any] = {}
    for config, logs in by_verifier.items():
        summary[name_of(config)] = {"true_reward": medians(logs, "true_reward")}
    return Report(shown, ending, {"noise.png": noise_figure(by_verifier)}, summary)


def noise_text(experiment: Experiment[EvaluationRow]) -> Iterator[str]:
    """The report part by part, up to its ending."""
    steps = experiment.configs[0].steps
    yield (
        "Loop C, learn: a verifier that errs at random, and one that errs by a rule.\n\n"
        f"one start a seed, {steps} updates each, seeds: {len(experiment.seeds)}\n\n{fill(_LEGEND, WIDTH)}"
    )
    yield f"\n{_ROWS.head()}"
    for config in experiment.configs:
        logs = experiment.logs(config)
        name = config.rubric
        if name == STRICT:
            errs = config.false_positives or config.false_negatives
            name = "coin" if errs else "strict"
        first, last = (percent(false_positive_share(rows_at(logs, place), config), 0) for place in (0, -1))
        rate, bounds = median_rate(logs, -1)
        missed = percent(config.false_negatives, 0)
        yield _ROWS.row((name, first, last, missed, percent(rate), interval(bounds).removesuffix(" %")))


def false_positive_share(rows: TrainingLog, config: TrainConfig) -> float:
    """Of what the strict scorer does not pay, the share that this verifier pays: counted, and then at random."""
    wrong = 1 - median(column(rows, "true_reward"))
    counted = 0.0
    if wrong:
        counted = median(row.hack_rate + row.other_form_rate for row in rows) / wrong
    return counted + (1 - counted) * config.false_positives


def noise_figure(by_verifier: Mapping[TrainConfig, Trainings]) -> bytes:
    """A line for each verifier, lighter for more random errors, orange for the hole."""
    from matplotlib import colormaps

    fig = figure(7.2, 3.9, "What was learned from verifiers that err")
    axes = fig.subplots()
    for config, logs in by_verifier.items():
        wrong, missed = config.false_positives, config.false_negatives
        steps, rates = medians(logs, "step"), medians(logs, "true_reward")
        if config.rubric != STRICT:
            axes.plot(steps, rates, color=ORANGE, linewidth=4, zorder=1, label=f"{config.rubric}: one hole")
            continue
        style = "-"
        if wrong and not missed:
            style = "--"
        elif missed and not wrong:
            style = ":"
        color = colormaps["Blues"](1 - 0.7 * (wrong + missed))
        axes.plot(steps, rates, style, color=color, label=f"false + {wrong:g}, false - {missed:g}")
    label_axes(axes, "updates", "true reward, strict scorer")
    fig.legend(*axes.get_legend_handles_labels(), loc="outside right center", frameon=False, fontsize=8)
    return png(fig)
