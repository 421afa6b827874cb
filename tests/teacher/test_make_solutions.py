"""The locked solutions are the teacher's, and each is of a file that an exercise asks for and passes its check.

An example: ``teacher/solutions/notes/llm_as_policy.md`` in place of ``notes/llm_as_policy.md`` is for the teacher to
read, once a run kl is there: the note names its number.
"""

import shlex
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.encoding import SOLUTIONS, solutions_of
from check.milestones import EXERCISES, check
from check.result import FINISHED
from teacher.make_solutions import FOLDER, content

SOLVED = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.*") if "__pycache__" not in path.parts)
OWNERS = {name: one for one in EXERCISES.values() for name in one.files}
ELSEWHERE = {one.id for one in EXERCISES.values() if one.slow or one.is_level()} | {"experiment"}  # in tests/check
CHECKED = [name for name in SOLVED if name in OWNERS and OWNERS[name].id not in ELSEWHERE]
RUNS = {  # of a note: the names under which it names its runs, in the order in which data/exercises.toml asks for them
    "llm_as_policy": ["kl"],
    "eval_vs_reward": ["dev", "holdout"],
}


def test_what_is_locked_is_what_the_teacher_has() -> None:
    assert SOLUTIONS.read_text(encoding="utf-8") == content()
    assert SOLVED
    for name in SOLVED:
        assert solutions_of([name])[name] == (FOLDER / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", SOLVED)
def test_a_solution_is_of_a_file_that_an_exercise_asks_for(name: str) -> None:
    assert (ROOT / name).is_file()
    assert name in OWNERS


@pytest.mark.parametrize("name", CHECKED)
def test_an_exercise_fails_untouched_and_passes_with_its_solution(lab: Lab, name: str) -> None:
    exercise = OWNERS[name]
    for file in exercise.files:
        text = (ROOT / file).read_text(encoding="utf-8")
        lines = (line for line in text.split("\n") if not file.endswith(".md") or line.startswith(("#", ">")))
        lab.write(file, "\n".join(lines))
    assert check(exercise).state == "not started"
    for run, folder in zip(exercise.runs, RUNS.get(exercise.id, []), strict=True):
        command, *arguments = shlex.split(run.command.replace(" data/", f" {ROOT.as_posix()}/data/"))
        guess = arguments.index("--expect") + 1
        arguments[guess] = "0.5"
        done = lab(command.removeprefix("course."), *arguments, "--outdir", f"runs/{folder}")
        assert done.status == 0, done.err
    earlier = ["exercises/reinforce.py"] if exercise.id == "loop" else []  # loop.py imports it
    for file in [*earlier, *exercise.files]:
        lab.write(file, Path(FOLDER / file).read_bytes())
    checked = check(exercise)
    assert checked.state in FINISHED, checked.lines
