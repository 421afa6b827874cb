"""Machinery: what the self-check remembers between two calls, in ``runs/check.json``, which may be deleted.

The number of hints shown of each exercise, and the last result of each slow check, with the digest of the files that
it judged. Nothing that a teacher grades is read from here.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import msgspec

from check.report import EXERCISE_STATES, Checked
from course.artifacts import run_log
from course.datasets.files import open_regular, sha256_of

_STATE = "check.json"


class Memory(TypedDict):
    """``results``: exercise -> state, a few words, and the SHA-256 of each file judged."""

    hints: dict[str, int]
    results: dict[str, tuple[str, str, list[str]]]


def next_hint(exercise: str, hints: int) -> int:
    """How many of its hints are open now: one more than at the last call, up to all."""
    memory = _memory()
    step = min(max(memory["hints"].get(exercise, 0), 0) + 1, hints)
    memory["hints"][exercise] = step
    _remember(memory)
    return step


def keep(exercise: str, files: Sequence[str], checked: Checked) -> None:
    memory = _memory()
    memory["results"][exercise] = (checked.state, checked.short, [sha256_of(Path(name)) for name in files])
    _remember(memory)


def last_result(exercise: str, files: Sequence[str]) -> Checked:
    """The last result of a slow check; started where the files are other ones by now."""
    state, short, judged = _memory()["results"].get(exercise, ("not started", "not judged yet", []))
    if judged and judged != [sha256_of(Path(name)) for name in files]:
        return Checked("started", "changed since it was judged")
    return Checked(state if state in EXERCISE_STATES else "not started", short)


def _memory() -> Memory:
    try:
        with open_regular(run_log.LOG.with_name(_STATE)) as file:
            return msgspec.json.decode(file.read(1 << 20), type=Memory)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # none yet, or edited: as if deleted
        return {"hints": {}, "results": {}}


def _remember(memory: Memory) -> None:
    run_log.LOG.parent.mkdir(parents=True, exist_ok=True)
    run_log.LOG.with_name(_STATE).write_bytes(msgspec.json.format(msgspec.json.encode(memory), indent=1) + b"\n")
