"""The students' copy holds what a student needs, every link in it leads somewhere, and its tests are green.

An example: the key of kata 1 is in it, for the check shows it; the generator of the kata is not.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, files

from check.milestones import MILESTONES
from check.submission import TEST_FILES
from course.errors import UserError
from teacher import release as module
from teacher.release import LEFT_OUT, list_tracked_files, release, rows_of, write_copy

EXERCISES = tomllib.loads((ROOT / "data" / "exercises.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("class") / "lab"
    release(folder)
    return folder


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first") / "lab"
    release(folder, "0")
    return folder


def command(copy: Path, *words: str, **more: str) -> "subprocess.CompletedProcess[str]":
    """A command in the copy, with this lab's packages and the copy's course. ``more``: of its environment."""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"} | more
    return subprocess.run([sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True)


def texts(folder: Path) -> dict[str, str]:
    return {name: data.decode(errors="replace") for name, data in files(folder).items() if data is not None}


def test_the_copy_has_what_a_student_needs(copy: Path) -> None:
    there = {name for name, data in files(copy).items() if data is not None}
    assert {name for name in there if name.startswith("tests/")} == {
        "tests/conftest.py",
        *TEST_FILES,
    }
    assert {name for name in there if re.search(r"teacher|^\.|issue|^runs|make_|benchmark|CONTRIBUTING", name)} == {
        ".gitignore"
    }
    needed = {"course/score.py", "check/__main__.py", "exercises/pick_best.py", "notes/mental_map_v1.md", "lab.py"}
    assert needed - there == set()
    tracked = list_tracked_files()
    assert [name for name in LEFT_OUT if not any(one.startswith(name) for one in tracked)] == []


def test_a_copy_without_answers_lacks_those_to_the_notes_and_no_other(copy: Path, tmp_path: Path) -> None:
    done = command(ROOT, "-m", "teacher.release", "--out", str(tmp_path / "lab"), "--without-answers")
    assert done.returncode == 0, done.stderr
    missing = files(copy).keys() - files(tmp_path / "lab").keys()
    assert {name for name in missing if not name.startswith("data/keys/notes")} == set()
    assert "data/keys/notes/mental_map_v1.md" in missing
    assert "data/keys/exercises/kata_1.md" in files(tmp_path / "lab")


def test_nothing_in_the_copy_needs_what_is_not_there(copy: Path) -> None:
    asks = re.compile(r"^\s*(from|import) teacher\b|ROOT / \"teacher\" / |-m teacher\.", re.MULTILINE)
    assert [name for name, text in texts(copy).items() if name.endswith(".py") and asks.search(text)] == []


@pytest.mark.parametrize("folder", ["copy", "first"])
def test_every_link_leads_somewhere(folder: str, request: pytest.FixtureRequest) -> None:
    lab: Path = request.getfixturevalue(folder)
    links = [
        (name, link)
        for name, text in texts(lab).items()
        if name.endswith(".md")
        for link in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`\n]*`|```.*?```", "", text, flags=re.DOTALL))
        if not link.startswith("http")
    ]
    assert len(links) > 10
    assert [(name, link) for name, link in links if not ((lab / name).parent / link).exists()] == []


@pytest.mark.parametrize("folder", ["copy", "first"])
def test_the_readme_of_the_copy_names_nothing_of_the_teachers(folder: str, request: pytest.FixtureRequest) -> None:
    lab: Path = request.getfixturevalue(folder)
    before = (ROOT / "README.md").read_text(encoding="utf-8")
    after = (lab / "README.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", before, re.MULTILINE)
    assert re.findall(r"^## (.*)$", after, re.MULTILINE) == [name for name in headings if name != "For teachers"]
    assert re.findall("teacher|benchmarks", after) == []
    rows = re.findall(r"^\| `([a-z]+)/", before, re.MULTILINE)
    assert re.findall(r"^\| `([a-z]+)/", after, re.MULTILINE) == [name for name in rows if name != "teacher"]


def test_one_milestone_has_its_own_exercises_and_notes(first: Path) -> None:
    rows = tomllib.loads((first / "data" / "exercises.toml").read_text(encoding="utf-8"))
    assert {row["milestone"] for row in rows["exercises"].values()} == {"0"}
    there = {name for name in files(first) if name.startswith(("exercises/", "notes/"))}
    assert {"exercises/kata_1.md", "notes/mental_map_v1.md"} <= there
    assert sorted(name for name in files(first) if name.startswith("tests/")) == [
        "tests/conftest.py",
        *sorted(TEST_FILES),
    ]
    own = {name for row in rows["exercises"].values() for name in row.get("files", [])}
    others = {
        name for row in EXERCISES["exercises"].values() if row["milestone"] != "0" for name in row.get("files", [])
    }
    assert there & (others - own) == {"exercises/exploits.jsonl"}  # with which level 1 is locked
    done = command(first, "-m", "check")
    assert done.returncode == 1
    assert "next: python3 -m course.eval" in done.stdout.replace("py -m", "python3 -m")


@pytest.mark.parametrize("milestone", MILESTONES)
def test_the_rows_of_a_milestone_are_those_of_the_table(milestone: str) -> None:
    rows = tomllib.loads(rows_of((ROOT / "data" / "exercises.toml").read_text(encoding="utf-8"), milestone))
    wanted = {name: row for name, row in EXERCISES["exercises"].items() if row["milestone"] == milestone}
    assert rows.get("exercises", {}) == wanted


def test_the_command_says_the_first_step_and_spares_what_is_there(tmp_path: Path) -> None:
    done = command(ROOT, "-m", "teacher.release", "--out", str(tmp_path / "lab"), "--only", "0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("lab.py\n")
    before = files(tmp_path)
    done = command(ROOT, "-m", "teacher.release", "--out", str(tmp_path / "lab"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "expected a new folder" in done.stderr
    assert files(tmp_path) == before


@pytest.fixture
def clone(copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of the lab, with one commit, from which ``release`` copies."""
    lab = tmp_path / "clone"
    shutil.copytree(copy, lab)
    git(lab, "init", "-q")
    commit(lab)
    monkeypatch.setattr(module, "LAB", lab)
    return lab


def git(lab: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
    subprocess.run(["git", "-C", lab, *who, *words], check=True, capture_output=True)


def commit(lab: Path) -> None:
    git(lab, "add", "--all")
    git(lab, "commit", "-q", "-m", "one")


def test_what_a_teacher_has_worked_out_stays_in_the_clone(clone: Path, tmp_path: Path) -> None:
    for name in ("exercises/reinforce.py", "notes/llm_as_policy.md", "tests/test_rubric.py"):
        (clone / name).write_bytes((ROOT / "data" / "keys" / name).read_bytes())
    (clone / "notes" / "mental_map_v2.md").unlink()
    (clone / "exercises" / "mine.py").write_text("mine", encoding="utf-8")
    (clone / "data" / "levels.toml").write_text("# edited", encoding="utf-8")
    write_copy(tmp_path / "lab")
    there = texts(tmp_path / "lab")
    for name in ("exercises/reinforce.py", "notes/llm_as_policy.md", "notes/mental_map_v2.md", "tests/test_rubric.py"):
        assert there[name] == (ROOT / name).read_text(encoding="utf-8")
    assert "exercises/mine.py" not in there
    assert there["data/levels.toml"] == "# edited"


def test_a_copy_in_which_an_exercise_is_done_is_not_made(clone: Path, tmp_path: Path) -> None:
    name = "notes/mental_map_v1.md"
    (clone / name).write_bytes((ROOT / "data" / "keys" / name).read_bytes())
    release(tmp_path / "as-committed")
    commit(clone)
    with pytest.raises(UserError, match=r"^notes/mental_map_v1\.md: expected the exercise mental_map_v1 as a student"):
        release(tmp_path / "lab")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["as-committed", "clone"]


def test_without_a_commit_or_without_git_there_is_no_copy(clone: Path, tmp_path: Path) -> None:
    for folder in ("refs", "objects"):
        shutil.rmtree(clone / ".git" / folder)
        with pytest.raises(UserError, match="expected a clone with git, because the exercises are taken from"):
            release(tmp_path / "lab")
        assert [path.name for path in tmp_path.iterdir()] == ["clone"]


@pytest.mark.parametrize("folder", ["copy", "first"])
def test_pytest_alone_runs_the_tests_of_the_copy(folder: str, request: pytest.FixtureRequest) -> None:
    lab: Path = request.getfixturevalue(folder)
    done = command(lab, "-m", "pytest", "-p", "no:cacheprovider", PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert "5 passed" in done.stdout
    assert "passed" in command(lab, "-m", "pytest", "-p", "no:cacheprovider", "tests/test_rubric.py").stdout


@pytest.mark.parametrize("module_name", ["teacher.release", "check"])
def test_a_python_without_the_labs_packages_hands_over_to_the_one_that_has_them(module_name: str) -> None:
    """As ``python3 -m course.eval`` does: ``-S`` leaves a Python without any."""
    line = [sys.executable, "-S", "-m", module_name, "--help"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    handed_over = done.returncode == 0 and "usage: " in done.stdout
    told_what_to_run = done.returncode == 2 and "python3 lab.py" in done.stderr  # no .venv that could be handed over to
    assert handed_over or told_what_to_run
