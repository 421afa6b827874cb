"""A student's functions behind a pipe: what comes back of each kind of file, and that nothing of it stays."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from clusters import wait_for
from conftest import ROOT
from handed_in import left_behind, linux

from course import child as child_module
from course.child import Child, Raised, Stopped
from course.datasets.files import LAB


def asked(folder: Path, source: str, *calls: tuple[object, ...], seconds: float = 10.0) -> list[object]:
    path = folder / "mine.py"
    path.write_text(source, encoding="utf-8", newline="\n")
    with Child(path) as child:
        return child.call("f", list(calls), seconds)


def test_values_come_back_in_order(tmp_path: Path) -> None:
    assert asked(tmp_path, "def f(a, b):\n    return a / b", (1, 2), (3, 4)) == [0.5, 0.75]


def test_an_array_comes_back_as_a_list(tmp_path: Path) -> None:
    source = "import numpy as np\ndef f(a):\n    return np.exp(np.array(a))"
    assert asked(tmp_path, source, ([0.0, 0.0],)) == [[1.0, 1.0]]


def test_a_file_may_hold_what_an_engineers_own_has(tmp_path: Path) -> None:
    source = """
from __future__ import annotations
from dataclasses import dataclass
@dataclass
class Parsed:
    value: int | None = None
def f(a):
    return [Parsed(a).value, __name__, __file__[-7:]]
"""
    assert asked(tmp_path, source, (3,)) == [[3, "mine", "mine.py"]]


def test_an_exception_costs_its_own_call_only(tmp_path: Path) -> None:
    found = asked(tmp_path, "def f(a):\n    return 1 / a", (0,), (2,))
    assert found == [Raised("ZeroDivisionError", "division by zero", 2), 0.5]


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("def f(:", "SyntaxError", 1),
        ("\nraise SystemExit(0)", "SystemExit", 2),
        ("g = 1", "KeyError", None),
        ("def f():\n    return object()", "TypeError", None),
        ("def f():\n    raise ValueError('\\x1b[31m')", "ValueError", 2),
    ],
)
def test_a_file_that_is_broken_says_how(tmp_path: Path, source: str, kind: str, line: int | None) -> None:
    (found,) = asked(tmp_path, source, ())
    assert isinstance(found, Raised)
    assert (found.kind, found.line) == (kind, line)
    assert "\x1b" not in found.text


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def f():\n    while True: pass", "no answer within 2 s"),
        ("while True: pass", "no answer within 2 s"),
        ("import os\ndef f():\n    os._exit(7)", "an end with exit status"),
        ("def f():\n    return 'a' * (1 << 25)", "an answer of more than 16 MB"),
        (
            "import os\ndef f():\n    os.write(4, b'{}\\n')  # the pipe\n    while True: pass",
            "an answer that cannot be read",
        ),
    ],
)
def test_no_answer_is_an_exception_of_its_own_and_the_next_call_is_answered(
    tmp_path: Path, source: str, why: str
) -> None:
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8", newline="\n")
    with Child(path) as child:
        with pytest.raises(Stopped, match=why):
            child.call("f", [()], 2.0)
        path.write_text("def f():\n    return 1", encoding="utf-8", newline="\n")
        assert child.call("f", [()]) == [1]


def test_a_caller_may_take_its_time_between_two_calls(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import os\ndef f():\n    return os.getpid()", encoding="utf-8", newline="\n")
    with Child(path) as child:
        first = child.call("f", [()], 1.0)
        time.sleep(1.2)
        assert child.call("f", [()], 1.0) == first


@linux
def test_an_endless_loop_ends_with_whoever_asked(tmp_path: Path) -> None:
    path, begun = tmp_path / "mine.py", tmp_path / "begun"
    path.write_text(f"def f():\n    open({str(begun)!r}, 'w')\n    while True: pass", encoding="utf-8", newline="\n")
    code = "import sys; from pathlib import Path; from course.child import Child\n"
    code += "Child(Path(sys.argv[1])).call('f', [()], 60)"
    caller = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT)
    wait_for(begun.exists)
    caller.kill()
    caller.wait()
    assert left_behind(tmp_path) == []


def test_what_the_file_prints_and_reads_is_no_part_of_the_pipe(tmp_path: Path) -> None:
    source = "import sys\nprint('[1]')\ndef f():\n    print('[2]', flush=True)\n    return sys.stdin.read()"
    assert asked(tmp_path, source, ()) == [""]


@pytest.mark.skipif(sys.platform == "win32", reason="reads /proc or ps")
def test_no_process_is_left_behind(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import os\ndef f():\n    return os.getpid()", encoding="utf-8", newline="\n")
    with Child(path) as child:
        (number,) = child.call("f", [()])
    assert not Path(f"/proc/{number}").exists()


@pytest.mark.parametrize(
    "body",
    [
        "import course.score",
        "import course",
        "from course import text",
        "import importlib; importlib.import_module('course.stats')",
        "open({path!r})",
        "open({path!r}.encode())",
        "import os; os.open({path!r}, os.O_RDONLY)",
        "exec(open({path!r}).read())",
        "import os; os.symlink({path!r}, 'here'); open('here')",
        "import os; os.link({path!r}, 'here'); open('here')",
        "import os; os.symlink(os.path.relpath({path!r}, 'in'), 'in/here')",
        "import os; os.rename({path!r} + '.none', 'here')",
        "import os; os.open('child.py', os.O_RDONLY, dir_fd=os.open(os.path.dirname({path!r}), os.O_RDONLY))",
        "import os; os.open('.' + {path!r}, os.O_RDONLY, dir_fd=os.open('/', os.O_RDONLY))",
        "import os; os.open(os.path.relpath({path!r}, 'in'), os.O_RDONLY, dir_fd=os.open('in', os.O_RDONLY))",
        "import io, pathlib; io.FileIO(pathlib.Path({path!r}))",
        "open({oracles!r})",
        "import subprocess; subprocess.run(['true'])",
        "import os; os.fork()",
        "import os; os.system('true')",
    ],
)
def test_an_isolated_process_opens_nothing_of_the_course_and_starts_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    if sys.platform == "win32" and any(word in body for word in ("link(", "fork", "dir_fd")):
        pytest.skip("not on this system")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    path = tmp_path / "mine.py"
    body = body.format(path=str(Path(child_module.__file__)), oracles=str(LAB / "check" / "oracles.py"))
    path.write_text(f"def f():\n    {body}\n    return 1", encoding="utf-8", newline="\n")
    with Child(path, isolated=True) as child:
        (found,) = child.call("f", [()])
    assert isinstance(found, Raised)
    assert (found.kind, found.line) == ("IsADirectoryError" if "dir_fd" in body else "PermissionError", 2)
    with Child(path) as child:
        (found,) = child.call("f", [()])
    assert not isinstance(found, Raised) or found.kind in (
        "FileExistsError",
        "FileNotFoundError",
        "NameError",
        "TypeError",
    )


def test_an_isolated_process_may_use_a_temporary_file(tmp_path: Path) -> None:
    source = "import tempfile\ndef f():\n    with tempfile.TemporaryFile() as file:\n        return file.write(b'abc')"
    (tmp_path / "mine.py").write_text(source, encoding="utf-8", newline="\n")
    with Child(tmp_path / "mine.py", isolated=True) as child:
        assert child.call("f", [()]) == [3]


def test_an_isolated_process_reads_and_imports_what_is_the_students(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 2", encoding="utf-8")
    path = tmp_path / "mine.py"
    source = "import json, other, numpy\ndef f():\n    return [other.x, len(open(other.__file__).read())]"
    path.write_text(source, encoding="utf-8", newline="\n")
    with Child(path, isolated=True) as child:
        assert child.call("f", [()]) == [[2, 5]]
