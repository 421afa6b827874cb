"""Machinery: the page of the gate: its verdict on two runs, the locked room, what differs, the flips both ways.

Every number is the gate's. Where the gate reports none, the page shows no difference either: no interval, no flips.
"""

from collections.abc import Sequence
from pathlib import Path

from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import short_values
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
from course.show.tables import interval
from course.stats import judge_difference
from course.text import clipped, visible


def page_of_gate(baseline: Path, candidate: Path, finding: Finding, min_delta: float) -> str:
    """The page, its verdict first. Raises UserError or Broken as ``open_run`` does."""
    title = f"{finding.verdict}: {candidate.resolve().name} against {baseline.resolve().name}"
    return html_page("gate", title, "", gate_data(baseline, candidate, finding, min_delta))


def gate_data(baseline: Path, candidate: Path, finding: Finding, min_delta: float) -> Data:
    """Everything that the view "gate" reads. ``room``: open where one of its conditions is why the gate rejects."""
    names = [clipped(path.resolve().name, 40) for path in (baseline, candidate)]
    said = [*finding.reasons]
    if finding.would_decide:
        said.append(f"what would decide it: {finding.would_decide}")
    data: Data = {"said": sentences_of(said), "picture": None, "flips": [], "room": None, "more": []}
    if not finding.conditions:  # a run is broken
        return data
    runs = [open_run(path) for path in (baseline, candidate)]
    more = [*read_with(finding)]
    if finding.numbers:
        data["picture"] = picture_data(finding.numbers, names, min_delta)
        data["flips"] = flips_data(runs, finding.numbers)
        more = [*number_sentences(finding.numbers, finding.tries), *more]
    else:
        data["said"] += sentences_of([NO_DIFFERENCE])
    more.append(f"the smallest improvement worth having was said to be {min_delta:g} (--min-delta)")
    holding = sum(condition.fault is None for condition in finding.conditions)
    data["room"] = {
        "title": f"The locked room: {holding} of {len(finding.conditions)} conditions hold",
        "open": holding < len(finding.conditions),
        "table": room_table(finding, names),
    }
    data["more"] = sentences_of(more)
    data["differences"] = differences_table(runs, names)
    return data


def sentences_of(reasons: Sequence[str]) -> list[str]:
    return [f"{visible(capitalise(reason))}." for reason in reasons]


def picture_data(numbers: Numbers, names: Sequence[str], min_delta: float) -> Data:
    """Both pass rates; the difference with its paired interval; every prompt by what became of it."""
    low, high = numbers.delta_ci95
    gained, lost = len(numbers.gained), len(numbers.lost)
    both = numbers.baseline_passes - lost
    return {
        "n": numbers.n,
        "baseline": {"name": names[0], "passes": numbers.baseline_passes},
        "candidate": {"name": names[1], "passes": numbers.candidate_passes},
        "interval": {"value": numbers.delta, "low": low, "high": high},
        "minDelta": min_delta,
        "difference": sentences_of([difference_text(numbers)])[0],
        "prompts": {
            "passed by both": both,
            "gained": gained,
            "lost": lost,
            "failed by both": numbers.n - both - gained - lost,
        },
    }


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]


def room_table(finding: Finding, names: Sequence[str]) -> Data:
    """The conditions of the room, those that do not hold first."""
    rows_of_room = []
    for condition in sorted(finding.conditions, key=lambda condition: condition.fault is None):
        same = "✗ NO" if condition.fault else "✓ same"
        before, after = short_values(condition.baseline, condition.candidate)
        rows_of_room.append((same, condition.name.replace("_", " "), before, after))
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
    return {"caption": "What differs besides the room", "head": head, "rows": differences or [("nothing", "", "")]}


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


def difference_text(numbers: Numbers) -> str:
    """The difference with its interval, and whether the flips show it."""
    low, high = (100 * bound for bound in numbers.delta_ci95)
    points = f"{100 * numbers.delta:+.1f} points, paired 95 % interval {low:+.1f} to {high:+.1f}"
    judged = judge_difference(len(numbers.gained), len(numbers.lost), numbers.n).text
    return f"the difference is {points}: {judged}"


def number_sentences(numbers: Numbers, tries: int) -> list[str]:
    """Both intervals, and what so many tries do to the test."""
    sentences = [
        f"Wilson's 95 % interval of the baseline is {interval(numbers.baseline_ci95)}",
        f"Wilson's 95 % interval of the candidate is {interval(numbers.candidate_ci95)}",
    ]
    if tries >= FEW_TRIES:
        sentences.append(tries_sentence(tries))
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
        ways.append({"way": way, "n": len(ids), "flips": shown})
    return ways


def flip_data(pair: tuple[Result, Result], chars: int) -> Data:
    """A prompt that flipped: what was asked, and both outcomes with their texts, cut to so many characters."""
    before, after = ({"outcome": row.details.outcome, "text": cut_text(row.completion, chars)} for row in pair)
    question = f"{clipped(pair[0].id, 60)}: {question_text(pair[0])}"
    return {"question": question, "before": before, "after": after}
