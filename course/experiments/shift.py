"""Machinery: learning leaves its data behind. How well do frozen completions describe a policy that has learned since?

Before the first update 8 completions of each prompt are sampled and kept. Then the policy learns from the rewards of
the rubric ``anywhere``, as in ``token_train --preset memorise --rubric anywhere``. On the way the strict scorer
measures the frozen completions, whose pass rate never changes, and fresh completions of the current policy, which may
have shapes that no frozen completion has.

Covered
    Both rates have a Wilson interval over single completions. The interval holds for these prompts, and is a little too
    wide, because prompts differ: Σ p(1 − p) is at most n · mean p · (1 − mean p).
Not covered
    Other prompts. What happens between evaluations. A correction of the frozen estimate by importance weights, which
    needs frozen completions of the kind that the policy writes now.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from course.artifacts.inference import TrainingLog
from course.artifacts.learning_rows import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.summary import summary_of
from course.artifacts.token_rows import EvaluationRow, proxy_of
from course.experiments.driver import Evaluation, Experiment, Report, Training, evaluate
from course.policies.train_config import MEMORISE, TrainConfig
from course.show.figures import BLUE, ORANGE, figure, label_axes, png
from course.show.tables import GrowingTable, interval, percent, table, text_shape
from course.show.terminal import NOTHING_KEPT, show_each
from course.stats import wilson_interval
from course.text import one_line

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.token_policy import Policy

CONFIGS = (MEMORISE._replace(holdout=None, rubric="anywhere", steps=150, eval_every=5),)
FROZEN = 8  # completions of each prompt, sampled before the first update

_ROWS = GrowingTable(
    ("step", "fresh", "95 % interval", "error of frozen", "in an unseen shape"),
    ("", "100.0 %", "00.0 to 100.0 %", "", ""),
    range(5),
)


def name_of(_: TrainConfig) -> str:
    return "fresh"


def measure(reference: Policy, training: Training) -> Iterator[Evaluation[EvaluationRow]]:
    """Every evaluation of the training; the first also has the frozen completions."""
    frozen = freeze(reference, training)
    for rows, results in evaluate(reference, training):
        yield rows, frozen + results
        frozen = []


def freeze(reference: Policy, training: Training) -> list[LearningResult]:
    """FROZEN completions of each prompt, of the policy that training starts from, with the strict scorer's rewards."""
    from course.policies.token_learner import generator
    from course.policies.token_policy import sample_texts

    repeated = [example for example in training.examples for _ in range(FROZEN)]
    (rng,) = generator(training.seed, "evaluation").spawn(1)  # the evaluations' own draws would freeze those of step 0
    texts = sample_texts(reference, [example["prompt"] for example in repeated], rng)
    pairs = zip(repeated, texts, strict=True)
    return [learning_result(example, text, 0, training="frozen", split="train") for example, text in pairs]


def report(experiment: Experiment[EvaluationRow]) -> Report:
    """The frozen rate beside the fresh ones, row by row, and what the trained policy writes."""
    ((training,),) = experiment.trainings.values()
    log: list[EvaluationRow] = []
    unseen: list[list[LearningResult]] = []  # of each evaluation, what has a shape that no frozen completion has
    shown: list[str] = []
    for (row,), results in experiment.evaluations(training):
        fresh = [result for result in results if result.training != "frozen"]
        if not log:
            kept = [result for result in results if result.training == "frozen"]
            frozen = summary_of(Counter(result.details.outcome for result in kept))
            known_shapes = {text_shape(result.completion or "") for result in kept}
            shown += show_each(shift_heading(training.config.rubric, frozen), NOTHING_KEPT)
        log.append(row)
        unseen.append([result for result in fresh if text_shape(result.completion or "") not in known_shapes])
        if is_shown(len(log) - 1) or row.step == training.config.steps:
            shown += show_each([shift_row(row, frozen, len(unseen[-1]))])
    summary = {
        "frozen_pass_rate": frozen["pass_rate"],
        "fresh_pass_rate": log[-1].true_reward,
        "error": frozen["pass_rate"] - log[-1].true_reward,
        "unseen_shape": len(unseen[-1]) / log[-1].n,
    }
    ending = f"\n{unseen_table(unseen[-1], training.config.rubric)}" if unseen[-1] else ""
    return Report(shown, ending, {"distribution_shift.png": shift_curves(log, frozen, unseen)}, summary)


def is_shown(place: int) -> bool:
    """Whether the evaluation is 0, 1, 2, 4, 8, …"""
    return place & (place - 1) == 0


def shift_heading(rubric: str, frozen: Mapping[str, Any]) -> Iterator[str]:
    """``frozen``: the summary of the frozen completions."""
    rate, bounds = percent(frozen["pass_rate"]), interval(frozen["pass_rate_ci95"])
    yield (
        "Loop C, learn: the policy changes, and frozen completions no longer describe it.\n\n"
        f"trained on {rubric}; all rates are the strict scorer's, all intervals are 95 %"
    )
    yield f"\n{frozen['n']:,} completions frozen at step 0: {rate} pass ({bounds})\n\n{_ROWS.head()}"


def true_interval(row: EvaluationRow) -> tuple[float, float]:
    return wilson_interval(round(row.true_reward * row.n), row.n)


def shift_row(row: EvaluationRow, frozen: Mapping[str, Any], unseen: int) -> str:
    """One evaluation. The error is the frozen rate minus the fresh rate, in points.

    ``unseen``: how many of the fresh completions have a shape that no frozen completion has.
    """
    bounds = interval(true_interval(row))
    error = f"{100 * (frozen['pass_rate'] - row.true_reward):+.1f}"
    return _ROWS.row((row.step, percent(row.true_reward), bounds, error, percent(unseen / row.n, 0)))


def unseen_table(unseen: Sequence[LearningResult], rubric: str) -> str:
    """The first three, with the rubric's reward; ⏎ stands for a line break, and … ends a text that is cut."""
    rows = [(row.expected_answer, proxy_of(row), one_line(row.completion or "", 40)) for row in unseen[:3]]
    return table(("answer", rubric, "fresh at the end, shaped like no frozen one"), rows, right=(0, 1))


def shift_curves(log: TrainingLog, frozen: Mapping[str, Any], unseen: Sequence[Sequence[object]]) -> bytes:
    """Over the steps, above: both pass rates with their intervals; below: the share in a shape no frozen one has."""
    fig = figure(7.2, 5.4, "Frozen completions and fresh ones of the policy that learns")
    rates, shares = fig.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    steps = [row.step for row in log]
    lows, highs = zip(*map(true_interval, log), strict=True)
    rates.axhspan(*frozen["pass_rate_ci95"], color=ORANGE, alpha=0.25, linewidth=0)
    rates.axhline(frozen["pass_rate"], color=ORANGE, label="frozen before the first update")
    rates.fill_between(steps, lows, highs, color=BLUE, alpha=0.25, linewidth=0)
    rates.plot(steps, [row.true_reward for row in log], color=BLUE, label="fresh")
    label_axes(rates, "", "pass rate, 95 % interval", rates=False)
    rates.legend(frameon=False, fontsize=8)
    shares.plot(steps, [len(new) / row.n for row, new in zip(log, unseen, strict=True)], color=BLUE)
    label_axes(shares, f"step of training on {log[0].rubric}", "fresh, in a shape\nno frozen one has")
    return png(fig)
