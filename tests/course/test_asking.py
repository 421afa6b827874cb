"""What is asked at a terminal, and that nothing is asked anywhere else.

An example: ``eval --predict`` on a terminal asks what is expected; ``banana`` and Enter alone are asked again, ``75 %``
goes into the run before anything is scored, q ends it all with nothing computed.
"""

import io
import os
import sys
from typing import IO

import pytest
from conftest import Lab, files, lines_of
from terminals import posix, run_on_terminal

from course.asking import ask, read_answer, wait_for_enter


class Terminal(io.StringIO):
    """What is typed on it, or what it shows."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "answer"),
    [(" 40 OF 80 \n", "40 of 80"), ("\n", ""), ("q\n", None), (" Q\n", None), ("", None), ("quarter", "quarter")],
)
def test_an_answer_is_a_line_without_the_spaces_at_its_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, answer: str | None
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert read_answer("What?") == answer
    assert capsys.readouterr().out == (
        "What? " if typed else "What? \n"
    )  # what is typed ends the line, Ctrl-D does not


def test_a_closed_input_is_at_its_end_and_a_line_in_another_encoding_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert read_answer("What?") is None
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"h\xe4lfte\n"), encoding="utf-8"))
    assert read_answer("What?") == ""


def test_what_is_not_accepted_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("ba\x1bna\n\n7\n8\nq\n"))
    assert ask("A digit?", str.isdigit, "a digit") == "7"
    assert capsys.readouterr().out.split("A digit? ")[1:] == [
        "expected a digit, got ba<U+001B ESCAPE>na\n",
        "expected a digit, got nothing\n",
        "",
    ]
    assert ask("A digit?", str.isdigit, "a digit") == "8"
    assert ask("A digit?", str.isdigit, "a digit") is None


def test_where_nobody_can_be_asked_the_mend_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("0.5\n"))
    assert "--expect" in lab.refused("bandit_train", "--predict")


@pytest.mark.parametrize(
    ("command", "guess"),
    [
        ("eval", "banana"),
        ("eval", "YOUR GUESS"),
        ("eval", ""),
        ("eval", "101"),
        ("bandit_train", "half"),
        ("policy_gradient_demo", "half"),
        ("experiment", "anywhere"),
        ("token_inspect", "-"),
    ],
)
def test_an_expectation_that_is_no_number_is_refused_before_anything_is_computed(
    lab: Lab, command: str, guess: str
) -> None:
    words = ["--dataset", lab.dataset([1]), "--completions", lab.completions(["1"])] if command == "eval" else []
    words += ["goodhart"] if command == "experiment" else []
    before = files(lab.folder)
    said = lab.refused(command, *words, f"--expect={guess}")
    assert said.startswith("error: argument --expect: expected a number such as 0.4 or 40 %, got ")
    assert files(lab.folder) == before


def test_a_run_without_a_main_number_takes_any_number(lab: Lab) -> None:
    assert lab("token_inspect", "--expect", " 300 ", "--outdir", "run").status == 0
    assert [line["expect"] for line in lines_of(lab.log)] == ["300"]


def test_an_expectation_is_said_or_asked_for_not_both(lab: Lab) -> None:
    message = lab.refused("bandit_train", "--expect", "0.5", "--predict")
    assert "--predict: not allowed with argument --expect" in message


@pytest.mark.parametrize("screen", [sys.__stdin__, None])
def test_nobody_is_waited_for_but_at_a_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], screen: IO[str] | None
) -> None:
    monkeypatch.setattr(sys, "stdin", None if screen is None else io.StringIO("q\n"))
    assert wait_for_enter()
    monkeypatch.setattr(sys, "stdin", Terminal("q\n"))  # a terminal to type on, and a pipe to read from: | less
    assert wait_for_enter()
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("typed", "again"),
    [
        ("\n", True),
        ("next\n", True),
        ("q\n", False),
        ("", False),
    ],
)
def test_enter_goes_on_and_q_goes_to_the_end(monkeypatch: pytest.MonkeyPatch, typed: str, again: bool) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert wait_for_enter() is again


def on_a_terminal(lab: Lab, command: str, *arguments: object, typed: list[str], ahead: str = "") -> str:
    """Run a command of the course on a pseudo-terminal. Returns what it printed."""
    line = [sys.executable, "-m", f"course.{command}", *map(str, arguments)]
    status, printed = run_on_terminal(line, lab.folder, os.environ | lab.path() | {"TERM": "dumb"}, typed, ahead)
    assert status == (2 if "nothing was computed" in printed else 0)
    return printed


@posix
def test_on_a_terminal_the_prediction_is_asked_for_once_and_is_in_the_run(lab: Lab) -> None:
    dataset = lab.dataset([1, 2])
    completions = lab.completions(["Final: 1", "2"])
    arguments = ("--dataset", dataset, "--completions", completions, "--predict", "--outdir", "run")
    screen = on_a_terminal(lab, "eval", *arguments, typed=["\n", "banana\n", "75 %\n"], ahead="99 %\n")
    assert screen.count("\nexpected a number such as ") == 2
    assert screen.index("What result do you expect?") < screen.index("passed 1 of 2")
    assert "\nexpected  75 %\ngot       pass_rate 0.5, 25.0 points below\n" in screen
    assert [line["expect"] for line in lines_of(lab.log)] == ["75 %"]
    before = files(lab.folder)
    for end in ("\x04", "q\n"):
        assert on_a_terminal(lab, "eval", *arguments[:-1], "two", typed=[end]).endswith("nothing was computed\n")
    assert files(lab.folder) == before


@posix
def test_on_a_terminal_each_update_of_bandit_train_waits_for_enter_and_q_goes_to_the_end(lab: Lab) -> None:
    screen = on_a_terminal(lab, "bandit_train", "--steps", 9, "--slow", "--outdir", "run", typed=["\n", "\n", "q\n"])
    assert (screen.count("Press Enter for the update"), screen.count("theta changes by")) == (3, 2)
    assert screen.index("step 3 of 9") < screen.index("Loop C, learn")
    assert "after 9 steps" in screen
