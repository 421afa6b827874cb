"""Machinery: what each milestone asks for, in the order in which it is done, and the check of each exercise.

An exercise is a row of ``data/exercises.toml``. To add one, add a row; if it is no note, kata, level or run, then three
lines in ``check`` as well.
"""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from check.result import CANNOT_CHECK, CannotCheck, CheckResult
from check.runs import WantedRun
from course.datasets.files import LAB
from course.errors import UserError


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
MILESTONES: dict[str, str] = _EXERCISE_ROWS["milestones"]


def _read_exercise(id_: str, row: Mapping[str, Any]) -> Exercise:
    runs = [WantedRun(**run) for run in row.get("runs", [])]
    return Exercise(id_, **{**row, "runs": runs})


EXERCISES = {id_: _read_exercise(id_, row) for id_, row in _EXERCISE_ROWS["exercises"].items()}


def check(exercise: Exercise, seed: int = 0, progress: Callable[[Iterable[Any]], Iterable[Any]] = iter) -> CheckResult:
    """The result of its check. What a student's file has wrong in its form is a result, too.

    A check is imported where it is called: most of them load much that the others do not need. ``seed``: of what it
    draws. ``progress``: shows a person how far a check is that takes long.
    """
    try:
        if exercise.is_level():
            from check.levels import check_level

            return check_level(exercise.id, seed=seed)
        if not exercise.files:
            from check.runs import check_run

            return check_run(exercise.runs[0], readme=exercise.readme)
        if exercise.id.startswith("kata_"):
            from check.kata import check_kata

            return check_kata(exercise.id)
        if exercise.id == "loop":
            from check.loop import check_loop

            return check_loop(Path(exercise.files[0]), seed=seed)
        if exercise.id == "redteam":
            from check.redteam import check_redteam

            return check_redteam(seed=seed, progress=progress)
        if exercise.id == "committee":
            from check.committee import check_committee

            return check_committee()
        if exercise.id == "experiment":
            from check.own_experiment import check_experiment

            return check_experiment()
        if exercise.id == "tests":
            from check.judging import check_tests

            return check_tests()

        from check.notes import check_note

        return check_note(Path(exercise.files[0]), exercise.runs)
    except CannotCheck as error:
        return CheckResult(CANNOT_CHECK, str(error), [str(error)])
    except UserError as error:
        return CheckResult("wrong", str(error), [str(error)])
