"""A student's functions behind a pipe: what comes back of each kind of file, and that nothing of it stays."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import indent
from time import sleep

import pytest
from clusters import wait_for
from conftest import ROOT
from handed_in import end_left_behind, left_behind, linux

from course.child import Child, Raised, Stopped, UsedUp
from course.limited_process import Limits


def call_file(folder: Path, source: str, *calls: tuple[object, ...], seconds: float = 10.0) -> list[object]:
    with Child(written(folder, source)) as child:
        return child.call("f", list(calls), seconds)


def written(folder: Path, source: str) -> Path:
    path = folder / "mine.py"
    path.write_text(source, encoding="utf-8", newline="\n")
    return path


def test_values_come_back_in_order(tmp_path: Path) -> None:
    assert call_file(tmp_path, "def f(a, b):\n    return a / b", (1, 2), (3, 4)) == [0.5, 0.75]


def test_an_array_comes_back_as_a_list(tmp_path: Path) -> None:
    source = "import numpy as np\ndef f(a):\n    return np.exp(np.array(a))"
    assert call_file(tmp_path, source, ([0.0, 0.0],)) == [[1.0, 1.0]]


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
    assert call_file(tmp_path, source, (3,)) == [[3, "mine", "mine.py"]]


def test_the_source_that_is_told_is_what_runs(tmp_path: Path) -> None:
    """A file that is written over after it was read, and one in another encoding than UTF-8."""
    path = tmp_path / "mine.py"
    source = "# coding: latin-1\ndef f():\n    return 'é'".encode("latin-1")
    path.write_bytes(source)
    with Child(path) as child:
        path.write_text("def f():\n    return 2", encoding="utf-8")
        assert child.call("f", [()]) == ["é"]
        assert child.source == source


def test_an_exception_costs_its_own_call_only(tmp_path: Path) -> None:
    answers = call_file(tmp_path, "def f(a):\n    return 1 / a", (0,), (2,))
    assert answers == [Raised("ZeroDivisionError", "division by zero", 2), 0.5]


@pytest.mark.parametrize(
    ("source", "kind", "line"),
    [
        ("def f(:", "SyntaxError", 1),
        ("\nraise SystemExit(0)", "SystemExit", 2),
        ("g = 1", "KeyError", None),
        ("def f():\n    return object()", "TypeError", None),
        ("def f():\n    raise ValueError('\\x1b[31m')", "ValueError", 2),
        ("def f():\n    raise type('\\x1b[31m', (Exception,), {})", "<U+001B ESCAPE>[31m", 2),
        ("def f():\n    raise ValueError('a' * (1 << 25))", "ValueError", 2),
        ("def g():\n    return 1 / 0\ndef f():\n    return g()", "ZeroDivisionError", 2),
        ("def f():\n    raise SyntaxError('mine')", "SyntaxError", 2),
        ("def f():\n    eval('\\n\\n(')", "SyntaxError", 2),
    ],
)
def test_a_file_that_is_broken_says_how(tmp_path: Path, source: str, kind: str, line: int | None) -> None:
    (answer,) = call_file(tmp_path, source, ())
    assert isinstance(answer, Raised)
    assert (answer.kind, answer.line) == (kind, line)
    assert "\x1b" not in answer.text


BROKEN_ONCE = """
from pathlib import Path
begun = Path(__file__).with_name("begun")
if begun.exists():
    def f():
        return 1
else:
    begun.touch()
"""


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def f():\n    while True: pass", "no answer within 2 s"),
        ("while True: pass", "no answer within 2 s"),
        ("import os\ndef f():\n    os._exit(7)", "an end with exit status"),
        ("def f():\n    return 'a' * (1 << 25)", "no answer within 16 MB of output"),
        ("def f():\n    for _ in range(20):\n        print('a' * (1 << 20))", "no answer within 16 MB of output"),
        ("import os\ndef f():\n    os.closerange(3, 9)\n    while True: pass", "a pipe that was closed"),
        (
            "import os\ndef f():\n    os.write(4, b'{}\\n')  # the pipe\n    while True: pass",
            "an answer that cannot be read",
        ),
    ],
)
def test_no_answer_is_an_exception_of_its_own_and_the_next_call_is_answered(
    tmp_path: Path, source: str, why: str
) -> None:
    seconds = 2.0 if why == "no answer within 2 s" else 60.0
    with Child(written(tmp_path, BROKEN_ONCE + indent(source, "    "))) as child:
        with pytest.raises(Stopped, match=why):
            child.call("f", [()], seconds)
        assert child.call("f", [()]) == [1]


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps no limit on CPU time")
def test_cpu_time_is_used_up_by_all_calls_together(tmp_path: Path) -> None:
    source = "import time\ndef f():\n    begun = time.process_time()\n    while time.process_time() < begun + 0.3: pass"
    with Child(written(tmp_path, source), limits=Limits(cpu_seconds=1)) as child:
        assert child.call("f", [()]) == [None]
        with pytest.raises(UsedUp, match="no answer within 1 s of CPU time"):
            child.call("f", [()] * 9, 60.0)
        assert child.call("f", [()]) == [None]


def test_all_calls_together_have_the_seconds(tmp_path: Path) -> None:
    with pytest.raises(Stopped, match="no answer within 2 s"):
        call_file(tmp_path, "import time\ndef f():\n    time.sleep(0.8)", (), (), (), seconds=2.0)


def test_each_answer_to_an_expression_has_the_seconds(tmp_path: Path) -> None:
    with Child(written(tmp_path, "")) as child:
        assert list(child.evaluate("1", [{}])) == [1]
        answers = child.evaluate("x", [{"x": 1}, {"x": 2}], 2.0)
        assert next(answers) == 1
        sleep(2.2)
        assert next(answers) == 2


def test_a_bound_name_is_meant_and_not_one_of_the_file(tmp_path: Path) -> None:
    with Child(written(tmp_path, "x = y = 5")) as child:
        assert list(child.evaluate("[x, y]", [{"x": 1}])) == [[1, 5]]


def test_one_process_answers_until_an_answer_is_left_unread(tmp_path: Path) -> None:
    with Child(written(tmp_path, "asked = []\ndef f(x):\n    asked.append(x)\n    return asked")) as child:
        assert list(child.evaluate("f(x)", [{"x": 1}])) == [[1]]
        assert next(child.evaluate("f(x)", [{"x": 2}])) == [1, 2]
        assert child.call("f", [(3,)]) == [[1, 2, 3]]
        assert next(child.evaluate("f(x)", [{"x": 4}, {"x": 5}])) == [1, 2, 3, 4]
        assert child.call("f", [(6,)]) == [[6]]


def test_a_process_that_is_started_again_prints_after_the_first(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    source = "import os\ndef f(end):\n    print('asked', end)\n    return os._exit(1) if end else 1"
    with Child(written(tmp_path, source)) as child:
        assert child.call("f", [(0,)]) == [1]
        with pytest.raises(Stopped):
            child.call("f", [(1,)])
        assert child.call("f", [(0,)]) == [1]
    assert capfd.readouterr().err.splitlines()[1:] == ["  asked 0", "  asked 1", "  asked 0"]


FORGED = (
    "{}",
    "[]",
    "[1, null, 1]",
    '["0", null, 1]',
    '[0, "E"]',
    '[0, "E", null]',
    '[0, ["E"], ["words", 1]]',
    '[0, "E", [["words"], 1]]',
    '[0, "E", ["words", "1"]]',
    '[0, "E", ["words", Infinity]]',
    "[" * 100_000,
    "not JSON",
)


@pytest.mark.skipif(os.name == "nt", reason="the number of the pipe is that of POSIX")
@pytest.mark.parametrize("line", FORGED, ids=lambda line: line[:30])
def test_a_forged_answer_is_one_that_cannot_be_read(tmp_path: Path, line: str) -> None:
    source = f"import os\ndef f():\n    os.write(4, {line.encode()!r} + b'\\n')\n    while True: pass"
    with pytest.raises(Stopped, match="an answer that cannot be read"):
        call_file(tmp_path, source, ())


EXPLODING = """
class Odd(Exception):
    def __str__(self):
        raise SystemExit(3)
class Text(str):
    def __getitem__(self, _):
        return [1]
class Lying(Exception):
    def __str__(self):
        return Text("as it is")
def f(kind):
    raise {"odd": Odd, "lying": Lying}[kind]()
"""


def test_an_exception_is_reported_whatever_it_says_of_itself(tmp_path: Path) -> None:
    odd, lying = call_file(tmp_path, EXPLODING, ("odd",), ("lying",))
    assert odd == Raised("Odd", "an exception without words", 12)
    assert lying == Raised("Lying", "as it is", 12)


def test_what_it_prints_is_shown_and_obeyed_by_no_terminal(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = "import sys\nprint('one\\n\\x1b[31mtwo')\ndef f():\n    print('three', file=sys.stderr)\n    return 1"
    assert call_file(tmp_path, source, ()) == [1]
    out, err = capfd.readouterr()
    assert out == ""
    assert err.splitlines()[1:] == ["  one", "  <U+001B ESCAPE>[31mtwo", "  three"]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (b"", []),
        (b"\xff\n", ["  \ufffd"]),
        (b"a\n" * 10, ["  a"] * 10),
        (b"a\n" * 11, ["  a"] * 10 + ["  and more"]),
        ((b"a" * 6_000 + b"\n") * 3, ["  " + "a" * 99 + "…"] * 2 + ["  and more"]),
    ],
    ids=["nothing", "no text", "ten lines", "eleven lines", "long lines"],
)
def test_the_first_of_what_it_prints_is_shown(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], output: bytes, shown: list[str]
) -> None:
    call_file(tmp_path, f"import os\ndef f():\n    os.write(2, {output!r})", ())
    assert capfd.readouterr().err.splitlines()[1:] == shown


def test_nothing_is_said_of_a_file_that_prints_nothing_and_a_name_is_made_visible(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m\u202e.py"
    path.write_text("def f(text):\n    print(text, end='')", encoding="utf-8")
    with Child(path) as child:
        child.call("f", [("",)])
    assert capfd.readouterr().err == ""
    with Child(path) as child:
        child.call("f", [("a",)])
    assert "m<U+202E RIGHT-TO-LEFT OVERRIDE>.py printed:" in capfd.readouterr().err


@pytest.mark.skipif(not hasattr(os, "fork"), reason="POSIX only")
@pytest.mark.parametrize("leave", ["pass", "os.setsid()"])
def test_a_fork_that_holds_the_pipe_is_no_answer_and_keeps_nobody_waiting(tmp_path: Path, leave: str) -> None:
    source = f"""
import os, time
def f():
    if os.fork() == 0:
        {leave}
        time.sleep(600)
    return 1
def ends():
    if os.fork() == 0:
        {leave}
        time.sleep(600)
    os._exit(7)
"""
    path = tmp_path / "mine.py"
    path.write_text(source, encoding="utf-8", newline="\n")
    with Child(path) as child:
        assert child.call("f", [()]) == [1]
    assert left_behind(tmp_path) == []
    with Child(path) as child, pytest.raises(Stopped, match="an end with exit status 7"):
        child.call("ends", [()])
    end_left_behind(tmp_path)


@linux
def test_an_endless_loop_ends_with_whoever_asked(tmp_path: Path) -> None:
    """And so does what it forked."""
    begun = tmp_path / "begun"
    path = written(tmp_path, f"import os\ndef f():\n    os.fork()\n    open({str(begun)!r}, 'w')\n    while True: pass")
    code = "import sys; from pathlib import Path; from course.child import Child\n"
    code += "Child(Path(sys.argv[1])).call('f', [()], 60)"
    caller = subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT)
    wait_for(begun.exists)
    caller.kill()
    caller.wait()
    assert left_behind(tmp_path) == []


ORPHAN = """
import os, sys, time
from course.child_main import end_with_parent
reader, writer = os.pipe()
if os.fork() == 0:
    end_with_parent()
    os.write(writer, b"!")
    time.sleep(600)
os.read(reader, 1)
"""


@linux
def test_a_process_that_leads_no_session_ends_with_its_parent_too(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", ORPHAN, str(tmp_path)], cwd=ROOT, check=True)
    assert left_behind(tmp_path) == []


def test_what_the_file_prints_and_reads_is_no_part_of_the_pipe(tmp_path: Path) -> None:
    source = "import sys\nprint('[1]')\ndef f():\n    print('[2]', flush=True)\n    return sys.stdin.read()"
    assert call_file(tmp_path, source, ()) == [""]


def test_no_module_of_the_course_is_found_by_its_bare_name(tmp_path: Path) -> None:
    (answer,) = call_file(tmp_path, "def f():\n    import score", ())
    assert isinstance(answer, Raised)
    assert answer.kind == "ModuleNotFoundError"


def test_a_file_reads_and_imports_what_is_the_students(tmp_path: Path) -> None:
    (tmp_path / "other.py").write_text("x = 2", encoding="utf-8")
    source = "import json, other, numpy\ndef f():\n    return [other.x, len(open(other.__file__).read())]"
    with Child(written(tmp_path, source)) as child:
        assert child.call("f", [()]) == [[2, 5]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.py", "other.py"]  # no __pycache__


def test_a_file_finds_its_neighbours_first_then_the_lab_and_the_folder_of_the_caller(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``wave`` is also a module of Python, ``lab`` also one of the lab."""
    here = tmp_path / "here"
    beside = tmp_path / "beside"
    here.mkdir()
    beside.mkdir()
    for path in (here / "callers.py", beside / "wave.py", beside / "lab.py"):
        path.write_text("", encoding="utf-8")
    monkeypatch.chdir(here)
    source = "import callers, check, lab, wave\ndef f():\n    return [callers.__file__, lab.__file__, wave.__file__]"
    path = written(beside, source)
    expected = [str(here / "callers.py"), str(beside / "lab.py"), str(beside / "wave.py")]
    with Child(Path("../beside/mine.py")) as child:
        assert child.call("f", [()]) == [expected]
        assert list(child.evaluate("__file__", [{}])) == [str(path)]


def test_a_file_with_the_name_of_a_module_of_python_does_not_take_its_place(tmp_path: Path) -> None:
    path = tmp_path / "json.py"
    path.write_text("import json\ndef f():\n    return json.dumps([1])", encoding="utf-8")
    with Child(path) as child:
        assert child.call("f", [()]) == ["[1]"]
