"""Machinery: how much of a run a page shows: which rows, how much of each text, and how a value is written."""

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import msgspec

from course.artifacts.records import Result
from course.pages.html import json_for_page
from course.text import clipped

ROWS: Final = 2_000  # the most that a page shows of anything
TEXT: Final = 400  # the most characters of one text
MOST_BYTES: Final = 850_000  # of rows, so that a page stays below 1 MB
_SHORTEST_TEXT: Final = 60  # characters of a text

Entry = TypeVar("Entry")
Data = dict[str, Any]


def subsample(rows: Sequence[Entry], most: int) -> list[Entry]:
    """At most so many of them (two at least), as evenly spaced as can be, the first and the last among them."""
    if len(rows) <= most:
        return list(rows)
    return [rows[round(place * (len(rows) - 1) / (most - 1))] for place in range(most)]


def truncate_to_bytes(
    rows: Sequence[Entry], show: Callable[[Entry, int], Data], chars: int, most: int
) -> tuple[list[Data], int]:
    """The rows in so many bytes, and how many characters a text has in them: fewer, then fewer rows, until all fits."""
    shown = [show(row, chars) for row in rows]
    while len(json_for_page(shown)) > most and len(rows) > 1:
        if chars <= _SHORTEST_TEXT:
            rows = rows[::2]
        chars = max(_SHORTEST_TEXT, chars // 2)
        shown = [show(row, chars) for row in rows]
    return shown, chars


def cut_text(text: str | None, most: int = TEXT) -> object:
    """A text for a page; of a longer one its beginning, and how many characters follow."""
    if text is None or len(text) <= most:
        return text
    return {"text": text[:most], "more": len(text) - most}


def value_text(value: object) -> str:
    """A value of JSON for a person, fractions to four digits."""
    if isinstance(value, list):
        return ", ".join(map(value_text, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def question_text(row: Result) -> str:
    """What was asked, and what was expected."""
    return f"{clipped(row.prompt, 200)} ({clipped(str(row.expected_answer), 40)})"
