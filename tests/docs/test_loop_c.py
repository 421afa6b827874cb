"""The commands of the page on Loop C, docs/loop_c.md. They take minutes, and are run here with fewer updates.

An example: a command is renamed in the code only. Its line on the page ends with status 2, and the test shows the line.
"""

import shlex
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab
from doc_pages import blocks, briefly

from course.experiment import parse_arguments

LINES = [line for block in blocks(ROOT / "docs" / "loop_c.md") if block.language == "bash" for line in block.lines]
READS_A_TRAINED_POLICY = ("runs/skill", "runs/fresh")
EXPERIMENTS = [line for line in LINES if "course.experiment" in line]  # tests/test_terminal.py runs each of them
TRAININGS = [line for line in LINES if "token_train" in line or any(run in line for run in READS_A_TRAINED_POLICY)]


def copy_inputs(folder: Path) -> None:
    """What the commands read, and nothing else."""
    for name in ("data", "exercises"):
        shutil.copytree(ROOT / name, folder / name)


def test_the_commands_but_for_the_trainings_do_what_the_page_says(lab: Lab) -> None:
    """In this process. What reads a policy that was trained is left out with the trainings."""
    copy_inputs(lab.folder)
    for line in LINES:
        if line in (*TRAININGS, *EXPERIMENTS):
            continue
        _, _, module, *arguments = shlex.split(line)
        done = lab(module.removeprefix("course."), *arguments)
        assert done.status == 0, (line, done.err)
        assert done.out
        assert not done.err


def test_the_experiments_are_typed_as_the_command_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not run. A word that the command does not know raises SystemExit."""
    for line in EXPERIMENTS:
        _, _, module, *arguments = shlex.split(line)
        monkeypatch.setattr("sys.argv", [module, *arguments])
        assert parse_arguments().experiment == arguments[0]
    assert len(EXPERIMENTS) > 1


@pytest.mark.slow
def test_the_trainings_do_what_the_page_says(lab: Lab) -> None:
    """As processes, with a few updates instead of 600."""
    copy_inputs(lab.folder)
    for line in TRAININGS:
        _, _, module, *arguments = shlex.split(line)
        done = lab.process(module.removeprefix("course."), *arguments, *briefly(line))
        assert done.status == 0, (line, done.err)
        assert done.out
        assert not done.err
