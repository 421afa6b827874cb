"""Machinery: a run as a deliverable, found in the log of runs, predicted before it was computed."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from check.report import Checked
from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run, read_output
from course.artifacts.records import SUMMARY, Manifest
from course.artifacts.run_log import LogLine
from course.datasets.files import LAB, sha256_of
from course.errors import UserError
from course.text import quote

_NO_GUESS = ("", "YOUR GUESS")  # the second is what the check prints for a guess to be put in place of it


def logged_runs() -> Iterator[tuple[LogLine, Manifest, dict[str, Any]]]:
    """The runs in the log that are still what it sealed, the newest first: line, manifest and summary."""
    for line in reversed(run_log.read_log(run_log.LOG)):
        try:
            run = open_run(LAB / line.run)
            data = read_output(run.path, SUMMARY)
        except (UserError, Broken):  # deleted, or another one by now
            continue
        if (run.digest, run.manifest.outputs[SUMMARY]) == (line.manifest, hashlib.sha256(data).hexdigest()):
            yield line, run.manifest, msgspec.json.decode(data, type=dict[str, Any])


def check_run(command: str, asked: Mapping[str, Any]) -> Checked:
    """Whether the log of runs has one of this command, as asked, with a prediction; the newest such run counts.

    ``asked``: a field of its manifest or of its settings -> its value; for a fingerprint the file in ``data/``, and
    False for none. What is said of a run stands in the run itself, which the log's digest holds.
    """
    wanted = {
        name: sha256_of(LAB / "data" / value) if name.endswith("_fingerprint") else value
        for name, value in asked.items()
    }
    found = Checked("not started")
    for line, manifest, summary in logged_runs():
        if manifest.command != command:
            continue
        said = msgspec.structs.asdict(manifest) | manifest.settings
        if any((said.get(name) or False) != value for name, value in wanted.items()):
            continue
        numbers = {name: summary[name] for name in line.number if isinstance(summary.get(name), int | float)}
        result = "".join(f"{name} {value:.3g}, " for name, value in numbers.items())
        expected = (manifest.expect or "").strip()
        steps, made = manifest.settings.get("steps"), len(summary.get("predictions", []))  # one by one, in the run
        if expected not in _NO_GUESS or made == steps:
            guess = f"you expected {quote(expected)}" if expected else "predicted step by step"
            return Checked("done", f"{result}{guess} ({line.run})", numbers={"runs": [line.run], **numbers})
        if found.state != "started":
            lacks = f"{made} of {steps} updates predicted; once more, all" if made else ""
            found = Checked("started", f"{result}{lacks or 'without a prediction; once more, with one'}")
    return found
