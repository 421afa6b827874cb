"""Machinery: what each milestone asks for, in the order in which it is done, and the check of each exercise.

An exercise is a row of ``data/exercises.toml``. To add one, add a row; if it is no note, no kata and no run, then a
line in ``OWN_CHECKS`` as well.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from check.functions import check_functions, check_my_pick_best
from check.judging import check_tests
from check.kata import check_kata
from check.levels import LEVELS, check_level, record_prediction
from check.oracles import FUNCTION_FILES
from check.own_spec import check_my_score
from check.redteam import check_redteam
from check.report import Checked
from check.runs import check_run
from check.sheets import check_note
from course.datasets.files import LAB
from course.datasets.records import VerifierSource
from course.errors import UserError


class Exercise(NamedTuple):
    """One deliverable. Its fields are explained at the top of ``data/exercises.toml``; ``milestone``: its number."""

    id: str
    milestone: str
    what: str
    read: str
    hints: Sequence[str]
    command: str = ""
    files: Sequence[str] = ()
    run: Mapping[str, Any] | None = None
    slow: bool = False


class Given(NamedTuple):
    """What a check may be given: the seed of what it draws, and verifiers beside the course's own."""

    seed: int = 0
    verifiers: Sequence[VerifierSource] = ()


OWN_CHECKS: Mapping[str, Callable[[Given], Checked]] = {
    "my_pick_best": lambda given: check_my_pick_best(given.seed),
    "my_score": lambda given: check_my_score(given.seed),
    "redteam": lambda given: check_redteam(seed=given.seed),
    "tests": lambda given: check_tests(extra=given.verifiers),
}
# What records how likely the event of a level is held to be, and says so.
PREDICTIONS: Mapping[str, Callable[[float], str]] = {name: partial(record_prediction, name) for name in LEVELS}


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((LAB / "data" / name).read_text(encoding="utf-8"))


_EXERCISE_ROWS = _table("exercises.toml")
NOTES: dict[str, dict[str, list[str]]] = _table("notes.toml")
MILESTONES: dict[str, str] = _EXERCISE_ROWS["milestones"]
EXERCISES = {id_: Exercise(id_, **row) for id_, row in _EXERCISE_ROWS["exercises"].items()}


def check(exercise: Exercise, given: Given) -> Checked:
    """What its check finds. What a student's file has wrong in its form is a finding, too."""
    try:
        if exercise.run is not None:
            return check_run(exercise.command.split()[0], exercise.run)
        if exercise.id in NOTES:
            return check_note(Path(exercise.files[0]), NOTES[exercise.id])
        if exercise.id.startswith("kata_"):
            return check_kata(exercise.id)
        if exercise.id in LEVELS:
            return check_level(exercise.id)
        if exercise.id in FUNCTION_FILES:
            return check_functions(exercise.id, given.seed)
        return OWN_CHECKS[exercise.id](given)
    except UserError as error:
        return Checked("wrong", str(error), [str(error)])
