"""What the README and the page on Loop C show is run: shell lines in order, in an empty folder with the data; Python.

An example: a command in the README is renamed in the code only. The line is run as it stands there, ends with
status 2, and the test shows it.
"""

import doctest
import re
import shlex
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab
from test_architecture import COMMANDS

PAGES = {name: (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/loop_c.md")}
README = PAGES["README.md"]
LOOK = re.compile(r"course\.token_train|_holdout\.jsonl|course\.(goodhart|coverage|pass_at_k)_demo")
NOT_RUN_HERE = {  # .ci/run runs the first two, on a fresh environment; tests/test_micro.py the third
    *("python3 lab.py", "python3 lab.py test"),
    "python3 lab.py micro",
}
# The README says that the gate refuses the first, and that the second is cheated: status 1.
REFUSED = ("--candidate runs/n4", "--rubric suffix")
BRIEFLY = {  # what takes up to minutes is run as shown, but for this
    "course.token_train": ["--sft-steps", "20", "--steps", "5"],
    "course.goodhart_demo": ["--steps", "5"],
    "course.distribution_shift_demo": ["--steps", "5"],
    "course.pass_at_k_demo": ["--steps", "5", "--prompts", "2", "--presets", "memorise"],
    "course.sweep_demo": ["--steps", "5"],
}


def shell_lines(page: str) -> list[str]:
    blocks = re.findall(r"^```bash\n(.*?)^```$", PAGES[page], re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.split("\n") if line]


def lay_out(folder: Path) -> None:
    """What the commands read, and nothing else."""
    for name in ("data", "exercises"):
        shutil.copytree(ROOT / name, folder / name)


@pytest.mark.parametrize("page", PAGES)
def test_every_fence_is_of_a_kind_that_is_looked_at(page: str) -> None:
    assert set(re.findall(r"^```(\w+)$", PAGES[page], re.MULTILINE)) <= {"bash", "python", "text"}


def test_every_line_is_a_command_of_the_course_and_every_command_has_one() -> None:
    lines = [line for page in PAGES for line in shell_lines(page) if line not in NOT_RUN_HERE]
    assert [line for line in lines if not re.match(r"python3 -m course\.\w+( |$)", line)] == []
    named = {line.split()[2].removeprefix("course.") for line in lines}
    assert named | {"check", "eval_shards"} == {*COMMANDS}
    assert "course.eval_shards" in README
    assert "python3 -m course.check" in README


def test_the_readme_spends_at_most_one_look_at_each_holdout() -> None:
    assert [line for line in shell_lines("README.md") if LOOK.search(line)] == [
        "python3 -m course.token_train --preset memorise --rubric anywhere --outdir runs/hack"
    ]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_but_for_the_trainings_do_what_the_page_says(lab: Lab, page: str) -> None:
    """In this process. What reads a policy that was trained is left out with the trainings."""
    lay_out(lab.folder)
    for line in shell_lines(page):
        if line in NOT_RUN_HERE or any(word in line for word in (*BRIEFLY, "runs/skill", "runs/fresh")):
            continue
        _, _, module, *arguments = shlex.split(line)
        done = lab(module.removeprefix("course."), *arguments)
        assert done.status == any(words in line for words in REFUSED), (line, done.err)
        assert done.out
        assert not done.err


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_every_command_does_what_the_page_says(lab: Lab, page: str) -> None:
    """As processes; after five updates instead of 600, what was trained need not be promoted."""
    lay_out(lab.folder)
    for line in shell_lines(page):
        if line in NOT_RUN_HERE:
            continue
        _, _, module, *arguments = shlex.split(line.replace("_0600", "_0005"))
        done = lab.process(module.removeprefix("course."), *arguments, *BRIEFLY.get(module, []))
        undecided = {1, 3} if "runs/skill_after" in arguments and module == "course.gate" else set()
        assert done.status in {int(any(words in line for words in REFUSED)), *undecided}, (line, done.err)
        assert done.out
        assert not done.err


def test_the_python_of_the_readme_prints_what_it_shows() -> None:
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted == 4
    assert outcome.failed == 0


@pytest.mark.parametrize("page", PAGES)
def test_every_path_that_is_linked_exists(page: str) -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", PAGES[page]) if not link.startswith("http")]
    places = [(link, (ROOT / page).parent / link.partition("#")[0]) for link in links]
    assert links
    assert [link for link, place in places if not place.exists()] == []


def test_the_readme_counts_the_golden_exploits_as_they_are() -> None:
    lines = (ROOT / "course" / "golden" / "golden_exploits.jsonl").read_text(encoding="utf-8").split("\n")
    assert f"{sum(map(bool, lines))} of them exploits" in README
