"""Machinery: what check prints of the result of a check, of all milestones, and of a hand-in."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from check.machine import Work
from check.result import FINISHED, NOT_STARTED, TO_READ, CheckResult
from course.show.tables import WIDTH, wrap_sentence
from course.show.terminal import command_line
from course.starting import PYTHON, program_name
from course.text import clipped

_SHOWN = 3  # sentences of a result
_PERSON_READS = "The program has checked what it can. A person reads your words."


def exercise_text(name: str, result: CheckResult, more: Sequence[str], everything: bool = False) -> str:
    """One exercise: the first three of its lines, or all of them, its state, and ``more``."""
    lines = result.lines if everything else result.lines[:_SHOWN]
    state = f"{name:15} {result.state}"
    if result.short and result.short not in lines:
        state += f": {result.short}"
    paragraphs = [wrap_sentence(line) for line in lines]
    if lines:
        paragraphs.append("")
    paragraphs.append(wrap_sentence(state))
    if result.state == TO_READ:
        paragraphs.append(wrap_sentence(_PERSON_READS))
    if len(lines) < len(result.lines):
        paragraphs.append(f"{len(result.lines) - len(lines)} more lines: {program_name('check')} {name} --all")
    paragraphs.extend(map(wrap_sentence, more))
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


def overview(milestone_of: Mapping[str, str], results: Mapping[str, CheckResult]) -> str:
    """A line for each exercise that was begun, and for those of the milestone that comes next.

    ``milestone_of``: exercise -> number, which stands before the first of a milestone.
    """
    opened = next((milestone_of[name] for name, result in results.items() if result.state not in FINISHED), "")
    lines = []
    before = ""
    for name, result in results.items():
        number = milestone_of[name]
        if result.state == NOT_STARTED and number != opened:
            continue
        line = f"{number if number != before else '':4}{name:16}{result.state}"
        if result.short:
            line += f": {result.short}"
        lines.append(clipped(line, WIDTH))
        before = number
    if len(lines) < len(results):
        lines.append(f"    and {len(results) - len(lines)} more, not started")
    return "\n".join(lines)


def machine_text(works: Sequence[Work], verdicts: Mapping[str, CheckResult]) -> str:
    """A line for each thing that the student's files did, then one for each verdict."""
    lines = []
    for file, version, did, run, number in [Work._fields, *works]:
        lines.append(clipped(f"{file:18}{version:9}{did:9}{run:17}{number}", WIDTH))
    lines.append("")
    for name, result in verdicts.items():
        lines.append(clipped(f"{name}: {result.state}{f': {result.short}' if result.short else ''}", WIDTH))
    return "\n".join(lines)


def end_text(results: Mapping[str, CheckResult]) -> str:
    """What is said when nothing is left to do."""
    to_read = [name for name, result in results.items() if result.state == TO_READ]
    read = f" A person still reads your words: {', '.join(to_read)}." if to_read else ""
    return f"Nothing is left to do.{read} Hand it in:"


def submission_text(path: Path, names: Sequence[str], elsewhere: Sequence[str], todo: Sequence[str]) -> str:
    """What is in a hand-in, by its folders; which runs are not, for they lie elsewhere; which exercises are open."""
    folders = {name.rpartition("/")[0] for name in names}
    lines = [f"written: {path}, {len(names)} files of {', '.join(sorted(folders))}"]
    if elsewhere:
        lines.append(f"not handed in, for they do not lie in runs/: {', '.join(elsewhere)}; measure again there")
    if todo:
        lines.append(f"not finished: {', '.join(todo)}")
    return "\n".join(map(wrap_sentence, lines))
