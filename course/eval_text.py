"""Machinery: what course.eval prints."""

from collections.abc import Mapping
from typing import Any

from course.artifacts.records import Result
from course.artifacts.summary import family_of
from course.show.measurement import KIND_NAMES, as_scored, pass_line
from course.show.tables import interval, percent, table, wrap_sentence
from course.stats import smallest_visible_difference
from course.text import clipped

FLIPS = 0.25  # the assumed share of prompts that pass in only one of two runs
NEARLY_ALL = 0.9  # a share of failures by form above this means that the prompts did not ask for the form


def eval_text(
    summary: Mapping[str, Any],
    conditions: str,
    firsts: Mapping[str, Result],
    ids_with_one_prompt: tuple[str, str] | None = None,
    rubric: str | None = None,
) -> str:
    """Loop A's report. ``conditions``: of the measurement, in words. ``firsts``: outcome -> the first row with it.

    ``rubric``: the name of the second verifier, if one was asked.
    """
    parts = ["Loop A, measure: the results as they are now. Nothing was improved."]
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
    """How many completions of each kind the rubric pays at least PAYS."""
    from course.artifacts.payments import PAYS

    counts = {what: summary["paid"][kind] for kind, what in KIND_NAMES.items()}
    counts[f"the right line, but paid less than {PAYS}"] = summary["right_refused"]
    rows = [(what, f"{count:,}", percent(count / summary["n"])) for what, count in counts.items()]
    return table((f"paid {PAYS} or more by {clipped(rubric, 24)}", "n", "share"), rows, right=(1, 2))


def rubric_line(summary: Mapping[str, Any], rubric: str) -> str:
    """The share that the rubric pays in full, with its uncertainty."""
    rate, bounds = percent(summary["rubric_pass_rate"]), interval(summary["rubric_pass_rate_ci95"])
    counts = f"{summary['rubric_passes']:,} of {summary['n']:,}"
    return f"{clipped(rubric, 24)} paid {counts} in full: {rate}   (95 % interval {bounds})"


def notes_of(summary: Mapping[str, Any], ids_with_one_prompt: tuple[str, str] | None, rubric: str | None) -> list[str]:
    """What a reader of the pass rate has to know about this run."""
    notes = []
    if rubric is not None:
        notes.append("To compare two policies by the gate, measure both without --rubric.")
    if summary["families"].get("model_format", 0) > NEARLY_ALL * summary["n"]:
        notes.append(
            "More than 90 % of the completions fail by form. The scorer is made for prompts that ask for exactly "
            "'Final: <int>'. docs/own_data.md says how to measure other prompts."
        )
    if ids_with_one_prompt is not None:
        first, second = (clipped(id_, 30) for id_ in ids_with_one_prompt)
        notes.append(
            f"The ids {first} and {second} have the same prompt, so one result of chance counts twice. The gate will "
            "reject this run; leave one of the two ids out."
        )
    return notes


def resolution_text(n: int) -> str:
    """The difference that n prompts detect with 80 % power. No difference is larger than the share that flips."""
    difference = smallest_visible_difference(n, FLIPS)
    flips = "if a quarter of the prompts flip (pass in one run only)"
    if difference is None:
        few = f"Too few prompts: with {n:,}, the gate would detect no possible difference between two runs"
        return wrap_sentence(f"{few} with 80 % power, {flips}.")
    points = f"a true difference of about {100 * difference:.2g} points"
    return wrap_sentence(
        f"With {n:,} prompts, the gate detects {points} between two runs four times in five (80 % power), {flips}."
    )


def outcomes_text(outcomes: Mapping[str, int], firsts: Mapping[str, Result]) -> str:
    """Outcomes by count, each with a completion that had it."""
    n = sum(outcomes.values())
    rows = [
        (family_of(outcome), outcome, f"{count:,}", percent(count / n), as_scored(firsts[outcome].completion, 28))
        for outcome, count in sorted(outcomes.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    ]
    return table(("family", "outcome", "n", "share", "such as"), rows, right=(2, 3))
