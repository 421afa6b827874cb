"""Machinery: the same task each time, on more and more of its prompts: from memorising to generalising.

The task is sums of two-digit numbers without a carry. Each policy is trained on the first N prompts of the dataset,
whose order is shuffled; the holdout is the same 300 prompts each time. A policy memorises a few prompts; from a
thousand it learns what also holds for others. The experiment shows the curve between the two.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import median, median_low
from textwrap import fill
from typing import NamedTuple

from course.artifacts.inference import Trainings, column, rows_at
from course.artifacts.token_rows import EvaluationRow
from course.datasets.records import Task
from course.errors import UserError
from course.experiments.driver import Experiment, Report
from course.policies.train_config import GENERALISE, TrainConfig
from course.show.figures import BLUE, GREY, ORANGE, figure, label_axes, legend_below, png
from course.show.tables import WIDTH, GrowingTable, interval, percent, table
from course.show.terminal import NOTHING_KEPT, show_each
from course.stats import wilson_interval
from course.text import clipped

BASE = GENERALISE._replace(steps=400, eval_every=50)
CONFIGS = tuple(BASE._replace(prompts=count) for count in (30, 100, 200, 400, 1000))

_ROWS = GrowingTable(
    ("prompts", "trained on", "visits", "pairs seen", "times"),
    ("1000", "100.0 %", "", "", ""),
    range(5),
)
_LEGEND = (
    "visits: how many updates chose each prompt (mean). pairs seen: the share of holdout prompts whose two digit pairs "
    "both occur in training prompts (the pairs of 25 + 73 are 2 with 7 and 5 with 3). times: in how many training "
    "prompts the rarer pair occurs (median)."
)


class CoveragePoint(NamedTuple):
    """All trainings on so many prompts, strictly scored: medians over the seeds, the lower of two in the middle."""

    prompts: int
    train: float  # pass rate on the prompts that it was trained on, at the end
    holdout: float
    holdout_ci95: tuple[float, float]  # Wilson's, of the median seed: what other prompts might have given
    holdout_each: list[float]  # seed by seed
    holdout_before: float  # of the reference policy
    pairs_seen: float  # share of the holdout's prompts of which training showed every digit pair
    times_seen: float  # how often training showed a prompt's rarest digit pair: median over the holdout


def name_of(config: TrainConfig) -> str:
    return f"{config.prompts} prompts"


def report(experiment: Experiment[EvaluationRow]) -> Report:
    """The pass rate on the prompts trained on and on the holdout, against the number of training prompts."""
    shown = show_each(coverage_text(experiment), NOTHING_KEPT)
    points = [point_of(experiment, config) for config in experiment.configs]
    figures = {"coverage.png": coverage_figure(points)}
    summary = {f"{point.prompts} prompts": point._asdict() for point in points}
    return Report(shown, coverage_ending(points), figures, summary)


def point_of(experiment: Experiment[EvaluationRow], config: TrainConfig) -> CoveragePoint:
    training = experiment.trainings[config][0]
    return coverage_point(experiment.logs(config), times_seen(training.examples, training.holdout))


def coverage_point(trainings: Trainings, times: Sequence[int]) -> CoveragePoint:
    """``times``: for each prompt of the holdout, how often training showed its rarest digit pair."""
    before, after = rows_at(trainings, 0), rows_at(trainings, -1)
    each = column(after, "holdout_true_reward")
    return CoveragePoint(
        prompts=after[0].n,
        train=median_low(column(after, "true_reward")),
        holdout=median_low(each),
        holdout_ci95=wilson_interval(round(median_low(each) * len(times)), len(times)),
        holdout_each=each,
        holdout_before=median_low(column(before, "holdout_true_reward")),
        pairs_seen=sum(time > 0 for time in times) / len(times),
        times_seen=median(times),
    )


def times_seen(training: Sequence[Task], unseen: Sequence[Task]) -> tuple[int, ...]:
    """For each unseen prompt: how many training prompts show the rarest of its digit pairs, at the same place.

    Without a carry a digit of the answer depends on one pair of digits, so 0 means that a digit was never taught. The
    order within a pair counts, because the policy reads 2 + 7 and 7 + 2 at different positions. Not covered: which
    pairs stood beside each other.
    """
    seen = Counter(pair for example in training for pair in digit_pairs(example["prompt"]))
    return tuple(min(seen[pair] for pair in digit_pairs(example["prompt"])) for example in unseen)


def digit_pairs(prompt: str) -> list[tuple[int, str, str]]:
    """The digits that are added up, with their place from the left: 25 + 73 → (0, "2", "7"), (1, "5", "3")."""
    numbers = re.search(r"([0-9]+) \+ ([0-9]+)", prompt)
    if numbers is None or len(numbers[1]) != len(numbers[2]):
        raise UserError(f"expected sums of two numbers of equal length, got '{clipped(prompt, 60)}'; restore data/")
    return [(place, a, b) for place, (a, b) in enumerate(zip(numbers[1], numbers[2], strict=True))]


def coverage_text(experiment: Experiment[EvaluationRow]) -> Iterator[str]:
    """The report part by part, up to its ending."""
    steps = experiment.configs[0].steps
    yield (
        "Loop C, learn: the same task each time, on more and more of its prompts.\n\n"
        f"rewarded by the strict scorer, {steps} updates each, seeds: {len(experiment.seeds)}\n\n{fill(_LEGEND, WIDTH)}"
    )
    yield f"\n{_ROWS.head()}"
    for config in experiment.configs:
        point = point_of(experiment, config)
        visits = config.steps * min(config.prompts_a_step, point.prompts) / point.prompts
        seen = percent(point.pairs_seen, 0)
        yield _ROWS.row((point.prompts, percent(point.train), f"{visits:.0f}", seen, f"{point.times_seen:g}"))


def coverage_ending(points: Sequence[CoveragePoint]) -> str:
    """The rates on the holdout, shown once the look at it is counted."""
    rows = [
        (point.prompts, percent(point.train), percent(point.holdout), interval(point.holdout_ci95)) for point in points
    ]
    head = table(("prompts", "trained on", "holdout", "95 % interval"), rows, right=range(4))
    return f"\n{head}\n\nIf the first rate is high and the rate on the holdout is low, the policy memorised."


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
    label_axes(axes, "training prompts", "pass rate, strict scorer")
    axes.set_xscale("log")
    axes.set_xticks(prompts, [str(count) for count in prompts])
    axes.set_xticks([], minor=True)
    legend_below(fig, 2)
    return png(fig)
