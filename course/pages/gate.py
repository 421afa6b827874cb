"""Machinery: the page of the gate: its verdict on two runs, the locked room, what differs, the flips both ways.

Every number is the gate's. Where the gate reports none, the page shows no difference either: no interval, no flips.
"""

from collections.abc import Sequence
from pathlib import Path

from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import short_value
from course.artifacts.reading import Run, open_run, rows
from course.artifacts.records import Result
from course.gate_text import FEW_TRIES, NO_DIFFERENCE, read_with, tries_sentence
from course.pages.excerpts import (
    MOST_BYTES,
    ROWS,
    TEXT,
    Data,
    cut_text,
    question_text,
    subsample,
    truncate_to_bytes,
    value_text,
)
from course.pages.html import html_page
from course.show.tables import interval, percent
from course.text import clipped, visible


def page_of_gate(baseline: Path, candidate: Path, finding: Finding, min_delta: float) -> str:
    """The page. Raises UserError or Broken as ``open_run`` does."""
    title = f"{baseline.resolve().name} and {candidate.resolve().name}"
    return html_page("gate", title, "", gate_data(baseline, candidate, finding, min_delta))


def gate_data(baseline: Path, candidate: Path, finding: Finding, min_delta: float) -> Data:
    """Everything that the view "gate" reads."""
    names = [clipped(path.resolve().name, 40) for path in (baseline, candidate)]
    sentences = [f"{finding.verdict}: {finding.reasons[0]}"]
    if finding.would_decide:
        sentences.append(f"what would decide it: {finding.would_decide}")
    sentences.append(f"the smallest improvement worth having was said to be {min_delta:g} (--min-delta)")
    sentences += [f"also: {reason}" for reason in finding.reasons[1:]]
    data: Data = {"interval": None, "flips": [], "compared": []}
    if finding.conditions:  # else a run is broken
        runs = [open_run(path) for path in (baseline, candidate)]
        sentences.append(". ".join(map(capitalise, read_with(finding))))
        data["compared"] = [room_table(finding, names), differences_table(runs, names)]
        if finding.numbers:
            low, high = finding.numbers.delta_ci95
            sentences += number_sentences(finding.numbers, finding.tries, names)
            data["interval"] = {"value": finding.numbers.delta, "low": low, "high": high}
            data["flips"] = flips_data(runs, finding.numbers)
        else:
            sentences.append(NO_DIFFERENCE)
    data["said"] = [f"{visible(capitalise(sentence))}." for sentence in sentences]
    return data


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def room_table(finding: Finding, names: Sequence[str]) -> Data:
    """The conditions of the room, those that do not hold first."""
    rows_of_room = []
    for condition in sorted(finding.conditions, key=lambda condition: condition.fault is None):
        same = "✗ NO" if condition.fault else "✓ same"
        values = short_value(condition.baseline), short_value(condition.candidate)
        rows_of_room.append((same, condition.name.replace("_", " "), *values))
    return {"caption": "The locked room", "head": ["same?", "condition", *names], "rows": rows_of_room}


def differences_table(runs: Sequence[Run], names: Sequence[str]) -> Data:
    """What else is not the same of two runs: name, and both values."""
    before, after = (other_facts(run) for run in runs)
    differences = []
    for name in before | after:
        values = before.get(name, "-"), after.get(name, "-")
        if values[0] != values[1]:
            differences.append((clipped(name.replace("_", " "), 60), *(clipped(value, 60) for value in values)))
    head = ["what", *names]
    return {"caption": "What differs besides", "head": head, "rows": differences or [("nothing", "", "")]}


def other_facts(run: Run) -> dict[str, str]:
    """What is said of a run besides the conditions of the room."""
    manifest = run.manifest
    facts: dict[str, object] = {
        "command": manifest.command,
        "policy": manifest.policy,
        "seed": manifest.seed,
        "change": manifest.change,
    }
    facts |= manifest.settings
    return {name: value_text(value) for name, value in facts.items()}


def number_sentences(numbers: Numbers, tries: int, names: Sequence[str]) -> list[str]:
    """Both pass rates, what so many tries do to the test, and last the difference."""
    sides = [
        ("baseline", names[0], numbers.baseline_passes, numbers.baseline_ci95),
        ("candidate", names[1], numbers.candidate_passes, numbers.candidate_ci95),
    ]
    sentences = []
    for side, name, passes, bounds in sides:
        rate = f"{percent(passes / numbers.n)}, Wilson's 95 % interval {interval(bounds)}"
        sentences.append(f"{side} {name}: {passes:,} of {numbers.n:,} pass, {rate}")
    if tries >= FEW_TRIES:
        sentences.append(tries_sentence(tries))
    low, high = (100 * bound for bound in numbers.delta_ci95)
    if low > 0:
        lies = "above zero"
    elif high < 0:
        lies = "below zero"
    else:
        lies = "on both sides of zero: it may be luck"
    points = f"{100 * numbers.delta:+.1f} points, paired 95 % interval {low:+.1f} to {high:+.1f}"
    sentences.append(f"difference: {points}, {lies}. Exact McNemar p = {numbers.mcnemar_p:.4g}")
    return sentences


def flips_data(runs: Sequence[Run], numbers: Numbers) -> list[Data]:
    """The gate's flips of each way, an even part of them where there are many."""
    flipped = {*numbers.gained, *numbers.lost}
    flips: dict[str, tuple[Result, Result]] = {}
    for before, after in zip(rows(runs[0]), rows(runs[1]), strict=True):
        if before.id in flipped:
            flips[before.id] = before, after
    ways = []
    for way, ids in (("gained", numbers.gained), ("lost", numbers.lost)):
        some = [flips[id_] for id_ in subsample(ids, ROWS // 2)]
        shown, _ = truncate_to_bytes(some, flip_data, TEXT, MOST_BYTES // 2)
        name = f"{len(ids):,} {way}"
        if len(shown) < len(ids):
            name += f", {len(shown):,} shown"
        ways.append({"name": name, "flips": shown})
    return ways


def flip_data(pair: tuple[Result, Result], chars: int) -> Data:
    """A prompt that flipped: what was asked, and both outcomes with their texts, cut to so many characters."""
    before, after = ({"outcome": row.details.outcome, "text": cut_text(row.completion, chars)} for row in pair)
    question = f"{clipped(pair[0].id, 60)}: {question_text(pair[0])}"
    return {"question": question, "before": before, "after": after}
