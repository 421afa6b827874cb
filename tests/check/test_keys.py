"""Each key is of a file that an exercise asks for, and passes its check.

An example: ``data/keys/notes/llm_as_policy.md`` in place of ``notes/llm_as_policy.md`` is for the teacher to read, once
a run kl is there: the note names its number.
"""

import shlex
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.milestones import EXERCISES, check
from check.result import FINISHED
from check.sheets import KEYS

NAMES = sorted(path.relative_to(KEYS).as_posix() for path in KEYS.rglob("*.*") if "__pycache__" not in path.parts)
OWNERS = {name: one for one in EXERCISES.values() for name in one.files}
ELSEWHERE = {one.id for one in EXERCISES.values() if one.slow or one.is_level()} | {
    "experiment",
    "loop",
}  # in tests/check
RUNS = {  # of a note: the names under which it names its runs, in the order in which data/exercises.toml asks for them
    "llm_as_policy": ["kl"],
    "eval_vs_reward": ["dev", "holdout"],
}


@pytest.mark.parametrize("name", NAMES)
def test_an_exercise_fails_untouched_and_passes_with_its_key(lab: Lab, name: str) -> None:
    exercise = OWNERS[name]
    if exercise.id in ELSEWHERE:
        return
    for file in exercise.files:
        lab.write(file, as_shipped(ROOT / file))
    assert check(exercise).state == "not started"
    for run, folder in zip(exercise.runs, RUNS.get(exercise.id, []), strict=True):
        command, *arguments = shlex.split(run.command.replace(" data/", f" {ROOT.as_posix()}/data/"))
        guess = arguments.index("--expect") + 1
        arguments[guess] = "0.5"
        done = lab(command.removeprefix("course."), *arguments, "--outdir", f"runs/{folder}")
        assert done.status == 0, done.err
    for file in exercise.files:
        lab.write(file, (KEYS / file).read_bytes())
    checked = check(exercise)
    assert checked.state in FINISHED, checked.lines


def as_shipped(path: Path) -> str:
    """A stub as it is; of a sheet what is the course's."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".md":
        return text
    return "\n".join(line for line in text.split("\n") if line.startswith(("#", ">", "|")))
