"""The commands of the README and of the page on Loop C: every command has one, and the page's are run.

The README's are run with those of all other pages, by tests/docs/test_pages.py. Those of Loop C take minutes, and are
run with fewer updates. An example: a command is renamed in the code only. Its line ends with status 2, and the test
shows it.
"""

import re
import shlex
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab
from doc_pages import BRIEFLY, blocks
from test_architecture import COMMANDS

LOOP_C = "docs/loop_c.md"
README = (ROOT / "README.md").read_text(encoding="utf-8")
LOOK = re.compile(r"course\.token_train|_holdout\.jsonl|course\.(goodhart|coverage|pass_at_k)_demo")
NOT_RUN_HERE = {  # .ci/run runs the first two, on a fresh environment; tests/test_micro.py the third
    *("python3 lab.py", "python3 lab.py test"),
    "python3 lab.py micro",
}


def shell_lines(page: str) -> list[str]:
    return [line for block in blocks(ROOT / page) if block.language == "bash" for line in block.lines]


def lay_out(folder: Path) -> None:
    """What the commands read, and nothing else."""
    for name in ("data", "exercises"):
        shutil.copytree(ROOT / name, folder / name)


def test_every_line_is_a_command_of_the_course_and_every_command_has_one() -> None:
    lines = [line for page in ("README.md", LOOP_C) for line in shell_lines(page) if line not in NOT_RUN_HERE]
    assert [line for line in lines if not re.match(r"python3 -m course\.\w+( |$)", line)] == []
    named = {line.split()[2].removeprefix("course.") for line in lines}
    assert named | {"check", "eval_shards"} == {*COMMANDS}
    assert "course.eval_shards" in README
    assert "python3 -m course.check" in README


def test_the_readme_spends_at_most_one_look_at_each_holdout() -> None:
    assert [line for line in shell_lines("README.md") if LOOK.search(line)] == [
        "python3 -m course.token_train --preset memorise --rubric anywhere --outdir runs/readme_hack"
    ]


def test_the_commands_but_for_the_trainings_do_what_the_page_says(lab: Lab) -> None:
    """In this process. What reads a policy that was trained is left out with the trainings."""
    lay_out(lab.folder)
    for line in shell_lines(LOOP_C):
        if any(word in line for word in (*BRIEFLY, "runs/skill", "runs/fresh")):
            continue
        _, _, module, *arguments = shlex.split(line)
        done = lab(module.removeprefix("course."), *arguments)
        assert done.status == 0, (line, done.err)
        assert done.out
        assert not done.err


@pytest.mark.slow
def test_every_command_does_what_the_page_says(lab: Lab) -> None:
    """As processes; after five updates instead of 600, what was trained need not be promoted."""
    lay_out(lab.folder)
    for line in shell_lines(LOOP_C):
        _, _, module, *arguments = shlex.split(line.replace("_0600", "_0005"))
        done = lab.process(module.removeprefix("course."), *arguments, *BRIEFLY.get(module, []))
        undecided = {0, 1, 3} if "runs/skill_after" in arguments and module == "course.gate" else {0}
        assert done.status in undecided, (line, done.err)
        assert done.out
        assert not done.err


def test_the_readme_counts_the_golden_exploits_as_they_are() -> None:
    lines = (ROOT / "course" / "golden" / "golden_exploits.jsonl").read_text(encoding="utf-8").split("\n")
    assert f"{sum(map(bool, lines))} of them exploits" in README
