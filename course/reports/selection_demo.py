"""Machinery: what course.selection_demo prints, its numbers side by side and where choosing still fails."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.records import Selection
from course.reports.measurement import as_scored, pass_line
from course.reports.tables import percent, table
from course.text import clipped

_EXPLAINED = 3  # prompts whose failure is explained


def selection_text(summary: Mapping[str, Any], conditions: str, failed: Sequence[Selection]) -> str:
    """Loop B's report. ``conditions``: of the measurement, in words. ``failed``: prompts still wrong after choosing."""
    n = summary["samples_per_prompt"]
    parts = [
        f"Loop B, choose: {n} sample{'s' if n > 1 else ''} a prompt, one is taken.",
        *([failures_text(failed, summary["n"] - summary["passes"])] if failed else []),
        conditions,
        numbers_text(summary),
        pass_line(summary),
        "This is selection: one sample is taken, and the policy did not change."
        if n > 1
        else "With one sample nothing was chosen: this is what Loop A measures.",
    ]
    return "\n\n".join(parts)


def numbers_text(summary: Mapping[str, Any]) -> str:
    """Three numbers that are never merged, the control, the ceiling, and what the choice cost in KL."""
    n = summary["samples_per_prompt"]
    rows = [("first sample", percent(summary["first_sample_accuracy"]), "of each prompt, as if N were 1")]
    if n > 1:
        rows += [
            ("random choice", percent(summary["random_choice"]), f"the control: a blind pick among {n}"),
            ("selected", percent(summary["selected_accuracy"]), "what pick_best got: says nothing of the policy alone"),
            ("ceiling", percent(summary["ceiling"]), f"pass@{n} counted here: one of these {n} was right"),
        ]
    curve = [f"k={k} {percent(rate)}" for k, rate in summary["pass_at_k"].items()]
    estimate = "undefined" if summary["kl_estimate"] is None else f"{summary['kl_estimate']:.4f}"
    lines = [
        table(("number", "value", "what it is"), rows, right=(1,)),
        "",
        "pass@k of the policy: how often k samples hold a right one, from all there are;",
        "unbiased: over many packs its mean is the policy's own",
    ]
    lines += ["  " + "   ".join(curve[start : start + 5]) for start in range(0, len(curve), 5)]
    if n > 1:
        lines += ["", f"KL of best-of-{n} from the policy, in nats: estimate {estimate},"]
        lines.append(f"from few samples mostly too low; upper bound {summary['kl_bound']:.4f}")
    if summary["kl_estimate_reason"]:
        lines.append(f"  ({summary['kl_estimate_reason']})")
    return "\n".join(lines)


def failures_text(failed: Sequence[Selection], count: int) -> str:
    """Two or three prompts where the choice is still wrong, and why; one of each cause before a second of any."""
    by_cause: dict[str, list[Selection]] = {}
    for row in failed:
        by_cause.setdefault(cause(row), []).append(row)
    ordered = [(why, rows[0]) for why, rows in by_cause.items()]
    ordered += [(why, row) for why, rows in by_cause.items() for row in rows[1:]]
    lines = [f"still wrong on {count:,} prompt{'s' if count > 1 else ''}, for example:"]
    for why, row in ordered[:_EXPLAINED]:
        lines += [
            f"  {clipped(row.id, 20)}  {clipped(row.prompt, 56)}",
            f"    chosen: {as_scored(row.completion, 68)}",
            f"    why: {why}",
        ]
    return "\n".join(lines)


def cause(row: Selection) -> str:
    """Why no choice, or this choice, could not be right."""
    if any(row.rewards):
        return "a right sample was there and pick_best took another"
    answer = row.expected_answer
    sign = "-?" if answer == 0 else "-" if answer < 0 else "(?<!-)"
    value = re.compile(rf"(?<![0-9]){sign}0*{abs(answer)}(?![0-9])")
    if any(value.search(_plain(sample)) for sample in row.samples):
        return "the right value is there, in a wrong format: no choice helps"
    return "no sample shows the right value: change the policy, or draw more"


def _plain(text: str) -> str:
    """A text with the digits and signs of other scripts as ASCII, and no commas between thousands."""
    text = unicodedata.normalize("NFKC", text).replace("\u2212", "-")
    text = "".join(str(unicodedata.decimal(char, char)) for char in text)
    return re.sub("(?<=[0-9]),(?=[0-9]{3}(?![0-9]))", "", text)
