"""Machinery: the sheets that a student fills in, Markdown that is read line by line.

A line that begins with ``## `` is a heading, one that begins with ``>`` is the course's own, and every other is the
student's: nothing has to be quoted or escaped, and what a student writes cannot break the form.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from check.result import CANNOT_CHECK, NOT_STARTED, TO_READ, CannotCheck, CheckResult
from check.runs import WantedRun, fault_of_naming
from course.datasets.files import open_regular
from course.errors import UserError, reason
from course.text import quote

_BYTES = 1 << 20
_FEWEST = 8  # words of an answer; the arrows of a diagram count as words


class Section(NamedTuple):
    """What stands under one heading in the student's own words. ``line``: of the heading, from 1."""

    line: int
    text: str


def read_sheet(path: Path, headings: Sequence[str]) -> dict[str, Section]:
    """What stands under these headings. Raises UserError where one is missing or unknown, or it cannot be read."""
    starts: dict[str, int] = {}
    answers: dict[str, list[str]] = {}
    heading = ""
    for number, line in enumerate(_read_text(path).split("\n"), 1):
        if line.startswith("## "):
            heading = line[3:].strip()
            if heading not in headings:
                got = f"'## {quote(heading)}'; write ### or bold"
                raise UserError(f"{path}:{number} expected the course's headings only, got {got}")
            if heading in starts:
                got = f"'## {quote(heading)}' a second time; keep one of the two"
                raise UserError(f"{path}:{number} expected each heading once, got {got}")
            starts[heading] = number
            answers[heading] = []
        elif heading and not line.startswith(">"):
            answers[heading].append(line)
    for heading in headings:
        if heading not in starts:
            expected = f"expected the heading '## {heading}', got none"
            raise UserError(f"{path}:1 {expected}; put it back, your answer below it")
    return {heading: Section(starts[heading], "\n".join(answers[heading]).strip()) for heading in headings}


def read_fields(section: Section, names: Sequence[str]) -> dict[str, str]:
    """What follows each ``name:`` at the start of a line, up to the next; empty where nothing does."""
    _, *parts = re.split(rf"(?mi)^[ \t*_-]*({'|'.join(names)})[ \t*_]*:[*_]*", section.text)
    fields = [(name.lower(), value.strip()) for name, value in zip(parts[::2], parts[1::2], strict=True)]
    return {name: " ".join(value for field, value in fields if field == name) for name in names}


def check_note(path: Path, questions: Mapping[str, Sequence[str]], wanted: Sequence[WantedRun] = ()) -> CheckResult:
    """Whether each question has an answer with its terms, and whether the note names its runs with their numbers.

    ``questions``: heading -> the terms that ``data/notes.toml`` says its answer cannot lack.
    """
    sections = read_sheet(path, list(questions))
    text = "\n".join(section.text for section in sections.values()).strip()
    if not text:
        missing_runs = [one.command for one in wanted if fault_of_naming(text, one)[1] is None]
        return CheckResult(NOT_STARTED, command=missing_runs[0] if missing_runs else "")
    lines = []
    for heading, terms in questions.items():
        section = sections[heading]
        words = section.text.split()
        missing = _missing_terms(words, terms)
        if len(words) < _FEWEST and "![" not in section.text:
            lines.append(f"{path}:{section.line} {heading}: expected {_FEWEST} words or more, got {len(words)}")
        elif missing:
            expected = f"expected the terms {', '.join(missing)}, got an answer without them"
            lines.append(f"{path}:{section.line} {heading}: {expected}")
    short = f"{len(questions) - len(lines)} of {len(questions)} questions answered"
    runs = []
    for one in wanted:
        fault, run = fault_of_naming(text, one)
        if run is None:
            command = one.command.split(" ")[0]
            line = f"{path} cannot be checked yet: it is about a run of {command}, and {fault}."
            return CheckResult(CANNOT_CHECK, f"{short}; no run of {command} yet", [line], command=one.command)
        runs.append(run.name)
        if fault:
            lines.append(f"{path}: {fault}, got neither or another number")
    return CheckResult("started" if lines else TO_READ, short, lines, numbers={"runs": runs} if runs else {})


def _missing_terms(words: Sequence[str], terms: Sequence[str]) -> list[str]:
    """The terms of which no spelling is there: ``kl or divergence``; one may end in … and then stands for a stem."""
    text = " ".join(words).lower()  # a term of two words may be broken by a line end
    return [term for term in terms if not any(word.rstrip("…") in text for word in term.split(" or "))]


def _read_text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(_BYTES + 1)
        if len(data) > _BYTES:
            raise UserError(f"{path}:1 expected at most {_BYTES >> 20} MB, got more; keep to your own words")
        return data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except FileNotFoundError:
        raise CannotCheck(f"{path}:1 expected your sheet, got no such file; run from the lab's folder") from None
    except OSError as error:
        raise UserError(f"{path}:1 expected your sheet, got: {reason(error)}; run from the lab's folder") from None
    except UnicodeDecodeError as error:
        got = f"byte 0x{data[error.start]:02x}; save the file as UTF-8"
        raise UserError(f"{path}:{data.count(10, 0, error.start) + 1} expected UTF-8, got {got}") from None
