"""Machinery: what the self-check remembers between two calls, in ``runs/check.json``, which may be deleted.

The number of hints shown of each exercise, and the last result of each slow check. That result is bound to the digest
of the files that it judged: it is not shown for other ones. Nothing that a teacher grades is read from here.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course.artifacts import run_log
from course.datasets.files import open_regular
from course.reports.check import STATES, Checked

_BYTES = 1 << 20


def next_hint(exercise: str, hints: int) -> int:
    """How many of its hints are open now: one more than at the last call, up to all."""
    shown = _entry("hints", exercise)
    step = min((shown if type(shown) is int and shown > 0 else 0) + 1, hints)
    _remember("hints", exercise, step)
    return step


def keep(exercise: str, files: Sequence[str], checked: Checked) -> None:
    _remember("results", exercise, [_digest(files), checked.state, checked.short])


def last_result(exercise: str, files: Sequence[str]) -> Checked:
    """The last result of a slow check, as long as the files are the ones that it judged."""
    match _entry("results", exercise):
        case [digest, str(state), str(short)] if state in STATES:
            if digest == _digest(files):
                return Checked(state, short)
            return Checked("started", "changed since it was judged")
    return Checked("not started", "not judged yet")


def _path() -> Path:
    return run_log.LOG.with_name("check.json")


def _all() -> dict[str, Any]:
    try:
        with open_regular(_path()) as file:
            found = json.loads(file.read(_BYTES))
    except (OSError, ValueError, RecursionError):  # not there yet, or edited: as if deleted
        return {}
    return found if isinstance(found, dict) else {}


def _entry(kind: str, exercise: str) -> Any:
    entries = _all().get(kind)
    return entries.get(exercise) if isinstance(entries, dict) else None


def _remember(kind: str, exercise: str, value: Any) -> None:
    found = _all()
    entries = found.get(kind)
    found[kind] = (entries if isinstance(entries, dict) else {}) | {exercise: value}
    path = _path()
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name("check.json.new")
    new.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", encoding="utf-8", newline="\n")
    new.replace(path)


def _digest(files: Sequence[str]) -> str:
    digest = hashlib.sha256()
    for name in files:
        try:
            with open_regular(Path(name)) as file:
                digest.update(hashlib.sha256(file.read()).digest())
        except OSError:
            digest.update(b"none")
    return digest.hexdigest()
