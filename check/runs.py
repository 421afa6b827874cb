"""Machinery: the runs of a student's that a check needs, found in the log, and predicted before they were computed.

A note or a reflection names a run and, after the name, a number of it: ``names_number``.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from check.result import NOT_STARTED, TO_READ, CheckResult
from check.sheets import read_sheet
from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run, read_output
from course.artifacts.records import BLANKS, README, RESULTS, SUMMARY, Manifest
from course.datasets.files import LAB, sha256_of
from course.errors import UserError
from course.text import quote

_NUMBER = re.compile(r"(?<![\w.-])[0-9]+(?:\.[0-9]+)?")  # no part of an id, such as dev-005
_FEWEST = 5  # words in a blank of a README


class WantedRun(NamedTuple):
    """A run that an exercise needs.

    ``command``: what to type for it, after ``python3 -m``. ``conditions``: a field of its manifest or of its settings
    -> its value; for a fingerprint the file in ``data/``, and False for no value.
    """

    command: str
    conditions: Mapping[str, Any]


class LoggedRun(NamedTuple):
    """A run that is still what the log sealed. ``number``: its line in the log, from 0. ``name``: its folder there."""

    number: int
    name: str
    manifest: Manifest
    summary: dict[str, Any]
    headline: Sequence[str]  # the keys of the summary that the log shows

    @property
    def folder(self) -> str:
        """The last part of its name, by which a student's text names it."""
        return Path(self.name).name

    @property
    def headline_numbers(self) -> dict[str, float]:
        numbers = {name: self.summary.get(name) for name in self.headline}
        return {name: value for name, value in numbers.items() if isinstance(value, int | float)}

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
        if (run.digest, run.manifest.outputs.get(SUMMARY)) == (line.manifest, hashlib.sha256(data).hexdigest()):
            summary = msgspec.json.decode(data, type=dict[str, Any])
            yield LoggedRun(number, line.run, run.manifest, summary, [*line.number])


def find_runs(wanted: WantedRun) -> Iterator[LoggedRun]:
    """The logged runs of this command and these conditions, the newest first.

    All conditions are read from the run's own manifest, which the log seals by its digest.
    """
    return (run for run in read_logged_runs() if meets(run, wanted))


def meets(run: LoggedRun, wanted: WantedRun) -> bool:
    """Whether it is a run of this command and these conditions."""
    actual = msgspec.structs.asdict(run.manifest) | run.manifest.settings
    for name, value in wanted.conditions.items():
        expected = sha256_of(LAB / "data" / value) if name.endswith("_fingerprint") else value
        if (actual.get(name) or False) != expected:
            return False
    return run.manifest.command == wanted.command.split(" ")[0]


def check_run(wanted: WantedRun, *, readme: bool = False) -> CheckResult:
    """Whether the log has such a run with a prediction; if ``readme``, one with words in its README. Any run counts."""
    best = CheckResult(NOT_STARTED, command=wanted.command)
    for run in find_runs(wanted):
        numbers = run.headline_numbers
        result = ", ".join(f"{name} {value:.3g}" for name, value in numbers.items())
        expected = run.manifest.expect
        if expected is None:
            if best.state == NOT_STARTED:
                short = f"repeat with a prediction ({result or 'this run'} had none)"
                best = CheckResult("started", short, command=wanted.command)
            continue
        short = f"{result}, you expected {quote(expected)} ({run.name})"
        fault = fault_of_readme(run) if readme else ""
        if not fault:
            return CheckResult(TO_READ if readme else "done", short, numbers={"runs": [run.name], **numbers})
        if not best.lines:
            best = CheckResult("started", short, [fault], numbers={"runs": [run.name]})
    return best


def fault_of_readme(run: LoggedRun) -> str:
    """Which blank of the run's README has no words yet, in one sentence; an empty text if each has some."""
    name = f"{run.name}/{README}"
    sections = read_sheet(LAB / name) if (LAB / name).is_file() else {}
    for blank in BLANKS:
        words = sections[blank].text.split() if blank in sections else []
        if len(words) < _FEWEST:
            return f"{name}: expected your words under '## {blank}', {_FEWEST} or more, got {len(words)}"
    return ""


# What a student's text says of a run


def names_number(text: str, run: LoggedRun, value: float) -> bool:
    """Whether the text has the run's name and, somewhere after it, the value, rounded or not."""
    return has_value(text.partition(run.folder)[2], value)


def has_value(text: str, value: float) -> bool:
    """Whether a number of the text is this count, as it stands, or this share, as ``is_value`` reads it."""
    numbers = _NUMBER.findall(text)
    if isinstance(value, int):
        return str(value) in numbers
    return any(is_value(number, value) for number in numbers)


def is_value(number: str, value: float) -> bool:
    """Whether a number is the value, rounded or not, as a share or in percent.

    A share needs two decimals, because 0.9 would stand for too many values; only 0 and 1 need none.
    """
    _, _, decimals = number.partition(".")
    rounding = 0.5 * 10.0 ** -len(decimals) + 1e-9
    if abs(float(number) - 100 * value) <= rounding:
        return True
    return (len(decimals) >= 2 or value in (0.0, 1.0)) and abs(float(number) - value) <= rounding


def fault_of_naming(text: str, wanted: WantedRun) -> tuple[str, LoggedRun | None]:
    """Why a note does not name such a run with its number, and the run that it names or should name.

    Without a predicted run there is none to name.
    """
    runs = [run for run in find_runs(wanted) if run.manifest.expect]
    for run in runs:
        if any(names_number(text, run, value) for value in run.headline_numbers.values()):
            return "", run
    if not runs:
        return f"expected a run of {wanted.command.partition(' ')[0]} with a prediction, got none in your log", None
    number = ", ".join(runs[0].headline_numbers)
    return f"expected the name of your run, {quote(runs[0].folder)}, followed by its {number}", runs[0]
