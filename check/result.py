"""Machinery: the result of a check, and its states. Every check returns one; ``check.report`` prints it."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from check.kills import Judgement

NOT_STARTED = "not started"
TO_READ = "for the teacher to read"  # it is whole, which is all that a program can see of it
STATES = (NOT_STARTED, "started", "wrong", "done", TO_READ)
FINISHED = ("done", TO_READ)


class CheckResult(NamedTuple):
    """What the check of an exercise says. ``state``: one of ``STATES``; ``short`` adds a few words.

    ``lines``: sentences that explain the state: expected, got. ``parts``: what there is to say of each part with an id.
    ``numbers``: for ``--json`` only, whatever JSON can hold. ``judgement``: of the exercise tests, what they kill.
    """

    state: str
    short: str = ""
    lines: Sequence[str] = ()
    parts: Mapping[str, str] = {}
    numbers: Mapping[str, object] = {}
    judgement: Judgement | None = None
