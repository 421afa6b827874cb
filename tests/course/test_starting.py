"""How a command finds what it needs: a Python without the lab's packages lets ``.venv`` take over.

An example: Debian's ``python3`` has no msgspec. ``.venv/bin/python`` then does what ``python3 -m course.gate …`` asks
for, in the same folder, with the same arguments and the same exit status.
"""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from conftest import ROOT, Lab
from other_pythons import make_python, packages, typed

from course import starting


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    return make_python(tmp_path / "bare")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A lab without .venv."""
    for name in ("course", "data"):
        shutil.copytree(ROOT / name, tmp_path / "lab" / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "lab"


def test_a_python_without_packages_hands_over_with_arguments_folder_and_status(folder: Path, bare: Path) -> None:
    own = make_python(folder / ".venv", packages())
    options = ["--baseline", "a", "--candidate", "b", "--min-delta", "0"]
    said = typed(own, "-m", "course.gate", *options, cwd=folder)
    assert (said.status, said.out) == (2, "")
    assert said.err.startswith("error: a: expected the folder of a run")
    assert typed(bare, "-m", "course.gate", *options, cwd=folder) == said
    assert typed(bare, "-mcourse.gate", *options, cwd=folder) == said
    words = ["--dataset", "data/datasets/math_dev.jsonl", "--completions", "data/rollouts/frozen_rollouts_dev.jsonl"]
    done = typed(bare, "-W", "ignore", "-m", "course.eval", *words, cwd=folder)
    assert (done.status, done.err) == (0, "")
    assert "run: runs/run_001\n" in done.out


def test_without_an_environment_one_line_says_how_to_get_it(folder: Path, bare: Path) -> None:
    done = typed(bare, "-m", "course.eval", cwd=folder)
    message = f"error: this Python does not have the lab's packages; python3 lab.py in {folder} installs them\n"
    assert done == (2, "", message.replace("python3", starting.PYTHON))


def test_an_environment_that_lacks_packages_too_does_not_hand_over_for_ever(folder: Path, bare: Path) -> None:
    make_python(folder / ".venv")
    done = typed(bare, "-m", "course.eval", cwd=folder)
    assert done.status == 2
    assert done.err.startswith("error: ")
    assert done.err.count("\n") == 1


def test_a_students_files_do_not_stand_in_for_modules_of_their_names(folder: Path, bare: Path) -> None:
    make_python(folder / ".venv", packages())
    for name in ("random", "json", "typing", "signal", "numpy", "msgspec"):
        (folder / f"{name}.py").write_text("raise SystemExit('a file of the student')")
    done = typed(bare, "-m", "course.policy_gradient_demo", "--fast", "--summary", cwd=folder)
    assert (done.status, done.err) == (0, "")


@pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals")
def test_ctrl_c_while_modules_load_is_one_line(lab: Lab) -> None:
    """In the midst of loading the package that a command needs first."""
    lab.write("msgspec.py", "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise ValueError('too far')\n")
    done = lab.process("eval", env={"PYTHONPATH": os.pathsep.join([str(lab.folder), str(ROOT)])})
    assert done == (130, "", "error: interrupted before anything was done\n")


def test_the_package_alone_is_a_library_and_some_commands(tmp_path: Path, bare: Path) -> None:
    """As a wheel installs it (``tests/test_wheel.py``): in site-packages, and no folder of the lab around it."""
    shutil.copytree(ROOT / "course", tmp_path / "site" / "course", ignore=shutil.ignore_patterns("__pycache__"))
    python = make_python(tmp_path / "python", packages(), tmp_path / "site")
    path = str(tmp_path / "site")
    assert typed(python, "-m", "course.eval", "--help", cwd=tmp_path, PYTHONPATH=path).status == 0
    done = typed(python, "-m", "course.token_train", "--help", cwd=tmp_path, PYTHONPATH=path)
    assert (done.status, done.out) == (2, "")
    assert f"error: this command needs the lab's folder, and the package in {path}" in " ".join(done.err.split())
    assert done.err.count("\n") == 1
    done = typed(bare, "-m", "course.eval", "--help", cwd=tmp_path, PYTHONPATH=path)
    assert (done.status, done.out) == (2, "")
    assert f"lacks these packages: {', '.join(starting.NEEDED)}; " in done.err
    assert done.err.count("\n") == 1
    code = "from course.score import score; print(score({'prompt': '', 'expected_answer': 7}, 'Final: 7')['reward'])"
    assert typed(python, "-c", code, cwd=tmp_path, PYTHONPATH=path) == (0, "1.0\n", "")


def test_where_no_program_can_take_a_process_over_the_status_is_passed_on(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on Windows. Ctrl-C is the other program's to answer, so this one does not listen to it."""
    before = signal.getsignal(signal.SIGINT)
    try:
        with monkeypatch.context() as windows:
            windows.setattr(os, "name", "nt")
            with pytest.raises(SystemExit, match=r"^3$"):
                starting.become([sys.executable, "-c", "print('there'); raise SystemExit(3)"])
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
    assert capfd.readouterr().out.strip() == "there"


def test_the_first_word_is_the_one_that_is_typed_on_this_system() -> None:
    assert {"win32": "py"}.get(sys.platform, "python3") == starting.PYTHON
