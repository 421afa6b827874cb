"""The judge of tests: each test of a file with each version of a function, in one run of pytest.

An example: of three versions of ``double`` one is wrong about 3 alone. A test that asks about 2 passes with all, a test
that asks about 3 fails with that one.
"""

import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from check import judge
from check.judge import Outcomes, run_tests
from check.versions import Version, flips
from course.errors import UserError
from course.show.terminal import stop_for_breakpoint

Run = Callable[[str], Outcomes]


def double(n: int) -> int:
    return 2 * n


def wrong_about_three(n: int) -> int:
    return 7 if n == 3 else 2 * n


def raises_for_none(n: Any) -> int:
    return int(n + n)


VERSIONS = [
    Version("right", "", "", double),
    Version("wrong", "", "", wrong_about_three),
    Version("raises", "", "", raises_for_none),
]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_source(source: str) -> Outcomes:
        (tmp_path / "test_mine.py").write_text(source, encoding="utf-8", newline="\n")
        return run_tests(tmp_path / "test_mine.py", "double", VERSIONS)

    return run_source


ENDINGS = {  # the body of a test -> how it ends with the right, the wrong and the third version
    "assert double(2) == 4": "passed passed passed",
    "assert double(3) == 6": "passed failed passed",
    "double(3)": "passed passed passed",
    "if double(3) == 7:\n        raise ValueError": "passed failed passed",
    "if double(3) == 7:\n        pytest.fail('seven')": "passed failed passed",
    "if double(3) == 7:\n        pytest.skip('seven')": "passed skipped passed",
    "if double(3) == 7:\n        sys.exit()": "passed failed passed",
    "double('a') == 'aa'": "passed passed failed",  # int('aa')
    "assert double(2) == random.random()": "failed failed failed",
}


def test_a_test_ends_as_it_does_with_that_version_alone(run: Run) -> None:
    bodies = [f"def test_{i}(double):\n    {body}\n" for i, body in enumerate(ENDINGS)]
    found = run("import pytest, random, sys\n" + "".join(bodies))
    assert found.error == ""
    endings = [" ".join(cell.ending for cell in cells.values()) for cells in found.cells.values()]
    assert endings == list(ENDINGS.values())
    assert [list(cells) for cells in found.cells.values()] == [["right", "wrong", "raises"]] * len(ENDINGS)
    assert "ValueError" in found.cells["test_3"]["wrong"].words
    assert found.cells["test_1"]["wrong"].words == ""


OWN_FIXTURES = """
import pytest

@pytest.fixture
def seen():
    return []

@pytest.fixture
def twice(double):
    return lambda n: double(double(n))

@pytest.fixture(params=[-1, 3])
def number(request):
    return request.param

def test_seen(double, seen):
    seen.append(double(2))
    assert len(seen) == 1

def test_number(number, double):
    assert double(number) == 2 * number

def test_silent(double, capsys):
    assert double(3) == 6
    assert capsys.readouterr().out == ""

@pytest.mark.parametrize("n", [2, 3])
def test_twice(twice, n):
    assert twice(n) == 4 * n

class TestClass:
    def setup_method(self):
        self.seen = []

    @pytest.mark.parametrize("n, expected", [(2, 4), (3, 6)])
    def test_it(self, double, n, expected):
        self.seen.append(n)
        assert len(self.seen) == 1
        assert double(n) == expected

@pytest.mark.skip
def test_skipped(double):
    pass

def test_without():
    assert False
"""


def test_fixtures_of_its_own_are_set_up_for_each_version_and_names_stay_as_they_are(run: Run) -> None:
    found = run(OWN_FIXTURES)
    assert (found.error, found.left_out) == ("", 1)
    assert {test: [cell.ending for cell in cells.values()] for test, cells in found.cells.items()} == {
        "test_seen": ["passed"] * 3,
        "test_number[-1]": ["passed"] * 3,
        "test_number[3]": ["passed", "failed", "passed"],
        "test_silent": ["passed", "failed", "passed"],
        "test_twice[2]": ["passed"] * 3,
        "test_twice[3]": ["passed", "failed", "passed"],
        "TestClass::test_it[2-4]": ["passed"] * 3,
        "TestClass::test_it[3-6]": ["passed", "failed", "passed"],
        "test_skipped": [],
    }


def test_draws_are_the_same_with_each_version_and_what_a_version_remembers_is_forgotten(tmp_path: Path) -> None:
    @flips
    def every_second(calls: list[Any]) -> bool:
        return len(calls) % 2 == 0

    path = tmp_path / "test_mine.py"
    lines = [
        "import random",
        "draws = set()",
        "E = {'prompt': 'p', 'expected_answer': 1}",
        "def test_draw(rubric):",
        "    draws.add(random.random())",
        "    assert len(draws) == 1",
        "def test_once(rubric):",
        "    assert rubric(E, 'Final: 1')['reward'] == 1.0",
        "def test_again(rubric):",
        "    assert rubric(E, 'Final: 1')['reward'] == 1.0",
    ]
    path.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    found = run_tests(path, "rubric", [Version("a", "", "", every_second), Version("b", "", "", every_second)])
    assert {cell.ending for cells in found.cells.values() for cell in cells.values()} == {"passed"}


FAULTS = {  # a whole file -> what is said of it
    "import nothing_of_this_name": "ModuleNotFoundError: ",
    "def test_it(double:": "SyntaxError: ",
    "x = 1": "no test that takes the fixture double",
    "while True: pass": "no end of the file before its first test",
    "def test_it(double):\n    while True: pass": "no end of test_it",
    "def test_it(double):\n    import re\n    re.match('(a*)*b', 'a' * 99)": "no end of test_it",
    "def test_it(double):\n    try:\n        while True: double(1)\n    except Exception: pass": "no end of test_it",
    "def test_it(double):\n    if double(3) == 7:\n        while True: pass": "no end of test_it",
}


@pytest.mark.parametrize("source", FAULTS, ids=range(len(FAULTS)))
def test_what_cannot_be_judged_says_why(source: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_TEST_SECONDS", 0.5)
    assert run(source).error.startswith(FAULTS[source])


def test_what_is_printed_is_shown_for_the_first_version_and_never_on_standard_output(
    run: Run, capfd: pytest.CaptureFixture[str]
) -> None:
    run("print('loading')\ndef test_it(double):\n    print('asked', double(3))")
    assert capfd.readouterr() == ("", "loading\nasked 6\n")


def test_ctrl_c_ends_it(run: Run) -> None:
    with pytest.raises(KeyboardInterrupt):
        run("def test_it(double):\n    raise KeyboardInterrupt")


def test_breakpoint_opens_the_debugger_and_its_q_ends_the_check(
    run: Run, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "breakpointhook", stop_for_breakpoint)  # as check/__main__.py sets it
    monkeypatch.setattr(sys, "stdin", io.StringIO("c\np double(20) + 1\nq\n"))
    with pytest.raises(KeyboardInterrupt):
        run("def test_it(double):\n    breakpoint()\n    double(1)")
    assert "41\n" in capfd.readouterr().err


def test_a_file_that_was_changed_is_read_again(run: Run) -> None:
    assert list(run("def test_a(double): pass").cells) == ["test_a"]
    assert list(run("def test_b(double): pass").cells) == ["test_b"]


def test_without_pytest_it_says_what_fetches_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "find_spec", lambda _: None)
    with pytest.raises(UserError, match="expected pytest, got a Python without it"):
        run("")
