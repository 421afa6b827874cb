"""Machinery: what is kept of slow checks for the next call, in ``runs/check.json``, which may be deleted.

A result belongs to the files that were judged, a fault to the bytes that it depends on: both are kept with a digest.
Nothing that a teacher grades is read from here.
"""

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from check.result import NOT_STARTED, STATES, CheckResult
from course.artifacts import run_log
from course.datasets.files import LAB, open_regular, sha256_of, write_whole

_NAME = "check.json"  # beside the log of runs


class _Kept(msgspec.Struct, forbid_unknown_fields=True):
    results: dict[str, tuple[str, str, list[str]]] = {}  # exercise -> state, a few words, SHA-256 of each file judged
    faults: dict[str, tuple[str, list[str]]] = {}  # what was judged -> SHA-256 of the bytes it depends on, its faults


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


def judge_once(what: str, parts: Sequence[bytes], judge: Callable[[], list[str]], anew: bool = False) -> list[str]:
    """What ``judge`` finds. It is called only if ``parts``, all the bytes it depends on, differ from the last call's.

    ``what``: the name under which the faults are kept. ``anew``: call ``judge`` in any case, and keep nothing. The
    lab's own code, which judges, is a part of those bytes.
    """
    if anew:
        return judge()
    digest = hashlib.sha256()
    judges = [path for folder in ("check", "course", "course/golden") for path in sorted((LAB / folder).glob("*.*"))]
    for part in [*(path.read_bytes() for path in judges), *parts]:
        digest.update(hashlib.sha256(part).digest())
    kept = _read()
    if what in kept.faults and kept.faults[what][0] == digest.hexdigest():
        return kept.faults[what][1]
    faults = judge()
    kept.faults[what] = (digest.hexdigest(), faults)
    _write(kept)
    return faults


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
