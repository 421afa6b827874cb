"""Machinery: what course.eval prints."""

from collections.abc import Mapping
from typing import Any

from course.artifacts.records import Result
from course.artifacts.summary import family_of
from course.show.measurement import KIND_NAMES, as_scored, pass_line
from course.show.tables import interval, percent, table, wrap_sentence
from course.stats import smallest_visible_difference
from course.text import clipped

FLIPS = 0.25  # the share of prompts that is assumed to flip between two runs
NEARLY_ALL = 0.9  # failures by form: above it, the prompts hardly asked for the form


def eval_text(
    summary: Mapping[str, Any],
    conditions: str,
    firsts: Mapping[str, Result],
    ids_with_one_prompt: tuple[str, str] | None = None,
    rubric: str | None = None,
) -> str:
    """Loop A's report. ``conditions``: of the measurement, in words. ``firsts``: outcome -> the first row of it.

    ``rubric``: the name of another instrument, where one was asked.
    """
    parts = ["Loop A, measure: this is what is true right now, nothing was improved."]
    if rubric is not None:
        parts.append(payments_text(summary, rubric))
    parts.append(outcomes_text(summary["outcomes"], firsts))
    parts.append(conditions)
    parts += map(wrap_sentence, notes_of(summary, ids_with_one_prompt, rubric))
    if rubric is None:
        last = [pass_line(summary), resolution_text(summary["n"])]
    else:
        last = [rubric_line(summary, rubric), pass_line(summary)]
    parts.append("\n".join(last))
    return "\n\n".join(parts)


def payments_text(summary: Mapping[str, Any], rubric: str) -> str:
    """What another rubric pays at least PAYS for: the right line, and what else."""
    from course.artifacts.payments import PAYS

    counts = {what: summary["paid"][kind] for kind, what in KIND_NAMES.items()}
    counts[f"paid less than {PAYS}: the right line"] = summary["right_refused"]
    rows = [(what, f"{count:,}", percent(count / summary["n"])) for what, count in counts.items()]
    return table((f"paid {PAYS} or more by {clipped(rubric, 24)}", "n", "share"), rows, right=(1, 2))


def rubric_line(summary: Mapping[str, Any], rubric: str) -> str:
    """The share that the rubric pays in full, with its uncertainty."""
    rate, bounds = percent(summary["rubric_pass_rate"]), interval(summary["rubric_pass_rate_ci95"])
    counts = f"{summary['rubric_passes']:,} of {summary['n']:,}"
    return f"paid in full by {clipped(rubric, 24)}: {counts}: {rate}   (95 % interval {bounds})"


def notes_of(summary: Mapping[str, Any], ids_with_one_prompt: tuple[str, str] | None, rubric: str | None) -> list[str]:
    """What a reader of the number has to know, where it is so."""
    notes = []
    if rubric is not None:
        notes.append("The gate takes no run of another rubric, because it would have to run its code again")
    if summary["families"].get("model_format", 0) > NEARLY_ALL * summary["n"]:
        notes.append(
            "More than 90 % fail by form. The scorer measures prompts that asked for exactly 'Final: <int>'. "
            "docs/own_data.md says how to measure other prompts"
        )
    if ids_with_one_prompt is not None:
        first, second = (clipped(id_, 30) for id_ in ids_with_one_prompt)
        notes.append(
            f"The ids {first} and {second} have one prompt, so its luck counts twice. The gate will refuse this run: "
            "leave one of them out"
        )
    return notes


def resolution_text(n: int) -> str:
    """Which difference this many prompts would detect with 80 % power: none is larger than the share that flips."""
    difference = smallest_visible_difference(n, FLIPS)
    often = "four times in five (if a quarter of the prompts flip)"
    if difference is None:
        few = f"too few prompts: no true difference between two runs of {n:,} is large enough for the gate to find it"
        return wrap_sentence(f"{few} {often}")
    points = f"{100 * difference:.2g} points"
    return wrap_sentence(
        f"two runs of {n:,} prompts must truly differ by about {points} for the gate to find the difference {often}"
    )


def outcomes_text(outcomes: Mapping[str, int], firsts: Mapping[str, Result]) -> str:
    """Outcomes by count, each with a completion that had it."""
    n = sum(outcomes.values())
    rows = [
        (family_of(outcome), outcome, f"{count:,}", percent(count / n), as_scored(firsts[outcome].completion, 28))
        for outcome, count in sorted(outcomes.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    ]
    return table(("family", "outcome", "n", "share", "such as"), rows, right=(2, 3))
