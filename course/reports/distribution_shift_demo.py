"""What course.distribution_shift_demo prints: frozen completions beside fresh ones, and how to read them."""

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

from course.artifacts.records import LearningResult
from course.artifacts.token_rows import ShiftRow
from course.reports.tables import WIDTH, interval, percent, table
from course.score import SCORER_NAME, SCORER_VERSION
from course.text import one_line

_FAMILIES = {"model_format": "format", "model_math": "value"}  # family of an outcome -> its column


def shift_text(log: Sequence[ShiftRow], frozen: Mapping[str, Any], novel: Sequence[LearningResult], rubric: str) -> str:
    """The report. ``frozen``: their counts and rates; ``novel``: completions in shapes that no frozen one has."""
    return "\n\n".join(
        [
            "Loop C, learn: the policy changes, and with it what there is to measure.",
            f"trained on: {rubric}\nmeasured by: {SCORER_NAME} {SCORER_VERSION}\n"
            f"frozen at step 0: {frozen['n']:,} completions of {log[0].fresh['n']} prompts",
            shift_table(log, frozen),
            *([novel_table(novel, rubric)] if novel else []),
            shift_reading(log, frozen),
        ]
    )


def shift_table(log: Sequence[ShiftRow], frozen: Mapping[str, Any]) -> str:
    """The frozen completions, then the evaluations 0, 1, 2, 4, 8 … and the last, and what the columns mean."""
    rows = [("frozen", percent(frozen["pass_rate"]), "", *_faults(frozen), "", "", _most_common(frozen))]
    for place, row in enumerate(log):
        if place & (place - 1) and row is not log[-1]:
            continue
        unseen = percent(row.unseen_shape, 0), percent(row.unseen_text, 0)
        passes, error = percent(row.fresh["pass_rate"]), f"{100 * row.error:+.1f}"
        rows.append((str(row.step), passes, error, *_faults(row.fresh), *unseen, _most_common(row.fresh)))
    header = ("step", "passes", "error", *_FAMILIES.values(), "shape", "text", "most common")
    legend = (
        "passes: by the strict scorer. error: the frozen rate less this one, in points. format, value: wrong in that. "
        "shape, text: fresh completions in a shape that no frozen one has; that were not frozen for their prompt."
    )
    return f"{table(header, rows, right=range(7))}\n\n{fill(legend, WIDTH)}"


def novel_table(novel: Sequence[LearningResult], rubric: str) -> str:
    """Completions in quotes, ⏎ for a line break, with the rubric's reward. One that is cut ends in …"""
    width = WIDTH - len(f"step   answer   {rubric}   ")
    rows = [
        (
            row.step,
            row.expected_answer,
            f"{row.reward if row.proxy_reward is None else row.proxy_reward:.1f}",
            one_line(f"'{row.completion}'", width),
        )
        for row in novel
    ]
    cells = table(("step", "answer", rubric, "completion"), rows, right=(0, 1, 2))
    return f"fresh completions in a shape that no frozen one has, and their reward\n\n{cells}"


def shift_reading(log: Sequence[ShiftRow], frozen: Mapping[str, Any]) -> str:
    """How wrong the frozen rate became, and how much of what is written now no frozen completion shows."""
    first, last = log[0], log[-1]
    low, high = last.fresh["pass_rate_ci95"]
    apart = high < frozen["pass_rate_ci95"][0] or low > frozen["pass_rate_ci95"][1]
    lines = [
        f"The frozen completions still say {percent(frozen['pass_rate'])}, and {percent(last.fresh['pass_rate'])} of "
        f"the fresh ones of step {last.step} pass ({interval((low, high))}). The intervals "
        f"{'do not overlap' if apart else 'overlap: it may be luck'}. At step 0, where one policy wrote both, the two "
        f"rates differ by {100 * abs(first.error):.1f} points, and that is luck.",
        f"At least {percent(last.outcome_distance, 0)} of the fresh completions of step {last.step} would need another "
        f"outcome to match the frozen ones; at step 0, {percent(first.outcome_distance, 0)}.",
        f"{percent(last.unseen_shape, 0)} of them are in a shape that no frozen one has: about those the frozen "
        "completions say nothing.",
    ]
    return "\n".join(_item(line) for line in lines)


def _item(line: str) -> str:
    """A line of a list, broken where there is room, but never between a number and its %."""
    unbroken = line.replace(" %", "\N{NO-BREAK SPACE}%")
    return fill(unbroken, WIDTH, initial_indent="- ", subsequent_indent="  ").replace("\N{NO-BREAK SPACE}", " ")


def _faults(counts: Mapping[str, Any]) -> list[str]:
    return [percent(counts["families"].get(family, 0) / counts["n"], 0) for family in _FAMILIES]


def _most_common(counts: Mapping[str, Any]) -> str:
    """The most common outcome, the first of equals."""
    return str(max(counts["outcomes"], key=counts["outcomes"].__getitem__))
