"""The students' copy holds no key, every link in it leads somewhere, and its tests are green.

An example: the key of kata 1 says in plain words what example 6 tests. Its sentences stand nowhere in the copy, also
not in the kata's data, where they are locked.
"""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, files

from check.submission import changed_files
from teacher.release import LEFT_OUT, files_of, release, rows_of

pytestmark = pytest.mark.medium
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


def command(copy: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """A command in the copy, with this lab's packages and the copy's course."""
    environment = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, *words], cwd=copy, env=environment, capture_output=True, text=True)


def texts(folder: Path) -> dict[str, str]:
    return {name: data.decode(errors="replace") for name, data in files(folder).items() if data is not None}


def test_the_copy_is_the_lab_without_what_is_left_out(copy: Path) -> None:
    there = {name for name, data in files(copy).items() if data is not None}
    assert there - {"seal.json"} == {name for name in files_of(ROOT) if not name.startswith(LEFT_OUT)}
    assert {"course/score.py", "exercises/pick_best.py", "notes/mental_map_v1.md", "lab.py", "README.md"} <= there
    assert [name for name in there if re.search(r"teacher|\.ci|\.git/|issue|\.venv|^runs", name)] == []
    assert [name for name in LEFT_OUT if not any(one.startswith(name) for one in files_of(ROOT))] == []


def test_no_sentence_of_a_key_or_a_solution_is_in_the_copy(copy: Path) -> None:
    """Lines of some length. What a solution shares with the stubs is no secret, nor is one line of it that others write
    as well.
    """
    said = {name: text for name, text in texts(copy).items() if not name.endswith(".png")}
    shipped = "".join(
        text for name, text in said.items() if name.startswith(("exercises/", "notes/", "tests/test_rub"))
    )
    lab = "\n".join(said.values())
    keys = [path for path in files_of(ROOT) if re.match(r"teacher/(kata|solutions)/|teacher/.*\.jsonl$", path)]
    assert keys
    for name in keys:
        lines = {line.strip() for line in (ROOT / name).read_text(encoding="utf-8").split("\n")}
        found = [line for line in lines if len(line) > 40 and line in lab and line not in shipped]
        assert len(found) <= name.startswith("teacher/solutions/"), (name, found)


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
    later = re.compile(r"(\.\./)*((exercises|notes)/\w+\.\w+|tests/.*)")  # handed out later, or not at all
    missing = [(name, link) for name, link in links if not ((lab / name).parent / link).exists()]
    assert [one for one in missing if folder == "copy" or not later.fullmatch(one[1])] == []


def test_the_seal_holds_what_is_the_teachers_and_sees_a_change(first: Path) -> None:
    assert changed_files(first) == []
    sealed = json.loads((first / "seal.json").read_text(encoding="utf-8"))
    assert "course/score.py" in sealed
    assert "data/exercises.toml" in sealed
    assert [name for name in sealed if name.startswith(("exercises/", "notes/"))] == []


def test_one_milestone_has_its_own_exercises_and_notes(first: Path) -> None:
    rows = tomllib.loads((first / "data" / "exercises.toml").read_text(encoding="utf-8"))
    assert {row["milestone"] for row in rows["exercises"].values()} == {"0"}
    assert [*rows["milestones"]] == ["0"]
    there = {name for name in files(first) if name.startswith(("exercises/", "notes/"))}
    assert {"exercises/kata_1.md", "notes/mental_map_v1.md"} <= there
    assert sorted(name for name in files(first) if name.startswith("tests/")) == [
        "tests/conftest.py",
        "tests/test_rubric.py",
    ]
    own = {name for row in rows["exercises"].values() for name in row.get("files", [])}
    others = {
        name for row in EXERCISES["exercises"].values() if row["milestone"] != "0" for name in row.get("files", [])
    }
    assert there & (others - own) == set()
    done = command(first, "-m", "check")
    assert done.returncode == 1
    assert "next: python3 -m course.eval" in done.stdout.replace("py -m", "python3 -m")


@pytest.mark.parametrize("milestone", EXERCISES["milestones"])
def test_the_rows_of_a_milestone_are_those_of_the_table(milestone: str) -> None:
    rows = tomllib.loads(rows_of((ROOT / "data" / "exercises.toml").read_text(encoding="utf-8"), milestone))
    wanted = {name: row for name, row in EXERCISES["exercises"].items() if row["milestone"] == milestone}
    assert rows.get("exercises", {}) == wanted
    assert rows["milestones"] == {milestone: EXERCISES["milestones"][milestone]}


def test_the_command_says_the_first_step_and_spares_what_is_there(tmp_path: Path) -> None:
    done = command(ROOT, "-m", "teacher.release", "--out", str(tmp_path / "lab"), "--only", "0")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("lab.py\n")
    before = files(tmp_path)
    done = command(ROOT, "-m", "teacher.release", "--out", str(tmp_path / "lab"))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "expected a new folder" in done.stderr
    assert files(tmp_path) == before


def test_without_git_the_same_files_are_found(copy: Path) -> None:
    (copy / "runs").mkdir(exist_ok=True)
    (copy / "runs" / "log.jsonl").write_text("", encoding="utf-8")
    (copy / ".venv").mkdir(exist_ok=True)
    (copy / ".venv" / "x.py").write_text("", encoding="utf-8")
    assert set(files_of(copy)) == {name for name in files_of(ROOT) if not name.startswith(LEFT_OUT)} | {"seal.json"}


@pytest.mark.slow
@pytest.mark.parametrize("folder", ["copy", "first"])
def test_the_tests_of_the_copy_are_green(folder: str, request: pytest.FixtureRequest) -> None:
    """All can be collected, and those that look at the lab as a whole pass; .ci/run has had the rest in the lab."""
    lab: Path = request.getfixturevalue(folder)
    pytest_ = ("-m", "pytest", "-n", "0", "--fast", "-p", "no:cacheprovider")
    whole = [
        str(path) for path in (*sorted((lab / "tests").glob("test_*.py")), lab / "tests" / "docs") if path.exists()
    ]
    for words in (["--collect-only"], whole):
        done = command(lab, *pytest_, *words)
        assert done.returncode == 0, done.stdout[-4000:]
    done = command(lab, "-m", "mypy", "--cache-dir", os.devnull, "tests/test_rubric.py")
    assert "teacher" not in done.stdout + done.stderr


def test_a_python_without_the_labs_packages_hands_over_to_the_one_that_has_them() -> None:
    """As ``python3 -m course.eval`` does: ``-S`` leaves a Python without any."""
    line = [sys.executable, "-S", "-m", "teacher.release", "--help"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(line, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert (done.returncode == 0 and "usage: " in done.stdout) or "expected the lab's packages" in done.stderr
