"""Machinery: the same learning from better and worse starts, fine-tuned on demonstrations for more and more steps.

A reward teaches something only if some completions of a prompt are paid and others are not. The report therefore also
shows the share of groups in which all rewards are equal, so that the group teaches nothing.
"""

from collections.abc import Iterator, Mapping
from statistics import median
from textwrap import fill
from typing import Any

from course.artifacts.inference import Trainings, column, median_rate, medians, rows_at
from course.artifacts.token_rows import EvaluationRow
from course.experiments.driver import Experiment, Report
from course.policies.train_config import MEMORISE, TrainConfig
from course.show.figures import figure, label_axes, png
from course.show.tables import WIDTH, GrowingTable, interval, percent
from course.show.terminal import NOTHING_KEPT, show_each

BASE = MEMORISE._replace(holdout=None, steps=600, eval_every=50, samples=4)
CONFIGS = tuple(BASE._replace(sft_steps=steps) for steps in (0, 50, 100, 200, 400, 800))

_ROWS = GrowingTable(
    ("steps of\nfine-tuning", "start", "95 %", "end", "95 %", "equal\nfirst", "\nlast"),
    ("", "100.0 %", "00.0 to 100.0", "100.0 %", "00.0 to 100.0", "100 %", "100 %"),
    (0, 1, 3, 5, 6),
)
_LEGEND = (
    "equal: the share of groups in which all rewards are equal (all 0 or all 1), so that the group teaches nothing; "
    "first: up to the first evaluation, last: since the last evaluation but one. Two starts with the same pass rate "
    "may end differently, because only groups with different rewards teach anything. Rates are medians over the seeds. "
    "The 95 % intervals are for sampling completions in one training, not for different trainings."
)


def name_of(config: TrainConfig) -> str:
    return f"{config.sft_steps} steps"


def report(experiment: Experiment[EvaluationRow]) -> Report:
    """Start and end of each training, and how many groups had nothing to compare."""
    shown = show_each(cold_start_text(experiment), NOTHING_KEPT)
    by_steps = {config.sft_steps: experiment.logs(config) for config in experiment.configs}
    figures = {"cold_start.png": cold_start_figure(by_steps)}
    summary: dict[str, Any] = {}
    for steps, logs in by_steps.items():
        summary[f"{steps} steps"] = {"true_reward": medians(logs, "true_reward")}
    return Report(shown, "", figures, summary)


def cold_start_text(experiment: Experiment[EvaluationRow]) -> Iterator[str]:
    """The report part by part."""
    steps = experiment.configs[0].steps
    yield (
        "Loop C, learn: the same learning from several starts.\n\n"
        f"strict scorer, {steps} updates each, seeds: {len(experiment.seeds)}\n\n{fill(_LEGEND, WIDTH)}"
    )
    yield f"\n{_ROWS.head()}"
    for config in experiment.configs:
        logs = experiment.logs(config)
        cells: list[object] = [config.sft_steps]
        for place in (0, -1):
            rate, bounds = median_rate(logs, place)
            cells += [percent(rate), interval(bounds).removesuffix(" %")]
        for place in (1, -1):
            cells.append(percent(median(column(rows_at(logs, place), "equal_groups")), 0))
        yield _ROWS.row(cells)


def cold_start_figure(by_steps: Mapping[int, Trainings]) -> bytes:
    """A line for each number of steps of fine-tuning, darker for more."""
    from matplotlib import colormaps

    fig = figure(9, 4, "The same learning from better and worse starts")
    left, right = fig.subplots(1, 2)
    for place, (sft_steps, logs) in enumerate(by_steps.items(), 1):
        color = colormaps["Blues"](0.25 + 0.75 * place / len(by_steps))
        label = f"{sft_steps} steps"
        steps = medians(logs, "step")
        left.plot(steps, medians(logs, "true_reward"), color=color, label=label)
        right.plot(steps[1:], medians([log[1:] for log in logs], "equal_groups"), color=color, label=label)
    label_axes(left, "updates", "pass rate, strict scorer")
    label_axes(right, "updates", "groups in which all rewards are equal")
    fig.legend(*left.get_legend_handles_labels(), title="fine-tuned for", loc="outside right center", frameon=False)
    return png(fig)
