"""Machinery: what is kept of slow checks for the next call, in ``runs/check.json``, which may be deleted.

A result belongs to the files that were judged, and is kept with their digests. Nothing that a teacher grades is read
from here.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from check.result import NOT_STARTED, STATES, CheckResult
from course.artifacts import run_log
from course.datasets.files import open_regular, sha256_of, write_whole

_NAME = "check.json"  # beside the log of runs


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    results: dict[str, tuple[str, str, list[str]]] = {}  # exercise -> state, a few words, SHA-256 of each file judged


def keep_result(exercise: str, files: Sequence[str], result: CheckResult) -> None:
    kept = _read()
    kept.results[exercise] = (result.state, result.short, _digests(files))
    _write(kept)


def read_last_result(exercise: str, files: Sequence[str]) -> CheckResult:
    """The last result of a slow check; started where the files are other ones by now."""
    kept = _read()
    if exercise not in kept.results:
        return CheckResult(NOT_STARTED, "not judged yet")
    state, short, digests = kept.results[exercise]
    if digests and digests != _digests(files):
        return CheckResult("started", "changed since it was judged")
    if state not in STATES:  # edited
        return CheckResult(NOT_STARTED, short)
    return CheckResult(state, short)


def _digests(files: Sequence[str]) -> list[str]:
    return [sha256_of(Path(name)) for name in files]


def _read() -> _Kept:
    try:
        with open_regular(run_log.LOG.with_name(_NAME)) as file:
            return msgspec.json.decode(file.read(1 << 20), type=_Kept)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # none yet, or edited: as if deleted
        return _Kept()


def _write(kept: _Kept) -> None:
    run_log.LOG.parent.mkdir(parents=True, exist_ok=True)
    write_whole(run_log.LOG.with_name(_NAME), msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
