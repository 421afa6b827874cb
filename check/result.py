"""Machinery: the result of a check, and its states. Every check returns one; ``check.report`` prints it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

NOT_STARTED = "not started"
TO_READ = "for the teacher to read"  # it is whole, which is all that a program can see of it
FINISHED = ("done", TO_READ)


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
