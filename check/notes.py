"""Machinery: the check of a note: whether words of the student's stand under each heading, and which are ours.

Of a table, its head and the first cell of each row are the course's.
"""

import re
from collections.abc import Sequence
from pathlib import Path

from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import WantedRun, fault_of_naming
from check.sheets import KEYS, read_sheet
from course.starting import program_name

_FEWEST = 8  # words of an answer; the arrows of a drawing count as words
_HEAD = re.compile(r"(?m)^\|.*\n\|[-:| ]+\n")  # of a table, and the line below it
_EMPTY_ROW = re.compile(r"(?m)^\|([^|\n]*)\|[| ]*$")
_FIRST_CELL = re.compile(r"(?m)^\|[^|\n]*\|")


def check_note(path: Path, wanted: Sequence[WantedRun] = ()) -> CheckResult:
    """Whether each heading has an answer, and whether the note names its runs with their numbers.

    ``parts``: number of a heading that has an answer -> the course's own.
    """
    ours = read_sheet(KEYS / path) if (KEYS / path).is_file() else {}
    sections = read_sheet(path, list(ours))
    lines = []
    parts = {}
    for heading, section in sections.items():
        fault = fault_of_answer(section.text)
        if fault:
            lines.append(f"{path}:{section.line} {heading}: {fault}")
        elif ours:
            parts[heading.partition(".")[0]] = f"{heading}, our answer\n\n{ours[heading].text}"
    short = f"{len(sections) - len(lines)} of {len(sections)} headings answered"
    text = "\n".join(section.text for section in sections.values())
    command = ""
    runs = []
    for one in wanted:
        fault, run = fault_of_naming(text, one)
        if fault:
            lines.append(f"{path}: {fault}")
        if run:
            runs.append(run.name)
        else:
            command = command or one.command
    if not own_words(text):
        return CheckResult(NOT_STARTED, command=command)
    state = "started" if lines else TO_READ
    if parts:
        lines.insert(0, f"our answer to {', '.join(parts)}: {program_name('check')} {path.stem} --id {[*parts][-1]}")
    return CheckResult(state, short, lines, parts, runs, command)


def own_words(text: str) -> list[str]:
    """The words of an answer that are the student's."""
    return _FIRST_CELL.sub(" ", _HEAD.sub("", f"{text}\n")).replace("|", " ").split()


def fault_of_answer(text: str) -> str:
    """What an answer lacks; nothing where it is whole."""
    words = own_words(text)
    empty_rows = [name.strip() for name in _EMPTY_ROW.findall(text)]
    if words and empty_rows:
        return f"expected something in each row of the table, got nothing in: {', '.join(empty_rows)}"
    if len(words) < _FEWEST and "![" not in text:
        return f"expected {_FEWEST} words or more, got {len(words)}"
    return ""
