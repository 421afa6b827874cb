"""What the README shows is run: its shell lines in order, in an empty folder with the shipped data, and its Python."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

LAB = Path(__file__).parents[1]
README = (LAB / "README.md").read_text(encoding="utf-8")
NOT_RUN_HERE = {"python3 lab.py", "python3 lab.py test"}  # .ci/run runs these two, on a fresh environment
REFUSED = {"course.gate"}  # the README says that this one is refused, with status 1
BRIEFLY = {  # what takes up to minutes is run as shown, but for this
    "course.token_train": ["--sft-steps", "20", "--steps", "5"],
    "course.goodhart_demo": ["--steps", "5"],
    "course.distribution_shift_demo": ["--steps", "5"],
    "course.coverage_demo": ["--steps", "5", "--prompts", "30"],
}


def shell_lines() -> list[str]:
    blocks = re.findall(r"^```bash\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.split("\n") if line]


def test_every_fence_is_of_a_kind_that_is_looked_at() -> None:
    assert set(re.findall(r"^```(\w+)$", README, re.MULTILINE)) == {"bash", "python", "text"}


def test_every_command_of_the_readme_does_what_it_says(tmp_path: Path) -> None:
    for folder in ("data", "exercises"):
        shutil.copytree(LAB / folder, tmp_path / folder)
    environment = os.environ | {"PYTHONPATH": str(LAB)}
    lines = shell_lines()
    assert set(lines) >= NOT_RUN_HERE
    for line in lines:
        if line in NOT_RUN_HERE:
            continue
        python, *arguments = line.split()
        assert python == "python"
        arguments += BRIEFLY.get(arguments[1], [])
        done = subprocess.run([sys.executable, *arguments], cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == (1 if arguments[1] in REFUSED else 0), (line, done.stderr)
        assert done.stdout
        assert not done.stderr


def test_the_python_of_the_readme_prints_what_it_shows() -> None:
    outcome = doctest.testfile(str(LAB / "README.md"), module_relative=False)
    assert outcome.attempted == 4
    assert outcome.failed == 0


def test_every_path_the_readme_links_to_exists() -> None:
    links = [link for link in re.findall(r"\]\(([^)]+)\)", README) if not link.startswith("http")]
    assert links
    assert [link for link in links if not (LAB / link).exists()] == []
