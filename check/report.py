"""Machinery: what check prints of the result of a check, of all milestones, and of a hand-in."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from check.report_tests import report_lines
from check.result import CANNOT_CHECK, FINISHED, NOT_STARTED, TO_READ, CheckResult
from course.show.tables import WIDTH, wrap_sentence
from course.show.terminal import command_line
from course.starting import PYTHON
from course.text import clipped

_MARKS = {
    NOT_STARTED: ".",
    "started": "o",
    "wrong": "x",
    CANNOT_CHECK: "?",
    "done": "#",
    TO_READ: "r",
}
_SHOWN = 3  # sentences of a result
_NOT_READ = "A program sees only that the answer is whole. A person says whether the answer is right."


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
    """One exercise: the first three of its lines, its state, and ``more`` that is not empty."""
    lines = lines_of(result)[:_SHOWN]
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
    """A step of a level: its sentences, folded, and its commands on as many lines as a terminal asks for."""
    prefix = f"{PYTHON} -m "
    lines = []
    for line in step.split("\n"):
        if line.startswith(prefix):
            lines.append(command_line(line.removeprefix(prefix).split(" ")))
        elif line.startswith(f"{PYTHON} "):
            lines.append(line)
        else:
            lines.append(wrap_sentence(line))
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
        finished = [state for state in states if state in FINISHED]
        status = counts_text(states)
        below = []
        if len(finished) < len(states):
            if is_open:
                has_marks = True
                marks = "".join(_MARKS[state] for state in states)
                status = f"{marks} {len(finished)} of {len(states)}"  # the marks say what is handed in
            else:
                is_open = True
                status = f"{status} of {len(states)}"
                below = [exercise_line(name, results[name]) for name in names]
        head = f"Milestone {number:3} {title}"
        lines.append(f"{head}  {status:>{WIDTH - len(head) - 2}}")  # a title may end in a number
        lines.extend(below)
    if has_marks:
        words = {**{state: state for state in _MARKS}, TO_READ: "handed in"}
        lines.append(", ".join(f"{mark} {words[state]}" for state, mark in _MARKS.items()))
    return "\n".join(lines)


def counts_text(states: Sequence[str]) -> str:
    """How many are done and how many are handed in, which a person reads and a program cannot call done."""
    counts = {"done": states.count("done"), "handed in": states.count(TO_READ)}
    return ", ".join(f"{count} {word}" for word, count in counts.items() if count) or "0"


def end_text(results: Mapping[str, CheckResult]) -> str:
    """What is said when nothing is left to do: what a program has seen, and what a person still reads."""
    to_read = [name for name, result in results.items() if result.state == TO_READ]
    text = f"Nothing is left to do: {counts_text([result.state for result in results.values()])}."
    if to_read:
        text += f" A person still reads your words, and says whether they are right: {', '.join(to_read)};"
        text += " also the evidence and the fixes in the katas."
    return f"{text} Hand it in:"


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
