"""Machinery: what each milestone asks for, in the order in which it is done, and the check of each exercise.

An exercise is an id, what to do and where that is explained, a command, and a check. To add one, add a row.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from course.artifacts import run_log
from course.artifacts.reading import Broken, open_run, read_output
from course.artifacts.records import SUMMARY
from course.datasets.files import LAB
from course.errors import UserError
from course.exercises.judging import TESTS, check_tests
from course.exercises.kata import check_kata
from course.exercises.sheets import MENTAL_MAP, check_note
from course.reports.check import Checked
from course.reports.tables import percent
from course.text import quoted


class Exercise(NamedTuple):
    """``command``: what to type when ``what`` is done, after ``python3 -m``; by default its check."""

    id: str
    what: str
    read: str
    check: Callable[[], Checked]
    command: str = ""

    def checked(self) -> Checked:
        """What its check finds. What a student's file has wrong in its form is a finding, too."""
        try:
            return self.check()
        except UserError as error:
            return Checked("wrong", str(error), [str(error)])


def check_first_run() -> Checked:
    """Whether the log of runs has one of Loop A on the dev set and its completions as shipped, with a prediction.

    What it says of the run stands in the run itself, which the log's digest holds.
    """
    files = ("datasets/math_dev.jsonl", "rollouts/frozen_rollouts_dev.jsonl")
    shipped = tuple(hashlib.sha256((LAB / "data" / name).read_bytes()).hexdigest() for name in files)
    found = Checked("not started")
    for line in reversed(run_log.read_log(run_log.LOG)):
        if line.command != "course.eval":
            continue
        try:
            run = open_run(LAB / line.run)
            data = read_output(run.path, SUMMARY)
        except (UserError, Broken):  # deleted, or another one by now
            continue
        manifest, digest = run.manifest, hashlib.sha256(data).hexdigest()
        if (run.digest, manifest.outputs[SUMMARY]) != (line.manifest, digest):
            continue
        if (manifest.dataset_fingerprint, manifest.completions_fingerprint) == shipped:
            rate = f"{percent(msgspec.json.decode(data)['pass_rate'])} passed"
            if (expected := (manifest.expect or "").strip()) not in ("", "YOUR GUESS"):
                return Checked("done", f"{rate}, you expected {quoted(expected)} ({line.run})")
            found = Checked("started", f"{rate}, without a prediction; once more, with --expect")
    return found


_EVAL = (
    "course.eval --dataset data/datasets/math_dev.jsonl "
    '--completions data/rollouts/frozen_rollouts_dev.jsonl --expect "YOUR GUESS"'
)
_NOTE = Path("notes") / "mental_map_v1.md"
_PAGE = "docs/milestones/0.md, part"
MILESTONES = {
    "Milestone 0: words, a first measurement, ten diagnoses": (
        Exercise("first_run", "write your guess in place of YOUR GUESS", f"{_PAGE} 2", check_first_run, _EVAL),
        Exercise("kata_1", "fill in exercises/kata_1.md", f"{_PAGE} 4", partial(check_kata, "kata_1")),
        Exercise("mental_map_v1", f"fill in {_NOTE}", f"{_PAGE} 5", partial(check_note, _NOTE, MENTAL_MAP)),
    ),
    "Milestone 4: the verifier, and tests of it": (
        Exercise("tests", f"add tests to {TESTS}", TESTS.as_posix(), check_tests),
    ),
}
EXERCISES = {exercise.id: exercise for exercises in MILESTONES.values() for exercise in exercises}
