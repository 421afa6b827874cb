"""lab.py: what it does with the words after it, how it sets up, and what it says.

An example: ``python3 lab.py gate --help`` runs ``python -P -m course.gate --help`` with the Python of .venv.
"""

import ast
import errno
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import COMMANDS, ROOT, lines_of, module_of
from other_pythons import BIN, SITE, make_python, packages, typed
from terminals import posix, run_on_terminal

import lab
from course.score import score

SOURCE = (ROOT / "lab.py").read_text(encoding="utf-8")
Lines = list[list[str]]


class Became(Exception):
    """In the place of a process that another one takes over."""


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """The command lines that lab.py starts, none of which is run: each ends with status 5."""
    kept: Lines = []

    def become(*words: str) -> None:
        kept.append([*words])
        raise Became

    def run(line: list[str], **_: object) -> SimpleNamespace:
        kept.append(line)
        return SimpleNamespace(returncode=5)

    monkeypatch.setattr(lab, "set_up", lambda _: None)
    monkeypatch.setattr(lab, "become", become)
    monkeypatch.setattr(subprocess, "run", run)
    return kept


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What lab.py says of these words: one line on stderr, with status 2."""
    with pytest.raises(SystemExit, match=r"^2$"):
        lab.main([*words])
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


# --- the words


def test_every_job_is_reached_with_its_arguments(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "tests")
    for command in [*COMMANDS, "check"]:
        with pytest.raises(Became):
            lab.main([command, "--run", "a b", "--help"])
        assert lines.pop() == ["-m", module_of(command), "--run", "a b", "--help"]
    with pytest.raises(Became):
        lab.main(["micro", "strict", "7"])
    assert lines.pop() == [str(ROOT / "micro.py"), "strict", "7"]
    assert Path.cwd() == ROOT / "tests"
    with pytest.raises(Became):
        lab.main(["test", "--all", "-k", "a or b", "tests/course"])
    assert lines == [["-m", "pytest", "--all", "-k", "a or b", "tests/course"]]
    assert Path.cwd() == ROOT


def test_lint_stops_at_the_first_tool_that_finds_something(lines: Lines) -> None:
    assert lab.main(["lint"]) == 5
    assert [line[3:] for line in lines] == [["ruff", "check"]]


@pytest.mark.parametrize(("npm", "fetched"), [("npm", True), ("npm", False), (None, False)])
def test_the_site_is_built_with_typeset_formulas_where_npm_can_fetch_them(
    lines: Lines,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    npm: str | None,
    fetched: bool,
) -> None:
    monkeypatch.setattr(lab, "LAB", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: npm)
    if fetched:
        (tmp_path / "docs" / "node_modules" / "mathjax").mkdir(parents=True)
    assert lab.main(["site"]) == 5
    assert [line[1] for line in lines[:-1]] == (["ci"] if npm and not fetched else [])
    assert {"sphinx", "-n", "-W", "site"} <= {*lines[-1]}
    assert ("in TeX: " in capsys.readouterr().out) == (not fetched)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gat"], "lab.py has no job 'gat', did you mean gate? "),
        (["course.evl", "--dataset", "x"], "lab.py has no job 'course.evl', did you mean eval? "),
        (["tests"], "lab.py has no job 'tests', did you mean test? "),
        (["--all"], "lab.py has no job '--all'; "),
        (["\x1b[2J"], "lab.py has no job '\\x1b[2J'; "),
        (["lint", "--all"], "lint takes no arguments, got '--all'"),
        (["site", "now"], "site takes no arguments, got 'now'"),
    ],
)
def test_what_no_job_takes_is_refused(
    lines: Lines, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert refused(capsys, *words).startswith(f"error: {said}")
    assert lines == []


def test_help_fits_a_terminal_and_has_a_line_for_each_job(lines: Lines, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert [job for job in lab.JOBS if f"python3 lab.py {job} " not in out] == []
    assert max(map(len, out.split("\n"))) <= 80
    assert lines == []


@pytest.mark.parametrize(
    ("words", "requirements"),
    [
        ("test tests/test_rubric.py", lab.RUN),
        ("test -x tests/test_rubric.py::test_x", lab.RUN),
        ("test", lab.DEVELOP),
        ("test --all", lab.DEVELOP),
        ("test tests/test_rubric.py tests/test_lab.py", lab.DEVELOP),
        ("lint", lab.DEVELOP),
        ("site", lab.DEVELOP),
        ("micro", lab.RUN),
        ("gate tests/test_lab.py", lab.RUN),
    ],
)
def test_tools_are_fetched_for_what_needs_more_than_pytest(words: str, requirements: str) -> None:
    job, *more = words.split()
    assert lab.requirements_for(job, more) == requirements


def test_all_tests_of_a_students_copy_need_pytest_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "LAB", tmp_path)
    assert lab.requirements_for("test", []) == lab.RUN
    assert lab.requirements_for("lint", []) == lab.DEVELOP


def test_the_failures_of_the_first_measurement_are_those_of_the_data() -> None:
    examples = {example["id"]: example for example in lines_of(ROOT / "data/datasets/math_dev.jsonl")}
    outcomes: Counter[str] = Counter()
    examples_of: dict[str, set[str]] = {}
    for row in lines_of(ROOT / "data/rollouts/frozen_rollouts_dev.jsonl"):
        outcome = score(examples[row["id"]], row["completion"])["details"]["outcome"]
        outcomes[outcome] += 1
        examples_of.setdefault(outcome, set()).add(row["completion"].strip())
    summary = {"n": 80, "passes": outcomes["ok"], "pass_rate": outcomes["ok"] / 80, "outcomes": outcomes}
    text = lab.first_text({"summary": summary, "prediction": {"value": None}})
    wrong_value, wrong_start, others = re.findall(r"^  ([0-9]+) .*?   +(\S.*?)   +for ", text, re.MULTILINE)
    assert int(wrong_value[0]) == outcomes.pop("wrong_answer")
    assert wrong_value[1] in examples_of.pop("wrong_answer")
    assert int(wrong_start[0]) == outcomes.pop("missing_prefix")
    assert wrong_start[1] in examples_of.pop("missing_prefix")
    assert int(others[0]) == outcomes.total() - outcomes.pop("ok")
    assert any(others[1] in completions for outcome, completions in examples_of.items() if outcome != "ok")


# --- a Python that is too old


def test_lab_py_is_written_so_that_python_3_6_can_read_it() -> None:
    ast.parse(SOURCE, feature_version=(3, 6))
    assert SOURCE.isascii()


@pytest.mark.parametrize("version", [(3, 6, 15), (3, 10, 13)])
def test_a_python_that_is_too_old_gets_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], version: tuple[int, int, int]
) -> None:
    name = ".".join(map(str, version))
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(sys, "version", f"{name} (main)")
    with pytest.raises(SystemExit, match=r"^2$"):
        exec(compile(SOURCE, "lab.py", "exec"), {"__name__": "__main__"})
    said = f"error: expected Python 3.11 or later, got {name}; call lab.py with a newer Python, "
    said += "such as python3.12 lab.py\n"
    assert capsys.readouterr().err == said


# --- the set-up


class Pip:
    """In the place of processes: venv without pip, pip, which installs nothing, and a Python that lists packages."""

    def __init__(self) -> None:
        self.installed: list[str] = []  # the lists that it was called with
        self.packages = ""
        self.status = 0
        self.says = ""

    def run(self, line: list[str], **_: object) -> SimpleNamespace:
        if "venv" in line:
            venv.EnvBuilder(symlinks=os.name != "nt").create(line[-1])
        if "install" in line:
            self.installed.append(Path(line[-1]).name)
        return SimpleNamespace(returncode=self.status, stderr=self.says, stdout=self.packages)


@pytest.fixture
def pip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    """A lab in ``tmp_path`` that is not set up, and what stands in for pip."""
    stand_in = Pip()
    for name in (lab.RUN, lab.DEVELOP):
        shutil.copy(ROOT / name, tmp_path)
    place_lab(monkeypatch, tmp_path)
    monkeypatch.setattr(subprocess, "run", stand_in.run)
    monkeypatch.setattr(lab, "measure_first", lambda _: 0)
    monkeypatch.setattr(lab, "at_terminal", lambda: False)
    return stand_in


def place_lab(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let lab.py believe that it lies in this folder."""
    monkeypatch.setattr(lab, "LAB", folder)
    monkeypatch.setattr(lab, "FIRST", folder / "runs" / "first")
    monkeypatch.setattr(lab, "VENV", folder / ".venv")
    monkeypatch.setattr(lab, "STAMP", folder / ".venv" / lab.STAMP.name)
    monkeypatch.setattr(lab, "PYTHON", folder / ".venv" / BIN)


def test_a_set_up_is_done_once_and_again_when_its_list_has_changed(pip: Pip, tmp_path: Path) -> None:
    lab.set_up(lab.RUN)
    kept = tmp_path / ".venv" / "kept"
    kept.touch()
    lab.set_up(lab.RUN)
    assert pip.installed == [lab.RUN]
    lab.set_up(lab.DEVELOP)
    lab.set_up(lab.RUN)
    assert pip.installed == [lab.RUN, lab.DEVELOP]
    with (tmp_path / lab.DEVELOP).open("a") as file:
        file.write("# changed\n")
    lab.set_up(lab.DEVELOP)
    assert pip.installed == [lab.RUN, lab.DEVELOP, lab.DEVELOP]
    assert kept.exists()


def test_what_lab_py_made_is_made_anew_for_another_folder_a_lost_python_and_a_set_up_cut_off(
    pip: Pip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.set_up(lab.RUN)
    old = tmp_path / ".venv" / "old"
    made = lab.STAMP.read_bytes()
    other_folder = made.replace(bytes(tmp_path), bytes(tmp_path / "before"))
    other_python = made.replace(os.fsencode(os.path.realpath(lab.PYTHON)), b"/usr/bin/python3.99")
    for stamp in (other_folder, other_python, b"not finished", b""):
        old.touch()
        lab.STAMP.write_bytes(stamp)
        lab.set_up(lab.RUN)
        assert not old.exists()
        assert lab.STAMP.read_bytes() == made
    old.touch()
    lab.PYTHON.unlink()
    lab.set_up(lab.RUN)
    assert not old.exists()
    assert len(pip.installed) == 6
    (tmp_path / "moved").mkdir()
    for name in (".venv", lab.RUN, lab.DEVELOP):
        (tmp_path / name).rename(tmp_path / "moved" / name)
    place_lab(monkeypatch, tmp_path / "moved")
    lab.set_up(lab.RUN)
    assert len(pip.installed) == 7
    assert lab.STAMP.read_bytes() == made.replace(bytes(tmp_path), bytes(tmp_path / "moved"))


@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_what_lab_py_has_not_made_is_never_touched(
    pip: Pip, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    own = tmp_path / (".venv" if kind == "folder" else "own")
    own.mkdir()
    (own / "letter.txt").write_text("mine")
    if kind == "link":
        (tmp_path / ".venv").symlink_to(own)
    if kind == "file":
        (tmp_path / ".venv").touch()
    said = refused(capsys)
    assert "was not made by lab.py and lacks the locked versions of requirements.txt; if Poetry made .venv, " in said
    assert (own / "letter.txt").read_text() == "mine"
    assert pip.installed == []


def test_an_environment_that_poetry_made_is_used_if_it_has_the_locked_versions(
    pip: Pip, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.PYTHON.parent.mkdir(parents=True)
    lab.PYTHON.touch()
    rows = [line.split(" ")[0] for line in (tmp_path / lab.RUN).read_text().splitlines() if "python_version >=" in line]
    locked = "\n".join(row.replace("==", " ") for row in rows)
    pip.packages = f"{locked}\nsomething_else 1.0\n".replace("python-dateutil", "Python_DateUtil")
    lab.set_up(lab.RUN)
    assert pip.installed == []
    version = dict(line.split() for line in pip.packages.splitlines())["rich"]
    for change in (f"rich {version}.1\n", ""):
        pip.packages = f"{locked}\n".replace(f"rich {version}\n", change)
        assert "lacks the locked versions" in refused(capsys)
    assert list((tmp_path / ".venv").rglob("*.txt")) == []


LOST = "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(…)': /simple/rich/"


@pytest.mark.parametrize(
    ("says", "line"),
    [
        (LOST, "no network; connect once and run this command again; after that the lab needs no network"),
        ("no space\n", "pip ended with status 1; fix what pip says above, then run this command again"),
    ],
)
def test_a_download_that_fails_is_one_line_and_what_worked_goes_on_working(
    pip: Pip, capsys: pytest.CaptureFixture[str], says: str, line: str
) -> None:
    lab.set_up(lab.RUN)
    pip.status, pip.says = 1, says
    with pytest.raises(SystemExit, match=r"^2$"):
        lab.main(["lint"])
    assert capsys.readouterr().err == ("" if says == LOST else says) + f"error: {line}\n"
    lab.set_up(lab.RUN)
    assert pip.installed == [lab.RUN, lab.DEVELOP]
    lab.STAMP.unlink()
    shutil.rmtree(lab.VENV)
    with pytest.raises(SystemExit, match=r"^2$"):
        lab.main([])
    pip.status = 0
    lab.set_up(lab.RUN)
    assert pip.installed == [lab.RUN, lab.DEVELOP, lab.RUN, lab.RUN]


@pytest.mark.usefixtures("pip")
@pytest.mark.parametrize("number", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_cannot_be_written_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    def refuse(_: Path) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(Path, "mkdir", refuse)
    said = refused(capsys)
    assert said.startswith("error: cannot set up .venv: ")
    assert os.strerror(number) in said


@pytest.mark.usefixtures("pip")
def test_a_python_that_cannot_make_an_environment_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    assert "apt install python3-venv" in refused(capsys)
    assert not (tmp_path / ".venv").exists()


def test_ctrl_c_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lab, "set_up", interrupt)
    monkeypatch.setattr(lab, "at_terminal", lambda: False)
    assert lab.main([]) == 130
    assert capsys.readouterr().err == "error: interrupted; run the same command to begin again\n"


# --- lab.py as it is typed


PARTS = ("course", "data", "check", "notes", "exercises")
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)


def make_lab(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lab that is set up."""
    for name in PARTS:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("lab.py", "micro.py", lab.RUN, lab.DEVELOP):
        shutil.copy(ROOT / name, folder)
    make_python(folder / ".venv", packages(), folder)
    place_lab(monkeypatch, folder)
    lab.STAMP.write_bytes(lab.stamp(lab.RUN))


def first_call(folder: Path, *typed_lines: str) -> str:
    """What ``lab.py`` prints on a terminal of 80 columns, where this is typed. BROWSER keeps the page it is given."""
    code = "import sys, pathlib; pathlib.Path('opened.txt').write_text(sys.argv[1])"
    browser = shlex.join([sys.executable, "-c", code]) + " %s"
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "SSH_"))}
    environment = kept | {"DISPLAY": ":99", "BROWSER": browser, "TERM": "dumb", "COLUMNS": "80"}
    status, printed = run_on_terminal([BASE_PYTHON, "lab.py"], folder, environment, typed_lines)
    assert status == 0
    return printed


QUESTION = "what share in % is exactly the line that was asked for?"


@posix
def test_the_first_call_at_a_terminal_asks_for_a_guess_measures_and_shows_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lab"
    make_lab(folder, monkeypatch)
    printed = first_call(folder, "banana\n", "\n", "40 of 80\n")
    assert (printed.count(QUESTION), printed.count("\nexpected a number such as ")) == (1, 2)
    assert "\nYou said 50 %; it was 42.5 %\n" in printed
    page = folder / "runs" / "first" / "report.html"
    assert page.exists()
    assert page.as_uri() in printed
    assert (folder / "opened.txt").read_text() == page.as_uri()
    assert printed.endswith("  python3 -m check\n")
    assert printed.count("python3 -m") == 1
    done = typed(Path(BASE_PYTHON), "lab.py", "check", "first_run", "--json", cwd=folder)
    assert json.loads(done.out)["first_run"]["state"] == "done"

    page.unlink()
    (folder / "opened.txt").unlink()
    again = first_call(folder)
    assert QUESTION not in again
    assert page.as_uri() in again
    assert page.exists()
    assert not (folder / "opened.txt").exists()
    assert [line["expect"] for line in lines_of(folder / "runs" / "log.jsonl")] == ["40 of 80"]


@posix
@pytest.mark.parametrize("answer", ["q\n", "\x04"])
def test_without_an_answer_it_measures_without_a_guess(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    folder = tmp_path / "lab"
    make_lab(folder, monkeypatch)
    printed = first_call(folder, answer)
    assert "42.5 %" in printed
    assert [line["expect"] for line in lines_of(folder / "runs" / "log.jsonl")] == [None]


def test_without_a_terminal_nothing_is_asked_and_no_page_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "lab"
    make_lab(folder, monkeypatch)
    code = "import pathlib; pathlib.Path('opened.txt').touch()"
    browser = shlex.join([sys.executable, "-c", code]) + " %s"
    done = typed(Path(BASE_PYTHON), "lab.py", cwd=folder, DISPLAY=":99", BROWSER=browser)
    assert (done.status, done.err) == (0, "")
    assert QUESTION not in done.out
    assert "42.5 %" in done.out
    assert (folder / "runs" / "first" / "report.html").exists()
    assert not (folder / "opened.txt").exists()


def make_lab_without_packages(folder: Path) -> None:
    """lab.py, empty lists of packages, and a ``check`` that a Python finds only if the lab's folder is on its path."""
    (folder / "check").mkdir(parents=True)
    (folder / "check" / "__main__.py").write_text("print('found')")
    shutil.copy(ROOT / "lab.py", folder)
    for name in (lab.RUN, lab.DEVELOP):
        (folder / name).touch()


@posix
def test_a_folder_whose_name_the_locale_cannot_spell_is_set_up_once(tmp_path: Path) -> None:
    folder = tmp_path / "Übung"
    make_lab_without_packages(folder)
    ascii_alone = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    first = typed(Path(BASE_PYTHON), "lab.py", "check", cwd=folder, **ascii_alone)
    assert first.out.splitlines()[1:] == ["found"], first.err
    for environment in (ascii_alone, {"LC_ALL": "C.UTF-8"}):
        assert typed(Path(BASE_PYTHON), "lab.py", "check", cwd=folder, **environment) == (0, "found\n", "")


def test_an_environment_that_lab_py_has_not_made_finds_the_lab(tmp_path: Path) -> None:
    """As after poetry install --no-root, or python3 -m venv and pip install -r requirements.txt."""
    folder = tmp_path / "lab"
    make_lab_without_packages(folder)
    make_python(folder / ".venv")
    assert typed(Path(BASE_PYTHON), "lab.py", "check", cwd=folder) == (0, "found\n", "")
    line = folder / ".venv" / SITE / "rl_foundations_lab.pth"
    line.write_text(f"{folder}\n")  # as poetry install writes it
    assert typed(Path(BASE_PYTHON), "lab.py", "check", cwd=folder) == (0, "found\n", "")
    assert line.read_text() == f"{folder}\n"


def test_a_command_works_in_the_callers_folder_whatever_else_lies_there_and_in_the_labs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, own = tmp_path / "a lab", tmp_path / "own"
    make_lab(folder, monkeypatch)
    own.mkdir()
    for name in ("random", "json", "types", "subprocess", "numpy"):
        (own / f"{name}.py").write_text("raise SystemExit('a file of the student')")
        (folder / f"{name}.py").write_text("raise SystemExit('a file of the student')")

    python = Path(BASE_PYTHON)
    shutil.copy(ROOT / "data" / "datasets" / "math_dev.jsonl", own / "mine.jsonl")
    words = ["--dataset", "mine.jsonl", "--completions", str(ROOT / "data/rollouts/frozen_rollouts_dev.jsonl")]
    script = os.path.relpath(folder / "lab.py", own)
    done = typed(python, script, "eval", *words, "--outdir", "run", cwd=own)
    assert (done.status, done.err) == (0, "")
    assert json.loads((own / "run" / "summary.json").read_text())["n"] == 80
    for name in ("next", "page"):
        command = done.out.partition(f"\n{name}: ")[2].partition("\n")[0]
        _, *line = shlex.split(command)
        assert line[0] == script
        assert typed(python, *line, cwd=own).status == 0, command
    assert typed(python, str(folder / "lab.py"), "gate", cwd=own).status == 2
    assert typed(python, "lab.py", "micro", "strict", "x", cwd=folder).err.startswith("usage: micro.py")
