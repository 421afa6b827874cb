"""lab.py hands to pytest what follows ``test``, and pytest runs the tests of the tier that was asked for.

An example: ``python3 lab.py test --fast tests/course`` runs ``python -m pytest --fast tests/course`` in .venv.
"""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from conftest import ROOT

import lab

EXAMPLE = "tests/test_lab.py::test_of_each_mark"


def test_what_follows_test_goes_to_pytest_word_by_word(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[list[object]] = []

    def keep(line: list[object], **_: object) -> SimpleNamespace:
        lines.append(line)
        return SimpleNamespace(returncode=5)

    monkeypatch.setattr(sys, "argv", ["lab.py", "test", "--all", "-k", "a or b", "tests/course"])
    monkeypatch.setattr(lab, "set_up", lambda _: None)
    monkeypatch.setattr(subprocess, "run", keep)
    assert lab.main() == 5
    assert lines == [[lab.PYTHON, "-m", "pytest", "--all", "-k", "a or b", "tests/course"]]


@pytest.mark.parametrize("words", [["check", "--fast"], ["--all"], ["run", "x"], ["tests"]])
def test_what_no_job_takes_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["lab.py", *words])
    monkeypatch.setattr(lab, "set_up", lambda _: pytest.fail("nothing may be set up"))
    with pytest.raises(SystemExit, match=r"^2$"):
        lab.main()
    assert words[-1] in capsys.readouterr().err


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
