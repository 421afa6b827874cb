"""Machinery: the sheets that a student fills in, Markdown that is read line by line.

A line that begins with ``## `` is a heading, one that begins with ``>`` is the course's own, and every other is the
student's: nothing has to be quoted or escaped.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from course.datasets.files import LAB
from course.errors import UserError, reason

KEYS = LAB / "data" / "keys"  # below it, at the path of a file that a student writes: the course's own version of it


class Section(NamedTuple):
    """What stands under one heading in the student's own words. ``line``: of the heading, from 1."""

    line: int
    text: str


def read_sheet(path: Path, headings: Sequence[str] = ()) -> dict[str, Section]:
    """What stands under these headings, or under all that there are where none is named.

    Raises UserError where one is missing or the sheet cannot be read.
    """
    names = "|".join(map(re.escape, headings)) or ".+?"
    above, *parts = re.split(rf"(?m)^##(?!#) *({names})[ \t]*$", _read_text(path))
    line = 1 + above.count("\n")
    sections = {}
    for heading, below in zip(parts[::2], parts[1::2], strict=True):
        sections[heading] = Section(line, re.sub(r"(?m)^>.*\n?", "", below).strip())
        line += below.count("\n")
    for heading in headings:
        if heading not in sections:
            raise UserError(
                f"{path}:1 expected the heading '## {heading}', got none; put it back, your answer below it"
            )
    return sections


def read_fields(section: Section, names: Sequence[str]) -> dict[str, str]:
    """What follows each ``name:`` at the start of a line, up to the next; empty where nothing does."""
    _, *parts = re.split(rf"(?mi)^[ \t*_-]*({'|'.join(names)})[ \t*_]*:[*_]*", section.text)
    fields = [(name.lower(), value.strip()) for name, value in zip(parts[::2], parts[1::2], strict=True)]
    return {name: " ".join(value for field, value in fields if field == name) for name in names}


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UserError(f"{path}:1 expected your sheet, got: {reason(error)}; run from the lab's folder") from None
    except UnicodeDecodeError:
        raise UserError(f"{path}:1 expected UTF-8, got another encoding; save the file as UTF-8") from None
