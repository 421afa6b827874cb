"""Machinery: what check prints of the result of a check, of all milestones, and of a hand-in."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from check.report_tests import report_lines
from check.result import FINISHED, NOT_STARTED, TO_READ, CheckResult
from course.show.tables import WIDTH, wrap_sentence
from course.show.terminal import command_line
from course.starting import PYTHON
from course.text import clipped

_MARKS = {
    NOT_STARTED: ".",
    "started": "o",
    "wrong": "x",
    "done": "#",
    TO_READ: "r",
}
_NOT_READ = f"'{TO_READ}' says that it is whole: headings, length and terms. Whether it is right, a person says."


def lines_of(result: CheckResult) -> list[str]:
    """The sentences that explain a result; of tests, also the report on what they kill."""
    if result.judgement is None:
        return list(result.lines)
    return [*result.lines, *report_lines(result.judgement)]


def exercise_line(name: str, result: CheckResult) -> str:
    line = f"  {name:15} {result.state}"
    if result.short:
        line += f": {result.short}"
    return clipped(line, WIDTH)


def exercise_text(name: str, result: CheckResult, more: Sequence[str]) -> str:
    """One exercise in full: its lines, its state, and ``more`` that is not empty."""
    lines = lines_of(result)
    state = f"{name:15} {result.state}"
    if result.short and result.short not in lines:
        state += f": {result.short}"
    paragraphs = [wrap_sentence(line) for line in lines]
    if lines:
        paragraphs.append("")
    paragraphs.append(wrap_sentence(state))
    if result.state == TO_READ:
        paragraphs.append(wrap_sentence(_NOT_READ))
    paragraphs.extend(wrap_sentence(line) for line in more if line)
    return "\n".join(paragraphs)


def step_text(step: str) -> str:
    """A step of a level: its sentences as they are, its commands on as many lines as a terminal asks for."""
    prefix = f"{PYTHON} -m "
    lines = []
    for line in step.split("\n"):
        if line.startswith(prefix):
            lines.append(command_line(line.removeprefix(prefix).split(" ")))
        else:
            lines.append(line)
    return "\n".join(lines)


def overview(titles: Mapping[str, str], milestone_of: Mapping[str, str], results: Mapping[str, CheckResult]) -> str:
    """All milestones, a line each; the first that is not finished is open, of later ones each exercise has a mark.

    ``milestone_of``: exercise -> number.
    """
    lines = []
    is_open = False
    has_marks = False
    for number, title in titles.items():
        names = [name for name in results if milestone_of[name] == number]
        states = [results[name].state for name in names]
        finished = sum(state in FINISHED for state in states)
        below = []
        if finished == len(states):
            status = "done"
            if TO_READ in states:
                status += f", {states.count(TO_READ)} to be read"
        elif not is_open:
            is_open = True
            status = f"{finished} of {len(states)}"
            below = [exercise_line(name, results[name]) for name in names]
        else:
            has_marks = True
            status = f"{''.join(_MARKS[state] for state in states)} {finished} of {len(states)}"
        lines.append(f"Milestone {number:4} {title:46} {status:>18}")
        lines.extend(below)
    if has_marks:
        lines.append(", ".join(f"{mark} {state}" for state, mark in _MARKS.items()))
    return "\n".join(lines)


def submission_text(path: Path, names: Sequence[str], todo: Sequence[str]) -> str:
    """What is in a hand-in, folder by folder, and which exercises are not finished."""
    counts = Counter(clipped(_folder_of(name), 60) for name in names)
    lines = [f"written: {path}, to be handed in"]
    for folder, count in counts.items():
        lines.append(f"  {folder:60} {count:5} {'file' if count == 1 else 'files'}")
    if todo:
        lines.append(wrap_sentence(f"not finished: {', '.join(todo)}"))
    return "\n".join(lines)


def _folder_of(name: str) -> str:
    """The folder that a file is counted in: a run's own, else the first of its path."""
    depth = 2 if name.startswith("runs/") else 1
    return "/".join(name.split("/")[:depth])
