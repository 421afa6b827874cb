"""The rows of data/exercises.toml: whole, in order, and about files that are there.

An example: ``kata_1`` belongs to milestone 0, has three hints, and says to read part 5 of a page that has a part 5.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.levels import LEVELS
from check.milestones import EXERCISES, MILESTONES, Exercise, check
from check.sheets import KEYS, read_sheet

exercises = pytest.mark.parametrize("exercise", EXERCISES.values(), ids=EXERCISES)


def headings(text: str) -> set[str]:
    return set(re.findall(r"^##+ ([^:\n]*)", text, re.MULTILINE))


@exercises
def test_each_exercise_says_where_it_is_explained_and_what_to_type(exercise: Exercise) -> None:
    path, _, part = exercise.read.partition(", part ")
    text = (ROOT / path).read_text(encoding="utf-8")
    if part.isdigit():
        assert f"\n## {part}. " in text
    elif part:
        assert {part, f"Part {part}"} & headings(text)
    assert all(run.command.startswith("course.") for run in exercise.runs)


@exercises
def test_each_exercise_has_three_hints_of_its_own_and_a_place(exercise: Exercise) -> None:
    assert len(set(exercise.hints)) == 3
    assert all((ROOT / name).is_file() for name in exercise.files)
    assert exercise.files or exercise.runs or exercise.is_level()


def test_exercises_stand_in_the_order_of_the_milestones() -> None:
    numbers = [float(exercise.milestone) for exercise in EXERCISES.values()]
    assert numbers == sorted(numbers)
    assert {*MILESTONES} == {path.stem for path in (ROOT / "docs" / "milestones").glob("*.md")}


def test_every_level_is_an_exercise() -> None:
    assert {exercise.id for exercise in EXERCISES.values() if exercise.is_level()} == {*LEVELS}


@pytest.mark.parametrize("note", sorted((KEYS / "notes").glob("*.md")), ids=lambda path: path.stem)
def test_a_note_as_shipped_has_the_headings_of_its_key(note: Path) -> None:
    assert [*read_sheet(ROOT / "notes" / note.name)] == [*read_sheet(note)]


def test_a_right_update_is_done_once_it_has_trained(lab: Lab) -> None:
    for name in ("loop.py", "reinforce.py", "my_score.py"):
        lab.write(f"exercises/{name}", (ROOT / "data" / "keys" / "exercises" / name).read_bytes())
    shutil.copytree(ROOT / "data", lab.folder / "data")
    before = check(EXERCISES["loop"])
    assert before.state == "started"
    words = shlex.split(before.command.replace("YOUR GUESS", "0.5"))
    assert lab("token_train", *words[1:], "--sft-steps", "1", "--steps", "1").status == 0
    assert check(EXERCISES["loop"]).state == "done"
