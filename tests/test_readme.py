"""What the README shows is run: its shell lines in order, in an empty folder with the shipped data, and its Python.

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

README = (ROOT / "README.md").read_text(encoding="utf-8")
NOT_RUN_HERE = {  # .ci/run runs the first two, on a fresh environment; tests/test_micro.py the third
    *("python3 lab.py", "python3 lab.py test"),
    "python3 micro.py",
}
REFUSED = "--candidate runs/n4"  # the README says that the gate refuses this one, with status 1
BRIEFLY = {  # what takes up to minutes is run as shown, but for this
    "course.token_train": ["--sft-steps", "20", "--steps", "5"],
    "course.goodhart_demo": ["--steps", "5"],
    "course.distribution_shift_demo": ["--steps", "5"],
    "course.coverage_demo": ["--steps", "5", "--prompts", "30"],
    "course.pass_at_k_demo": ["--steps", "5", "--prompts", "2", "--presets", "memorise"],
    "course.verifier_noise_demo": ["--steps", "5"],
    "course.cold_start_demo": ["--steps", "5", "--sft-steps", "0", "20"],
}


def shell_lines() -> list[str]:
    blocks = re.findall(r"^```bash\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.split("\n") if line]


def lay_out(folder: Path) -> None:
    """What the commands read, and nothing else."""
    for name in ("data", "exercises"):
        shutil.copytree(ROOT / name, folder / name)


def test_every_fence_is_of_a_kind_that_is_looked_at() -> None:
    assert set(re.findall(r"^```(\w+)$", README, re.MULTILINE)) == {"bash", "python", "text"}


@pytest.mark.parametrize("line", [line for line in shell_lines() if line not in NOT_RUN_HERE])
def test_every_line_of_the_readme_is_a_command_of_the_course(line: str) -> None:
    assert re.match(r"python3? -m course\.\w+( |$)", line)


def test_the_commands_of_the_readme_but_for_its_trainings_do_what_they_say(lab: Lab) -> None:
    """In this process. What reads a policy that was trained is left out with the trainings."""
    lay_out(lab.folder)
    for line in shell_lines():
        if line in NOT_RUN_HERE or any(word in line for word in (*BRIEFLY, "runs/skill", "runs/fresh")):
            continue
        _, _, module, *arguments = shlex.split(line)
        done = lab(module.removeprefix("course."), *arguments)
        assert done.status == (REFUSED in line), (line, done.err)
        assert done.out
        assert not done.err


@pytest.mark.slow
def test_every_command_of_the_readme_does_what_it_says(lab: Lab) -> None:
    """As processes; after five updates instead of 600, what was trained need not be promoted."""
    lay_out(lab.folder)
    lines = shell_lines()
    assert set(lines) >= NOT_RUN_HERE
    for line in lines:
        if line in NOT_RUN_HERE:
            continue
        _, _, module, *arguments = shlex.split(line.replace("_0600", "_0005"))
        done = lab.process(module.removeprefix("course."), *arguments, *BRIEFLY.get(module, []))
        undecided = {1, 3} if "runs/skill_after" in arguments and module == "course.gate" else set()
        assert done.status in {int(REFUSED in line), *undecided}, (line, done.err)
        assert done.out
        assert not done.err


def test_the_python_of_the_readme_prints_what_it_shows() -> None:
    outcome = doctest.testfile(str(ROOT / "README.md"), module_relative=False)
    assert outcome.attempted == 4
    assert outcome.failed == 0


def test_every_path_the_readme_links_to_exists() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_readme_counts_the_golden_exploits_as_they_are() -> None:
    lines = (ROOT / "course" / "golden" / "golden_exploits.jsonl").read_text(encoding="utf-8").split("\n")
    assert f"{sum(map(bool, lines))} of them exploits" in README
