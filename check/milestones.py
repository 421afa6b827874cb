"""Machinery: what each milestone asks for, in the order in which it is done, and the check of each exercise.

An exercise is a row of ``data/exercises.toml``. To add one, add a row; if it is no note, kata, level or run, then three
lines in ``check`` as well.
"""

import tomllib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from check.notes import check_note
from check.result import CheckResult
from check.runs import WantedRun, check_run
from course.datasets.files import LAB
from course.errors import UserError

Progress = Callable[[Iterable[Any]], Iterable[Any]]


class Exercise(NamedTuple):
    """One deliverable. Its fields are explained at the top of ``data/exercises.toml``; ``milestone``: its number."""

    id: str
    milestone: str
    what: str
    read: str
    hints: Sequence[str]
    files: Sequence[str] = ()
    runs: Sequence[WantedRun] = ()
    readme: bool = False
    slow: bool = False

    def is_level(self) -> bool:
        return self.id.startswith("level_")


_EXERCISE_ROWS = tomllib.loads((LAB / "data" / "exercises.toml").read_text(encoding="utf-8"))
EXERCISES = {}
for _id, _row in _EXERCISE_ROWS["exercises"].items():
    EXERCISES[_id] = Exercise(_id, **_row | {"runs": [WantedRun(**run) for run in _row.get("runs", [])]})
MILESTONES = tuple(dict.fromkeys(exercise.milestone for exercise in EXERCISES.values()))


def check(exercise: Exercise, progress: Progress = iter) -> CheckResult:
    """The result of its check. What a student's file has wrong in its form is a result, too.

    ``progress``: shows a person how far a check is that takes long.
    """
    try:
        return _call_check(exercise, progress)
    except UserError as error:
        return CheckResult("wrong", str(error), [str(error)])


def _call_check(exercise: Exercise, progress: Progress) -> CheckResult:
    """A check is imported where it is called: most of them load much that the others do not need."""
    if exercise.is_level():
        from check.levels import check_level

        return check_level(exercise.id)
    if not exercise.files:
        return check_run(exercise.runs[0], readme=exercise.readme)
    if exercise.id.startswith("kata_"):
        from check.kata import check_kata

        return check_kata(exercise.id)
    if exercise.id == "loop":
        from check.loop import check_loop

        update = check_loop()
        if update.state != "done":
            return update
        trained = check_run(exercise.runs[0])
        if trained.state != "done":
            return CheckResult("started", f"{update.short}; now train with it", command=trained.command)
        return trained._replace(short=f"{update.short}; {trained.short}")
    if exercise.id == "redteam":
        from check.redteam import check_redteam

        return check_redteam(progress)
    if exercise.id == "committee":
        from check.committee import check_committee

        return check_committee()
    if exercise.id == "experiment":
        from check.own_experiment import check_experiment

        return check_experiment()
    if exercise.id == "tests":
        from check.own_tests import check_tests

        return check_tests()
    return check_note(Path(exercise.files[0]), exercise.runs)
