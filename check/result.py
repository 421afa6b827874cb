"""Machinery: the result of a check, and its states. Every check returns one; ``check.report`` prints it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.errors import UserError

NOT_STARTED = "not started"
CANNOT_CHECK = "cannot be checked yet"  # a file, a run or a tool is missing
TO_READ = "for the teacher to read"  # it is whole, which is all that a program can see of it
FINISHED = ("done", TO_READ)


class CannotCheck(UserError):
    """A file, a run or a tool is missing, so that nothing can be said of the work."""


class CheckResult(NamedTuple):
    """What the check of an exercise says. ``state``: one of the above, or started, wrong, done; ``short`` adds a few
    words.

    ``lines``: sentences that explain the state: expected, got. ``parts``: what there is to say of each part with an id.
    ``runs``: those that it counts, to be handed in. ``command``: what to type next, after ``python3 -m``; empty stands
    for the check itself.
    """

    state: str
    short: str = ""
    lines: Sequence[str] = ()
    parts: Mapping[str, str] = {}
    runs: Sequence[str] = ()
    command: str = ""
