"""Machinery: the last result of each slow check, for the overview, in ``runs/check.json``, which may be deleted.

A result belongs to the files that were judged: it is kept with their digests. Nothing that a teacher grades is read
from here.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from check.result import NOT_STARTED, STATES, CheckResult
from course.artifacts import run_log
from course.datasets.files import open_regular, sha256_of, write_whole

_NAME = "check.json"  # beside the log of runs
_Results = dict[str, tuple[str, str, list[str]]]  # exercise -> state, a few words, and the SHA-256 of each file judged


def keep_result(exercise: str, files: Sequence[str], result: CheckResult) -> None:
    results = _read_results()
    results[exercise] = (result.state, result.short, _digests(files))
    run_log.LOG.parent.mkdir(parents=True, exist_ok=True)
    write_whole(run_log.LOG.with_name(_NAME), msgspec.json.format(msgspec.json.encode(results), indent=1) + b"\n")


def read_last_result(exercise: str, files: Sequence[str]) -> CheckResult:
    """The last result of a slow check; started where the files are other ones by now."""
    results = _read_results()
    if exercise not in results:
        return CheckResult(NOT_STARTED, "not judged yet")
    state, short, digests = results[exercise]
    if digests and digests != _digests(files):
        return CheckResult("started", "changed since it was judged")
    if state not in STATES:  # edited
        return CheckResult(NOT_STARTED, short)
    return CheckResult(state, short)


def _digests(files: Sequence[str]) -> list[str]:
    return [sha256_of(Path(name)) for name in files]


def _read_results() -> _Results:
    try:
        with open_regular(run_log.LOG.with_name(_NAME)) as file:
            return msgspec.json.decode(file.read(1 << 20), type=_Results)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # none yet, or edited: as if deleted
        return {}
