"""Machinery: the last verdict on what takes seconds to judge, a line each in ``runs/check.json``, so that the overview
answers at once. A verdict belongs to the files that were judged: their digest stands with it.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from check.result import NOT_STARTED, CheckResult
from course.artifacts import run_log
from course.datasets.files import sha256_of, write_whole

_NAME = "check.json"  # beside the log of runs; may be deleted
_Kept = dict[str, tuple[str, str, str]]  # exercise -> digest of its files, state, a few words


def keep_result(exercise: str, files: Sequence[str], result: CheckResult) -> None:
    kept = _read() | {exercise: (_digest(files), result.state, result.short)}
    run_log.LOG.parent.mkdir(parents=True, exist_ok=True)
    write_whole(run_log.LOG.with_name(_NAME), msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def read_last_result(exercise: str, files: Sequence[str]) -> CheckResult:
    """The last result of a slow check; started where the files are other ones by now."""
    if exercise not in (kept := _read()):
        return CheckResult(NOT_STARTED, "not judged yet")
    digest, state, short = kept[exercise]
    if digest != _digest(files):
        return CheckResult("started", "changed since it was judged")
    return CheckResult(state, short)


def _digest(files: Sequence[str]) -> str:
    return hashlib.sha256("".join(sha256_of(Path(name)) for name in files).encode()).hexdigest()


def _read() -> _Kept:
    try:
        return msgspec.json.decode(run_log.LOG.with_name(_NAME).read_bytes(), type=_Kept)
    except (OSError, ValueError):  # none yet, or of another version
        return {}
