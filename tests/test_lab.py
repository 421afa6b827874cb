"""lab.py: what it does with the words after it, how it sets up, and what it says.

An example: ``python3 lab.py test --fast tests/course`` runs ``python -m pytest --fast tests/course`` in .venv.
"""

import ast
import errno
import hashlib
import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import COMMANDS, ROOT, module_of
from other_pythons import BIN, SITE, make_python, packages, typed

import lab_jobs
import lab_setup
from course.starting import LAB_PYTHON, PYTHON

EXAMPLE = "tests/test_lab.py::test_of_each_mark"
SOURCE = (ROOT / "lab.py").read_text(encoding="utf-8")
Lines = list[list[object]]


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Lines:
    """The command lines that lab.py starts, none of which is run: each ends with status 5."""
    kept: Lines = []

    def keep(line: list[object], **_: object) -> SimpleNamespace:
        kept.append(line)
        return SimpleNamespace(returncode=5)

    monkeypatch.setattr(lab_jobs, "set_up", lambda _: None)
    monkeypatch.setattr(subprocess, "run", keep)
    monkeypatch.setattr(lab_jobs, "become", keep)
    return kept


# The words.


@pytest.mark.parametrize("word", ["tests/test_rubrik.py", "tests/test_rubrik.py::test_x", "test_rubric_.py"])
def test_a_test_file_that_is_not_there_is_one_line_before_any_set_up(
    lines: Lines, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    assert lab_jobs.main(["test", "-x", word]) == 2
    assert capsys.readouterr().err.startswith(
        f"error: {word}: expected a test file, such as tests/test_rubric.py, got "
    )
    assert lines == []


def test_what_follows_test_goes_to_pytest_word_by_word(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert lab_jobs.main(["test", "--all", "-k", "a or b", "tests/course"]) == 5
    assert lines == [[LAB_PYTHON, "-m", "pytest", "--all", "-k", "a or b", "tests/course"]]


def test_a_path_is_one_from_the_callers_folder(lines: Lines, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / "tests")
    lab_jobs.main(["test", "test_rubric.py::test_x[a/b]", "tests/test_lab.py"])
    assert lines[0][3:] == [str(ROOT / "tests" / "test_rubric.py::test_x[a/b]"), "tests/test_lab.py"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "five minutes"),
        (["--fast"], "20 seconds"),
        (["--all", "-k", "gate"], "ten minutes or more"),
        (["tests/test_rubric.py"], ""),
        (["--all", "tests/test_rubric.py::test_x"], ""),
    ],
)
def test_how_long_a_whole_run_takes_is_said_beforehand(
    lines: Lines, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    lab_jobs.main(["test", *words])
    out = capsys.readouterr().out
    assert (f"this takes {said} on two cores, " in out) if said else out == ""
    assert len(lines) == 1


def test_lint_stops_at_the_first_tool_that_finds_something(lines: Lines) -> None:
    assert lab_jobs.main(["lint"]) == 5
    assert [line[2:] for line in lines] == [["ruff", "check"]]


@pytest.mark.parametrize(("npm", "status", "said"), [("npm", 0, ""), ("npm", 1, "TeX"), (None, 0, "TeX")])
def test_the_site_is_built_strictly_and_has_typeset_formulas_where_npm_can_fetch_them(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    npm: str | None,
    status: int,
    said: str,
) -> None:
    kept: Lines = []

    def run(line: list[object], **_: object) -> SimpleNamespace:
        kept.append(line)
        return SimpleNamespace(returncode=status if line[0] == npm else 0)

    monkeypatch.setattr(lab_jobs, "set_up", lambda _: None)
    monkeypatch.setattr(lab_jobs, "LAB", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda _: npm)
    monkeypatch.setattr(subprocess, "run", run)
    assert lab_jobs.main(["site"]) == 0
    assert [line[1] for line in kept[:-1]] == (["ci"] if npm else [])
    assert {"sphinx", "-n", "-W", "site"} <= {*kept[-1]}
    out = capsys.readouterr().out
    assert ("in TeX: " in out) == bool(said)
    assert out.endswith(f"{(tmp_path / 'site' / 'index.html').as_uri()}\n")


def test_a_site_that_was_fetched_for_is_not_fetched_for_again_and_a_fault_of_a_page_is_the_jobs(
    lines: Lines, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "docs" / "node_modules" / "mathjax").mkdir(parents=True)
    monkeypatch.setattr(lab_jobs, "LAB", tmp_path)
    assert lab_jobs.main(["site"]) == 5
    assert [line[2] for line in lines] == ["sphinx"]


def test_every_command_is_reached_with_its_arguments(lines: Lines) -> None:
    python = str(LAB_PYTHON)
    for command in [*COMMANDS, "check"]:
        lab_jobs.main([command, "--run", "a b", "--help"])
        assert lines.pop() == [python, "-P", "-m", module_of(command), "--run", "a b", "--help"]
    lab_jobs.main(["micro", "strict", "7"])
    assert lines == [[python, "-P", str(ROOT / "micro.py"), "strict", "7"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["gat"], "gat is no job of lab.py, did you mean gate? "),
        (["course.evl", "--dataset", "x"], "course.evl is no job of lab.py, did you mean eval? "),
        (["tests"], "tests is no job of lab.py, did you mean test? "),
        (["--all"], "--all is no job of lab.py; "),
        (["\x1b[2J"], "<U+001B ESCAPE>[2J is no job of lab.py; "),
        (["lint", "--fast"], "expected nothing after lint, got --fast"),
        (["site", "now"], "expected nothing after site, got now"),
    ],
)
def test_what_no_job_takes_is_refused_in_one_line(
    lines: Lines, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert lab_jobs.main(words) == 2
    out, err = capsys.readouterr()
    assert (out, lines) == ("", [])
    assert err.startswith(f"error: {said}")
    assert err.count("\n") == 1


def test_help_is_the_text_at_the_top_of_lab_py(lines: Lines, capsys: pytest.CaptureFixture[str]) -> None:
    assert lab_jobs.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert [job for job in lab_jobs.JOBS if f"{PYTHON} lab.py {job} " not in out] == []
    assert lines == []


# The first measurement.


@pytest.mark.parametrize("here", [True, False])
def test_the_closing_words_say_what_the_run_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: bool) -> None:
    run = tmp_path / "runs" / "run_007"
    run.mkdir(parents=True)
    (run / "summary.json").write_text('{"n": 9, "passes": 4, "families": {"model_format": 3, "model_math": 2}}')
    (run / "results.jsonl").write_text('{"id": "a", "reward": 1.0}\n{"id": "b", "reward": 0.0}\n')
    monkeypatch.setattr(lab_jobs, "LAB", tmp_path)
    monkeypatch.chdir(tmp_path if here else ROOT)
    said = lab_jobs.closing_words("runs/run_007").split("\n")
    assert max(map(len, said)) <= 80
    assert said[1:3] == [
        "What you saw: the verifier gave the reward to 4 of 9 recorded completions.",
        "It refused 5: 3 for how they are written, 2 for a wrong number.",
    ]
    typed_next = [line for line in said if line.startswith("  ") and not line.startswith("      ")]
    assert typed_next == [
        *([] if here else [f"  cd {tmp_path}"]),
        f"  {PYTHON} -m course.inspect_run --run runs/run_007 --id b",
        f"  {PYTHON} -m course",
        f"  {PYTHON} lab.py test tests/test_rubric.py",
    ]
    assert said[-1].endswith("docs/milestones/0.md")


def test_a_long_command_line_can_be_pasted() -> None:
    words = lab_jobs.FIRST[0].split()
    line = lab_jobs.command_line(words)
    assert line.replace(" \\\n   ", "").split() == [PYTHON, "-m", *words]
    assert max(map(len, line.split("\n"))) <= 80


# A Python that is too old, and files that a student leaves in the folder.

OLD_GRAMMAR = (  # what Python 2.7 can read; no function, no annotation, no f-string
    *(ast.Module, ast.Expr, ast.Constant, ast.Import, ast.ImportFrom, ast.alias, ast.If, ast.Compare, ast.Name),
    *(ast.Load, ast.Del, ast.Delete, ast.Attribute, ast.Tuple, ast.Lt, ast.Eq, ast.Call, ast.BinOp, ast.Add),
    *(ast.Subscript, ast.Slice, ast.UnaryOp, ast.Not, ast.Lambda, ast.arguments),
)
MODULES = ["course", "course.command", "lab_jobs"]


def test_lab_py_is_written_so_that_python_2_7_can_read_it() -> None:
    assert SOURCE.isascii()
    nodes = list(ast.walk(ast.parse(SOURCE)))
    assert {type(node).__name__ for node in nodes if not isinstance(node, OLD_GRAMMAR)} == set()
    assert [node.module for node in nodes if isinstance(node, ast.ImportFrom)] == MODULES  # no __future__


def test_a_python_that_is_too_old_gets_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for version in ((2, 7, 18), (3, 10, 13)):
        monkeypatch.setattr(sys, "version_info", version)
        monkeypatch.setattr(sys, "version", ".".join(map(str, version)) + " (main)")
        with pytest.raises(SystemExit, match=r"^2$"):
            exec(compile(SOURCE, "lab.py", "exec"), {"__name__": "__main__"})
        said = f"error: expected Python 3.11 or later, got {'.'.join(map(str, version))}; call lab.py with a newer one"
        assert capsys.readouterr().err == f"{said}, such as python3.12 lab.py\n"


@pytest.mark.medium
@pytest.mark.parametrize("version", ["2.7", "3.6", "3.9", "3.10"])
def test_it_does_where_there_is_such_a_python(version: str) -> None:
    python = shutil.which(f"python{version}") or ""
    if not python or subprocess.run([python, "-c", "0"], capture_output=True).returncode:
        pytest.skip(f"there is no Python {version} here")
    done = subprocess.run([python, "lab.py"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: expected Python 3.11 or later, got {version}.")
    assert done.stderr.count("\n") == 1


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A lab that is set up in a folder of its own, with the packages of this Python."""
    folder = tmp_path / "a lab"
    for name in ("course", "data"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("lab.py", "lab_jobs.py", "lab_setup.py", "micro.py", lab_setup.RUN, lab_setup.DEVELOP):
        shutil.copy(ROOT / name, folder)
    make_python(folder / ".venv", packages(), Path("../../../.." if os.name == "posix" else "../../.."))
    digest = hashlib.sha256((ROOT / lab_setup.RUN).read_bytes()).hexdigest()
    stamp = f"{lab_setup.RUN} {digest} {sys.version.split()[0]}\n{folder}\n"
    (folder / ".venv" / "lab-is-set-up.txt").write_text(stamp, encoding="utf-8")
    return folder


BASE = Path(getattr(sys, "_base_executable", sys.executable))


@pytest.mark.medium
def test_a_command_is_run_in_the_callers_folder_and_its_status_is_passed_on(prepared: Path, tmp_path: Path) -> None:
    shutil.copy(ROOT / "data" / "datasets" / "math_dev.jsonl", tmp_path / "mine.jsonl")
    lab_py = str(prepared / "lab.py")
    words = ["--dataset", "mine.jsonl", "--completions", str(ROOT / "data/rollouts/frozen_rollouts_dev.jsonl")]
    done = typed(BASE, lab_py, "eval", *words, cwd=tmp_path)
    assert (done.status, done.err) == (0, "")
    assert "\nrun: a lab/runs/run_001\n" in done.out
    assert not (tmp_path / "runs").exists()
    pair = ["--baseline", "a lab/runs/run_001", "--candidate", "a lab/runs/run_001", "--min-delta", "0"]
    assert typed(BASE, lab_py, "gate", *pair, cwd=tmp_path).status == 3
    assert typed(BASE, lab_py, "gate", cwd=tmp_path).status == 2


@pytest.mark.medium
def test_a_students_files_break_neither_set_up_nor_commands(prepared: Path) -> None:
    for name in ("random", "json", "typing", "types", "collections", "subprocess", "numpy"):
        (prepared / f"{name}.py").write_text("raise SystemExit('a file of the student')")
    done = typed(BASE, "lab.py", cwd=prepared)
    assert (done.status, done.err) == (0, "")
    assert "What you saw: the verifier gave the reward to 34 of 80 " in done.out
    assert typed(BASE, "lab.py", "micro", "strict", "x", cwd=prepared).err.startswith("usage: micro.py")


@pytest.mark.medium
def test_a_folder_that_was_moved_is_set_up_again_without_a_download(prepared: Path, tmp_path: Path) -> None:
    script = prepared / ".venv" / BIN.parent / "tool"
    script.write_bytes(f"#!{prepared}/.venv/bin/python\nimport sys, course\nprint(course.__file__)\n".encode())
    script.chmod(0o755)
    moved = tmp_path / ("it's moved" if os.name == "nt" else "it's a$(touch pwned)`touch pwned`\\x moved")
    prepared.rename(moved)
    done = typed(BASE, "lab.py", "gate", "--help", cwd=moved)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith("this folder was moved or renamed; .venv now knows its new place\nusage: ")
    assert typed(BASE, "lab.py", "gate", "--help", cwd=moved).out.startswith("usage: ")
    activate = (moved / ".venv" / BIN.parent / "activate").read_text(encoding="utf-8")
    assert "moved/.venv" in activate.replace("\\", "/")
    assert str(prepared) not in activate
    if os.name == "posix":
        ran = subprocess.run([moved / ".venv" / "bin" / "tool"], cwd=tmp_path, capture_output=True, text=True)
        assert (ran.stdout, ran.stderr) == (f"{moved}/course/__init__.py\n", "")
        assert not (tmp_path / "pwned").exists()


# The set-up.


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A lab that is not set up."""
    for name in (lab_setup.RUN, lab_setup.DEVELOP):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "course").mkdir()
    place = tmp_path / ".venv"
    names = {"LAB": tmp_path, "VENV": place, "MARK": place / lab_setup.MARK.name, "STAMP": place / lab_setup.STAMP.name}
    for name, value in (names | {"LAB_PYTHON": place / BIN}).items():
        monkeypatch.setattr(lab_setup, name, value)
    return tmp_path


def pip_that_says(monkeypatch: pytest.MonkeyPatch, status: int, said: str) -> Lines:
    """In the place of pip. Environments get none, which takes seconds, and are taken to have what it installs."""
    called: Lines = []

    def pip(line: list[object], **_: object) -> SimpleNamespace:
        if "install" in line:
            called.append(line)
            return SimpleNamespace(returncode=status, stderr=said)
        return SimpleNamespace(returncode=0)

    make = venv.EnvBuilder
    monkeypatch.setattr(venv, "EnvBuilder", lambda **options: make(**(options | {"with_pip": False})))
    monkeypatch.setattr(subprocess, "run", pip)
    return called


@pytest.mark.medium
def test_a_set_up_is_done_once_and_again_when_its_list_has_changed(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    called = pip_that_says(monkeypatch, 0, "")
    lab_setup.set_up(lab_setup.RUN)
    assert capsys.readouterr().out == f"setting up .venv, once: {lab_setup.SIZES[lab_setup.RUN]}\n"
    assert (empty / ".venv" / SITE / "rl_foundations_lab.pth").read_text() in ("../../../..\n", "..\\..\\..\n")
    (empty / ".venv" / "kept").touch()
    lab_setup.set_up(lab_setup.RUN)
    assert len(called) == 1
    lab_setup.set_up(lab_setup.DEVELOP)
    lab_setup.set_up(lab_setup.RUN)
    assert [line[-1] for line in called] == [str(empty / lab_setup.RUN), str(empty / lab_setup.DEVELOP)]
    with (empty / lab_setup.DEVELOP).open("a") as file:
        file.write("# changed\n")
    lab_setup.set_up(lab_setup.DEVELOP)
    assert (len(called), (empty / ".venv" / "kept").exists()) == (3, True)
    monkeypatch.setattr(sys, "version", "3.99.0 (main)")  # another Python calls: what is there is used
    lab_setup.set_up(lab_setup.RUN)
    assert (len(called), (empty / ".venv" / "kept").exists()) == (3, True)


@pytest.mark.medium
@pytest.mark.parametrize(("terminal", "quiet"), [(True, False), (False, True)])
def test_pip_shows_its_progress_on_a_terminal_only(
    empty: Path, monkeypatch: pytest.MonkeyPatch, terminal: bool, quiet: bool
) -> None:
    called = pip_that_says(monkeypatch, 0, "")
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(isatty=lambda: terminal, write=len, flush=list))
    lab_setup.set_up(lab_setup.RUN)
    assert ("--quiet" in called[0]) == quiet
    assert str(empty / lab_setup.RUN) in called[0]


LOST = "WARNING: Retrying (Retry(total=1)) after connection broken by 'NewConnectionError(…)': /simple/rich/"


@pytest.mark.medium
@pytest.mark.parametrize(
    ("said", "shown", "line"),
    [
        (LOST, "", "no network; connect once and call this again, after that the lab needs none"),
        ("ERROR: no space\n", "ERROR: no space\n", "pip ended with status 1; mend what it says and call this again"),
    ],
)
def test_a_download_that_fails_is_told_in_one_line_and_begun_again(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], said: str, shown: str, line: str
) -> None:
    pip_that_says(monkeypatch, 1, said)
    assert lab_jobs.main([]) == 2
    assert capsys.readouterr().err == f"{shown}error: expected to set up .venv, got: {line}\n"
    assert not lab_setup.STAMP.exists()
    called = pip_that_says(monkeypatch, 0, "")
    lab_setup.set_up(lab_setup.RUN)
    assert len(called) == 1
    assert (empty / ".venv" / BIN).exists()


@pytest.mark.parametrize("number", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_a_folder_that_cannot_be_written_to_is_to_be_copied(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], number: int
) -> None:
    def refuse(**_: object) -> Any:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(venv, "EnvBuilder", refuse)
    assert lab_jobs.main([]) == 2
    said = f"{empty} cannot be written to; copy the folder to where you may write, and call lab.py there"
    assert capsys.readouterr().err == f"error: expected to set up .venv, got: {said}\n"


def test_a_python_that_cannot_make_an_environment_says_what_to_install(
    empty: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lab_setup, "find_spec", lambda _: None)
    assert lab_jobs.main([]) == 2
    assert "apt install python3-venv" in capsys.readouterr().err
    assert not (empty / ".venv").exists()


def test_ctrl_c_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(lab_jobs, "set_up", interrupted)
    assert lab_jobs.main([]) == 130
    assert capsys.readouterr().err == "error: interrupted; the same command begins again\n"


# A lab that works goes on working.


def put_pip(folder: Path, code: str) -> None:
    """A pip in the environment of this lab that does nothing but this."""
    (folder / ".venv" / SITE / "pip").mkdir()
    (folder / ".venv" / SITE / "pip" / "__init__.py").touch()
    (folder / ".venv" / SITE / "pip" / "__main__.py").write_text(f"import sys\n{code}\n", encoding="utf-8")


def stamp_in(folder: Path) -> Path:
    return folder / ".venv" / "lab-is-set-up.txt"


@pytest.mark.medium
def test_what_cannot_be_fetched_leaves_a_lab_that_works(prepared: Path) -> None:
    put_pip(prepared, f"sys.exit({LOST!r})")
    done = typed(BASE, "lab.py", "lint", cwd=prepared)
    assert (done.status, done.err.startswith("error: expected to set up .venv, got: no network; ")) == (2, True)
    done = typed(BASE, "lab.py", "gate", "--help", cwd=prepared)
    assert (done.status, done.out[:7], done.err) == (0, "usage: ", "")


@pytest.mark.medium
def test_what_pip_has_begun_to_change_is_not_taken_for_whole(prepared: Path) -> None:
    put_pip(prepared, f"open({str(prepared / '.venv' / SITE / 'new.py')!r}, 'w').close(); sys.exit({LOST!r})")
    assert typed(BASE, "lab.py", "lint", cwd=prepared).status == 2
    assert not stamp_in(prepared).exists()


@pytest.mark.medium
def test_a_lab_that_another_python_set_up_is_used(prepared: Path) -> None:
    stamp = stamp_in(prepared)
    stamp.write_text(stamp.read_text().replace(sys.version.split()[0], "3.99.0"))
    done = typed(BASE, "lab.py", "gate", "--help", cwd=prepared)
    assert (done.status, done.out[:7], done.err) == (0, "usage: ", "")


def lock_another_version(lab: Path) -> None:
    listed = lab / lab_setup.RUN
    listed.write_text(re.sub(r"rich==[0-9.]+", "rich==1.0.0", listed.read_text("utf-8")), encoding="utf-8")


@pytest.mark.medium
@pytest.mark.parametrize("kind", ["folder", "link", "file"])
def test_what_lab_py_has_not_made_is_left_alone(prepared: Path, tmp_path: Path, kind: str) -> None:
    stamp_in(prepared).unlink()
    lock_another_version(prepared)
    own = (prepared / ".venv").rename(tmp_path / "own") if kind != "folder" else prepared / ".venv"
    (own / "letter.txt").write_text("mine")
    if kind == "link":
        (prepared / ".venv").symlink_to(own)
    if kind == "file":
        (prepared / ".venv").touch()
    done = typed(BASE, "lab.py", "gate", "--help", cwd=prepared)
    said = (
        f"{prepared / '.venv'} is there, was not made by lab.py, and does not hold the locked versions of "
        "requirements.txt; where Poetry made it, call poetry install, else move it away and call this again"
    )
    assert done == (2, "", f"error: expected to set up .venv, got: {said}\n")
    assert (own / "letter.txt").read_text() == "mine"


@pytest.mark.medium
def test_an_environment_that_poetry_made_is_used_if_it_has_the_locked_versions(prepared: Path) -> None:
    stamp_in(prepared).unlink()
    assert typed(BASE, "lab.py", "gate", "--help", cwd=prepared).out.startswith("usage: ")
    lock_another_version(prepared)
    done = typed(BASE, "lab.py", "gate", "--help", cwd=prepared)
    assert done.status == 2
    assert "does not hold the locked versions of requirements.txt" in done.err


@pytest.mark.parametrize(
    ("words", "tools"),
    [
        (["test", "tests/test_rubric.py"], False),
        (["test", "tests/test_rubric.py::test_x"], False),
        (["test"], True),
        (["test", "--all"], True),
        (["test", "tests/test_rubric.py", "tests/test_lab.py"], True),
        (["lint"], True),
        (["site"], True),
        (["micro"], False),
        (["gate", "tests/test_rubric.py"], False),
    ],
)
def test_tools_are_fetched_for_what_needs_more_than_pytest(words: list[str], tools: bool) -> None:
    assert lab_jobs.needs_tools(words[0], words[1:]) == tools


def test_all_tests_of_a_students_copy_need_pytest_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab_jobs, "LAB", tmp_path)
    assert not lab_jobs.needs_tools("test", [])
    assert lab_jobs.needs_tools("lint", [])


@pytest.mark.medium
def test_a_set_up_that_was_cut_off_is_begun_anew(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (empty / ".venv" / "lib" / "half").mkdir(parents=True)
    (empty / ".venv" / "made-by-lab.txt").touch()
    called = pip_that_says(monkeypatch, 0, "")
    lab_setup.set_up(lab_setup.RUN)
    assert (len(called), (empty / ".venv" / "lib" / "half").exists(), lab_setup.STAMP.exists()) == (1, False, True)


@pytest.mark.medium
@pytest.mark.usefixtures("empty")
@pytest.mark.parametrize("name", ["PIP_TARGET", "PIP_DRY_RUN"])
def test_pip_that_leaves_nothing_is_no_set_up(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    run = subprocess.run
    pip_that_says(monkeypatch, 0, "")
    pip = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda line, **more: (pip if "install" in line else run)(line, **more))
    monkeypatch.setenv(name, "1")
    assert lab_jobs.main([]) == 2
    said = f"pip has put the packages elsewhere or nowhere; unset {name} and call this again"
    assert capsys.readouterr().err == f"error: expected to set up .venv, got: {said}\n"
    assert not lab_setup.STAMP.exists()


@pytest.mark.medium
@pytest.mark.skipif(os.name != "posix", reason="fcntl")
def test_a_second_lab_py_waits_for_the_first(prepared: Path) -> None:
    import fcntl

    stamp = stamp_in(prepared).rename(prepared / "stamp")
    (prepared / ".venv" / "made-by-lab.txt").touch()
    with (prepared / lab_setup.RUN).open("r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        line = [str(BASE), "lab.py", "gate", "--help"]
        second = subprocess.Popen(line, cwd=prepared, stdout=subprocess.PIPE, text=True)
        assert second.stdout
        assert second.stdout.readline() == "another lab.py is setting up .venv; this one waits for it\n"
        stamp.rename(stamp_in(prepared))
    assert second.communicate(timeout=60)[0].startswith("usage: ")
    assert second.returncode == 0


@pytest.mark.medium
@pytest.mark.skipif(os.name != "posix", reason="a Python that is a link")
@pytest.mark.parametrize("own_stamp", [True, False])
def test_a_python_that_does_not_start_is_told_and_made_anew(prepared: Path, own_stamp: bool) -> None:
    python = prepared / ".venv" / BIN
    python.unlink()
    python.write_text("no program")
    python.chmod(0o755 if own_stamp else 0o644)
    done = typed(BASE, "-S", "-m", "course.gate", cwd=prepared)
    assert done.status == 2
    assert done.err.startswith(f"error: expected {python} to start, got: ")
    assert done.err.endswith(f"; python3 lab.py in {prepared} makes it anew\n")
    done = typed(BASE, "lab.py", "gate", "--help", cwd=prepared, PIP_NO_INDEX="1")
    assert (done.status, "Traceback" in done.err) == (2, False)  # pip had nothing to fetch from
    assert subprocess.run([python, "-c", "0"]).returncode == 0


# Where the output goes, and what lab.py is called by.


@pytest.mark.medium
@pytest.mark.skipif(os.name != "posix", reason="a shell, and /dev/full")
@pytest.mark.parametrize(
    ("line", "status", "said"),
    [
        ("lab.py --help | true; exit ${PIPESTATUS[0]}", 141, ""),
        ("lab.py --help >/dev/full", 2, "error: expected to read and write freely, got: no space left on device: "),
        ("lab.py gate >&-", 2, "error: the following arguments are required: "),
        ("-OO lab.py --help >/dev/null", 0, ""),
        ("../link/lab.py gate --help >/dev/null; grep -q link .venv/lab-is-set-up.txt && exit 9; true", 0, ""),
    ],
)
def test_no_way_of_calling_it_ends_in_a_traceback(
    prepared: Path, tmp_path: Path, line: str, status: int, said: str
) -> None:
    if not Path("/dev/full").exists() or not shutil.which("bash"):
        pytest.skip("there is no /dev/full here, or no bash")
    (tmp_path / "link").symlink_to(prepared)
    done = subprocess.run(["bash", "-c", f'sleep 0; "{BASE}" {line}'], cwd=prepared, capture_output=True, text=True)
    assert (done.returncode, done.stderr[: len(said) or None]) == (status, said)
    assert done.stderr.count("\n") == bool(said)


def test_a_word_that_is_no_path_goes_to_pytest(lines: Lines, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    assert lab_jobs.main(["test", "x" * 300]) == 5
    assert lines == [[LAB_PYTHON, "-m", "pytest", "x" * 300]]


@pytest.mark.medium
@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
def test_ctrl_c_while_lab_py_is_loading_is_one_line(prepared: Path) -> None:
    (prepared / "lab_jobs.py").write_text("import os, signal\nos.kill(os.getpid(), signal.SIGINT)\n")
    done = typed(BASE, "lab.py", cwd=prepared)
    assert (done.status, done.err) == (130, "error: interrupted; nothing was begun\n")


# The tests that pytest runs.


@pytest.mark.parametrize(
    "mark", ["unmarked", *(pytest.param(m, marks=getattr(pytest.mark, m)) for m in ("medium", "slow"))]
)
def test_of_each_mark(request: pytest.FixtureRequest, mark: str) -> None:
    """For the next test to choose from."""
    assert mark == "unmarked" or request.node.get_closest_marker(mark)


@pytest.mark.medium
@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--fast", "tests/test_lab.py"], ["unmarked"]),
        (["tests/test_lab.py"], ["unmarked", "medium"]),
        ([f"{EXAMPLE}[slow]"], ["slow"]),
        pytest.param(["--all", "tests/test_lab.py"], ["unmarked", "medium", "slow"], marks=pytest.mark.slow),
    ],
)
def test_a_tier_runs_its_tests_and_a_test_that_is_named_runs_in_every_tier(words: list[str], found: list[str]) -> None:
    line = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", *words]
    out = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [line for line in out.split("\n") if line.startswith(EXAMPLE)] == [f"{EXAMPLE}[{mark}]" for mark in found]


@pytest.mark.medium
def test_one_file_starts_no_workers_and_the_students_file_says_how_to_run_it() -> None:
    sentence = "    python3 lab.py test tests/test_rubric.py\n"
    assert sentence in (ROOT / "tests" / "test_rubric.py").read_text(encoding="utf-8")
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    for words, workers in ([EXAMPLE], False), (["tests/test_rubric.py"], False), ([f"{EXAMPLE}[slow]"] * 2, True):
        line = [sys.executable, "-m", "pytest", *words]
        done = subprocess.run(line, cwd=ROOT, env=env, capture_output=True, text=True, check=True)
        assert ("bringing up nodes" in done.stdout) == workers
