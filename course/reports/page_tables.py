"""Machinery: what pages share: the scorer's tables for their script, the names of the unseen, and how much is shown."""

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from course import faults
from course.artifacts.records import Result
from course.reports.pages import written
from course.text import clipped, named

ROWS: Final = 2_000  # the most that a page shows of anything
TEXT: Final = 400  # the most characters of one text
MOST_BYTES: Final = 850_000  # of rows, so that a page stays below 1 MB
_SHORTEST_TEXT: Final = 60  # characters of a text

Entry = TypeVar("Entry")
Data = dict[str, Any]


def scorer_tables() -> dict[str, object]:
    """What makeScorer reads: the inside of the brackets of course/faults.py, and its checks in order."""
    return {
        "unseen": faults.UNSEEN,
        "digits": faults.DIGITS,
        "lineBoundaries": faults.LINE_BOUNDARIES,
        "checks": [(outcome, *check) for outcome, check in faults.CHECKS.items()],
    }


def unseen_names() -> dict[str, str]:
    """Code point in hexadecimal -> name, of every unseen character of the basic plane."""
    unseen = re.findall(f"[{faults.UNSEEN}]", "".join(map(chr, range(0x10000))))
    return {f"{ord(char):04X}": named(char).partition(" ")[2] for char in unseen}


def evenly(rows: Sequence[Entry], most: int) -> list[Entry]:
    """At most so many of them (two at least), as evenly spaced as can be, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(place * (len(rows) - 1) / (most - 1))] for place in range(most)]


def fitting(rows: Sequence[Entry], show: Callable[[Entry, int], Data], chars: int, most: int) -> tuple[list[Data], int]:
    """The rows in so many bytes, and how many characters a text has in them: fewer, then fewer rows, until all fits."""
    shown = [show(row, chars) for row in rows]
    if len(written(shown)) <= most or len(rows) < 2:
        return shown, chars
    return fitting(rows if chars > _SHORTEST_TEXT else rows[::2], show, max(_SHORTEST_TEXT, chars // 2), most)


def value_text(value: object) -> str:
    """A value of JSON for a person, fractions to four digits."""
    if isinstance(value, list):
        return ", ".join(map(value_text, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def question_text(row: Result) -> str:
    """What was asked, and what was expected."""
    return f"{clipped(row.prompt, 200)} ({clipped(str(row.expected_answer), 40)})"


def cut(text: str | None, most: int = TEXT) -> object:
    """A text for a page; of a longer one its beginning, and how many characters follow."""
    return text if text is None or len(text) <= most else {"text": text[:most], "more": len(text) - most}
