"""Machinery: a run as a deliverable, found in the log of runs, predicted before it was computed."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from check.result import NOT_STARTED, CheckResult
from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run, read_output
from course.artifacts.records import SUMMARY, Manifest
from course.artifacts.run_log import LogLine
from course.datasets.files import LAB, sha256_of
from course.errors import UserError
from course.text import quote

_NO_GUESS = ("", "YOUR GUESS")  # the second is what the check prints for a guess to be put in place of it


def read_logged_runs() -> Iterator[tuple[LogLine, Manifest, dict[str, Any]]]:
    """The runs in the log that are still what it sealed, the newest first: line, manifest and summary."""
    for line in reversed(run_log.read_log(run_log.LOG)):
        try:
            run = open_run(LAB / line.run)
            data = read_output(run.path, SUMMARY)
        except (UserError, Broken):  # deleted, or another one by now
            continue
        if (run.digest, run.manifest.outputs[SUMMARY]) == (line.manifest, hashlib.sha256(data).hexdigest()):
            yield line, run.manifest, msgspec.json.decode(data, type=dict[str, Any])


def check_run(command: str, conditions: Mapping[str, Any]) -> CheckResult:
    """Whether the log of runs has one of this command and conditions, with a prediction; the newest such run counts.

    ``conditions``: a field of its manifest or of its settings -> its value; for a fingerprint the file in ``data/``,
    and False for none. What a run is believed to be stands in the run itself, which the log's digest holds.
    """
    wanted = {}
    for name, value in conditions.items():
        wanted[name] = sha256_of(LAB / "data" / value) if name.endswith("_fingerprint") else value
    newest = CheckResult(NOT_STARTED)
    for line, manifest, summary in read_logged_runs():
        if manifest.command != command or not _meets(manifest, wanted):
            continue
        result = _judge_run(line, manifest, summary)
        if result.state == "done":
            return result
        if newest.state == NOT_STARTED:
            newest = result
    return newest


def _meets(manifest: Manifest, wanted: Mapping[str, Any]) -> bool:
    actual = msgspec.structs.asdict(manifest) | manifest.settings
    return all((actual.get(name) or False) == value for name, value in wanted.items())


def _judge_run(line: LogLine, manifest: Manifest, summary: Mapping[str, Any]) -> CheckResult:
    """Done where a prediction was made: of the run as a whole, or of each step in the run itself."""
    numbers = {name: summary[name] for name in line.number if isinstance(summary.get(name), int | float)}
    got = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
    expected = (manifest.expect or "").strip()
    steps = manifest.settings.get("steps")
    predictions = len(summary.get("predictions", []))
    if expected not in _NO_GUESS:
        how = f"you expected {quote(expected)} ({line.run})"
    elif predictions == steps:
        how = f"predicted step by step ({line.run})"
    elif predictions:
        return CheckResult("started", f"repeat, predict all {steps} updates ({predictions} predicted so far)")
    else:
        return CheckResult("started", f"repeat with a prediction ({got or 'this run'} had none)")
    short = f"{got}, {how}" if got else how
    return CheckResult("done", short, numbers={"runs": [line.run], **numbers})
