"""Machinery: what check prints, and the form in which the check of an exercise says what it found."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from course.show.tables import WIDTH, wrap_sentence
from course.text import clipped

TO_READ = "for the teacher to read"  # it is whole, which is all that a program can see of it
FINISHED = ("done", TO_READ)
_MARKS = {"not started": ".", "started": "o", "wrong": "x", "done": "#", TO_READ: "r"}
EXERCISE_STATES = tuple(_MARKS)
_NOT_READ = f"'{TO_READ}' says that it is whole: headings, length and terms. Whether it is right, a person says."


class Checked(NamedTuple):
    """What a check found. ``state``: one of ``EXERCISE_STATES``; ``short`` adds a few words.

    ``lines``: sentences that explain it: expected, got. ``parts``: what there is to say of each part with an id, safe
    to print. ``numbers``: for ``--json`` only, whatever JSON can hold. ``matrix``: of tests, for their page.
    """

    state: str
    short: str = ""
    lines: Sequence[str] = ()
    parts: Mapping[str, str] = {}
    numbers: Mapping[str, object] = {}
    matrix: Mapping[str, object] = {}


def exercise_line(name: str, checked: Checked) -> str:
    return clipped(f"  {name:15} {checked.state}{': ' if checked.short else ''}{checked.short}", WIDTH)


def exercise_text(name: str, checked: Checked, more: Sequence[str]) -> str:
    """One exercise in full: what was found, its state, and ``more`` that is not empty."""
    notice = [_NOT_READ] if checked.state == TO_READ else []
    short = f": {checked.short}" if checked.short and checked.short not in checked.lines else ""
    found = [wrap_sentence(line) for line in checked.lines]
    if found:
        found.append("")
    found.append(wrap_sentence(f"{name:15} {checked.state}{short}"))
    return "\n".join([*found, *map(wrap_sentence, filter(None, [*notice, *more]))])


def overview(titles: Mapping[str, str], milestone_of: Mapping[str, str], found: Mapping[str, Checked]) -> str:
    """All milestones, a line each; the first that is not finished is open, of later ones each exercise has a mark.

    ``milestone_of``: exercise -> number.
    """
    lines, opened, marks = [], False, ""
    for number, title in titles.items():
        here = [name for name in found if milestone_of[name] == number]
        states = [found[name].state for name in here]
        finished = sum(state in FINISHED for state in states)
        done = f"done, {states.count(TO_READ)} to be read" if TO_READ in states else "done"
        if opened and finished < len(states):
            marks = f"{''.join(_MARKS[state] for state in states)} "
        status = done if finished == len(states) else f"{marks}{finished} of {len(states)}"
        lines.append(f"Milestone {number:4} {title:46} {status:>18}")
        if finished < len(states) and not opened:
            opened = True
            lines += [exercise_line(name, found[name]) for name in here]
    legend = [", ".join(f"{mark} {state}" for state, mark in _MARKS.items())] if marks else []
    return "\n".join(lines + legend)


def submission_text(path: Path, names: Sequence[str], todo: Sequence[str]) -> str:
    """What is in a hand-in, folder by folder, and which exercises are not finished."""
    folders = ["/".join(name.split("/")[: 2 if name.startswith("runs/") else 1]) for name in names]
    counts = Counter(clipped(folder, 60) for folder in folders)
    lines = [f"  {folder:60} {count:5} {'file' if count == 1 else 'files'}" for folder, count in counts.items()]
    missing = [wrap_sentence(f"not finished: {', '.join(todo)}")] if todo else []
    return "\n".join([f"written: {path}, to be handed in", *lines, *missing])
