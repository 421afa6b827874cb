"""Machinery: what course.check prints, and the form in which the check of an exercise says what it found."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.reports.tables import WIDTH, wrapped
from course.text import clipped

TO_READ = "for the teacher to read"  # it is whole, which is all that a program can see of it
FINISHED = ("done", TO_READ)


class Checked(NamedTuple):
    """What a check found. ``state``: not started, started, wrong, or one of ``FINISHED``; ``short`` adds a few words.

    ``lines``: sentences that explain it. ``parts``: what there is to say of each part with an id, safe to print.
    ``numbers``: what a program is told.
    """

    state: str
    short: str = ""
    lines: Sequence[str] = ()
    parts: Mapping[str, str] = {}
    numbers: Mapping[str, object] = {}


def exercise_line(name: str, checked: Checked) -> str:
    return clipped(f"  {name:14} {checked.state}{': ' if checked.short else ''}{checked.short}", WIDTH)


def exercise_text(name: str, checked: Checked) -> str:
    """One exercise in full, its state last."""
    return "\n".join([*map(wrapped, checked.lines), *[""][: len(checked.lines)], exercise_line(name, checked).lstrip()])
