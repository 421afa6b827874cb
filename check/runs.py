"""Machinery: a run as a deliverable, found in the log of runs, predicted before it was computed."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from check.result import NOT_STARTED, CheckResult
from course.artifacts import run_log
from course.artifacts.prediction import is_placeholder
from course.artifacts.reading import Broken, open_run, read_output
from course.artifacts.records import RESULTS, SUMMARY, Manifest
from course.datasets.files import LAB, sha256_of
from course.errors import UserError
from course.text import quote


class LoggedRun(NamedTuple):
    """A run that is still what the log sealed. ``number``: its line in the log, from 0. ``name``: its folder there."""

    number: int
    name: str
    manifest: Manifest
    summary: dict[str, Any]
    headline: Sequence[str]  # the keys of the summary that the log shows

    def read(self, output: str) -> bytes:
        """One of its files. Raises UserError where that is not the file which the manifest seals."""
        path = LAB / self.name / output
        try:
            data = read_output(path.parent, output)
        except Broken as broken:
            raise UserError(f"{path}: {broken}; run it again") from None
        if hashlib.sha256(data).hexdigest() != self.manifest.outputs.get(output):
            raise UserError(f"{path}: expected the file as the run left it, got other bytes; run it again")
        return data

    def rows(self) -> list[dict[str, Any]]:
        """Its results."""
        return [msgspec.json.decode(line) for line in self.read(RESULTS).split(b"\n") if line]


def read_logged_runs() -> Iterator[LoggedRun]:
    """The runs in the log that are still what it sealed, the newest first."""
    log = run_log.read_log(run_log.LOG)
    for number, line in reversed([*enumerate(log)]):
        try:
            run = open_run(LAB / line.run)
            data = read_output(run.path, SUMMARY)
        except (UserError, Broken):  # deleted, or made again with other content
            continue
        if (run.digest, run.manifest.outputs[SUMMARY]) == (line.manifest, hashlib.sha256(data).hexdigest()):
            summary = msgspec.json.decode(data, type=dict[str, Any])
            yield LoggedRun(number, line.run, run.manifest, summary, [*line.number])


def check_run(command: str, conditions: Mapping[str, Any]) -> CheckResult:
    """Whether the log has a run of this command and conditions, with a prediction.

    The newest run with a prediction counts; if no run has one, the newest run does.

    ``conditions``: a field of its manifest or of its settings -> its value; for a fingerprint the file in ``data/``,
    and False for no value. All of them are read from the run's own manifest, which the log seals by its digest.
    """
    wanted = {}
    for name, value in conditions.items():
        wanted[name] = sha256_of(LAB / "data" / value) if name.endswith("_fingerprint") else value
    newest = CheckResult(NOT_STARTED)
    for run in read_logged_runs():
        if run.manifest.command != command or not _meets(run.manifest, wanted):
            continue
        result = _judge_run(run)
        if result.state == "done":
            return result
        if newest.state == NOT_STARTED:
            newest = result
    return newest


def _meets(manifest: Manifest, wanted: Mapping[str, Any]) -> bool:
    actual = msgspec.structs.asdict(manifest) | manifest.settings
    return all((actual.get(name) or False) == value for name, value in wanted.items())


def _judge_run(run: LoggedRun) -> CheckResult:
    """Done where a prediction was made: of the run as a whole, or of each step in the run itself."""
    numbers = {name: run.summary[name] for name in run.headline if isinstance(run.summary.get(name), int | float)}
    result = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
    expected = (run.manifest.expect or "").strip()
    steps = run.manifest.settings.get("steps")
    predictions = len(run.summary.get("predictions", []))
    if expected and not is_placeholder(expected):
        how = f"you expected {quote(expected)} ({run.name})"
    elif predictions == steps:
        how = f"predicted step by step ({run.name})"
    elif predictions:
        return CheckResult("started", f"repeat, predict all {steps} updates ({predictions} predicted so far)")
    else:
        return CheckResult("started", f"repeat with a prediction ({result or 'this run'} had none)")
    short = f"{result}, {how}" if result else how
    return CheckResult("done", short, numbers={"runs": [run.name], **numbers})
