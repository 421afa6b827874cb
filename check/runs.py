"""Machinery: the runs of a student's that a check needs, found in the log, and predicted before they were computed.

A note or a reflection names a run and, after the name, a number of it: ``names_number``.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from check.result import NOT_STARTED, TO_READ, CheckResult
from check.sheets import read_sheet
from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run, read_output
from course.artifacts.records import BLANKS, README, SUMMARY, Manifest
from course.datasets.files import LAB, sha256_of
from course.errors import UserError
from course.text import quote

_NUMBER = re.compile(r"(?<![\w.-])[0-9]+(?:[.,][0-9]+)?")  # no part of an id, such as dev-005
_FEWEST = 5  # words in a blank of a README


class WantedRun(NamedTuple):
    """A run that an exercise needs.

    ``command``: what to type for it, after ``python3 -m``. ``conditions``: a field of its manifest or of its settings
    -> its value; for a fingerprint the file in ``data/``, and False for no value.
    """

    command: str
    conditions: Mapping[str, Any]


class LoggedRun(NamedTuple):
    """A run in the log that is still there. ``number``: its line in the log, from 0. ``name``: its folder there."""

    number: int
    name: str
    manifest: Manifest
    summary: Mapping[str, Any]
    headline: Mapping[str, float]  # the numbers that the log shows

    @property
    def folder(self) -> str:
        """The last part of its name, by which a student's text names it."""
        return Path(self.name).name

    def describe(self) -> str:
        return ", ".join(f"{name} {value:.3g}" for name, value in self.headline.items())


def read_logged_runs() -> Iterator[LoggedRun]:
    """The runs in the log that are still there, the newest first."""
    log = run_log.read_log(run_log.LOG)
    for number, line in reversed([*enumerate(log)]):
        try:
            run = open_run(LAB / line.run)
            summary = msgspec.json.decode(read_output(run.path, SUMMARY), type=dict[str, Any])
        except (UserError, Broken):  # deleted
            continue
        if run.digest == line.manifest:  # else made again, with other content
            headline = {name: value for name, value in line.number.items() if value is not None}
            yield LoggedRun(number, line.run, run.manifest, summary, headline)


def find_runs(wanted: WantedRun) -> Iterator[LoggedRun]:
    """The logged runs of this command and these conditions, the newest first."""
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
    """Whether the log has such a run with a prediction; if ``readme``, one with words in its README.

    The first such run counts: later ones were predicted by somebody who had seen it.
    """
    runs = [*find_runs(wanted)]
    if not runs:
        return CheckResult(NOT_STARTED, command=wanted.command)
    predicted = [run for run in runs if run.manifest.expect is not None]
    if not predicted:
        short = f"repeat with a prediction ({runs[0].describe() or 'this run'} had none)"
        return CheckResult("started", short, command=wanted.command)
    finished = [run for run in predicted if not (readme and fault_of_readme(run))]
    run = [*predicted, *finished][-1]
    if not finished:
        fault = fault_of_readme(run)
        return CheckResult("started", "", [fault], runs=[run.name], command=wanted.command)  # handed in all the same
    short = f"{run.describe()}, you expected {quote(str(run.manifest.expect))} ({run.name})"
    return CheckResult(TO_READ if readme else "done", short, runs=[run.name])


def words_in(run: LoggedRun) -> dict[str, list[str]]:
    """What the student wrote into each blank of the run's README."""
    path = LAB / run.name / README
    sections = read_sheet(path) if path.is_file() else {}
    return {blank: sections[blank].text.split() if blank in sections else [] for blank in BLANKS}


def has_words(run: LoggedRun) -> bool:
    return any(words_in(run).values())


def fault_of_readme(run: LoggedRun) -> str:
    """Which blank of the run's README has no words yet, in one sentence; an empty text if each has some."""
    for blank, words in words_in(run).items():
        if len(words) < _FEWEST:
            return f"{run.name}/{README}: expected your words under '## {blank}', {_FEWEST} or more, got {len(words)}"
    return ""


# What a student's text says of a run


def names_number(text: str, run: LoggedRun, value: float) -> bool:
    """Whether the text has the run's name and, somewhere after it, the value, rounded or not."""
    return names_value(text.partition(run.folder)[2], value)


def names_value(text: str, value: float) -> bool:
    """Whether a number of the text is the value, rounded or not, as it stands or in percent.

    A share needs two decimals, because 0.9 would stand for too many values; only 0 and 1 need none.
    """
    for number in _NUMBER.findall(text):
        number = number.replace(",", ".")
        decimals = len(number.partition(".")[2])
        rounding = 0.5 * 10.0**-decimals + 1e-9
        is_share = decimals >= 2 or value in (0.0, 1.0)
        if abs(float(number) - 100 * value) <= rounding or (is_share and abs(float(number) - value) <= rounding):
            return True
    return False


def fault_of_naming(text: str, wanted: WantedRun) -> tuple[str, LoggedRun | None]:
    """Why a note does not name such a run with its number, and the run that it names or should name.

    Without a predicted run there is none to name.
    """
    runs = [run for run in find_runs(wanted) if run.manifest.expect]
    for run in runs:
        if any(names_number(text, run, value) for value in run.headline.values()):
            return "", run
    if not runs:
        return f"expected a run of {wanted.command.partition(' ')[0]} with a prediction, got none in your log", None
    number = ", ".join(runs[0].headline)
    return f"expected the name of your run, {quote(runs[0].folder)}, followed by its {number}", runs[0]
