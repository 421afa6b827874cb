"""What is asked at a terminal, and that nothing is asked anywhere else.

An example: ``eval --predict`` on a terminal asks once what is expected; Enter alone asks again, ``about half`` goes
into the run before anything is scored, q ends it all with nothing computed.
"""

import io
import os
import sys
from typing import IO

import pytest
from conftest import Lab, files, lines_of
from terminals import posix, run_on_terminal

from course.asking import ask, ask_expectation, wait_for_enter


class Terminal(io.StringIO):
    """What is typed on it, or what it shows."""

    def isatty(self) -> bool:
        return True


def at_a_terminal(monkeypatch: pytest.MonkeyPatch, typed: str) -> Terminal:
    """A terminal on which this is typed. Returns what it shows on stderr."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stdin", Terminal(typed))
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("half\n", "half"),
        (" a b \n", "a b"),
        ("\n", ""),
        ("q\n", None),
        (" Q\n", None),
        ("", None),
        ("quarter", "quarter"),
    ],
)
def test_an_answer_is_a_line_without_the_spaces_at_its_ends(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, answer: str | None
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert ask("What?") == answer
    assert capsys.readouterr().out == (
        "What? " if typed else "What? \n"
    )  # what is typed ends the line, Ctrl-D does not


def test_a_closed_input_is_at_its_end_and_a_line_in_another_encoding_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert ask("What?") is None
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"h\xe4lfte\n"), encoding="utf-8"))
    assert ask("What?") == ""


def test_an_expectation_is_asked_for_until_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = at_a_terminal(monkeypatch, "\n  \n40 %\nmore\n")
    assert ask_expectation("Loop A: measure.") == "40 %"
    shown = screen.getvalue()
    assert shown.startswith("Loop A: measure.\nWhat result do you expect?")
    assert shown.count("What result do you expect?") == 3
    assert max(map(len, shown.split("\n"))) <= 80


@pytest.mark.parametrize("typed", ["q\n", ""])
def test_q_and_the_end_of_the_input_end_a_command_before_anything_is_computed(
    monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    screen = at_a_terminal(monkeypatch, typed)
    with pytest.raises(SystemExit) as end:
        ask_expectation("Loop A: measure.")
    assert end.value.code == 2
    assert screen.getvalue().endswith("nothing was computed\n")


@pytest.mark.parametrize("command", ["eval", "bandit_train", "token_train"])
def test_where_nobody_can_be_asked_the_mend_is_named(lab: Lab, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("half\n"))
    required = ["--dataset", "none.jsonl", "--completions", "none.jsonl"] if command == "eval" else []
    assert lab.refused(command, *required, "--predict") == (
        'error: --predict: cannot ask without a terminal; give your expectation with --expect "about half"\n'
    )


@pytest.mark.parametrize("guess", ["YOUR GUESS", " your guess ", "'YOUR GUESS'"])
def test_the_placeholder_of_a_printed_command_is_no_expectation(lab: Lab, guess: str) -> None:
    dataset, completions = lab.dataset([1]), lab.completions(["Final: 1"])
    before = files(lab.folder)
    said = lab.refused("eval", "--dataset", dataset, "--completions", completions, "--expect", guess)
    assert said.startswith("error: argument --expect: ")
    assert "YOUR GUESS" in said
    assert files(lab.folder) == before


def test_an_expectation_is_said_or_asked_for_not_both(lab: Lab) -> None:
    message = lab.refused("bandit_train", "--expect", "half", "--predict")
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


def on_a_terminal(lab: Lab, command: str, *arguments: object, typed: list[str]) -> str:
    """Run a command of the course on a pseudo-terminal. Returns what it printed."""
    line = [sys.executable, "-m", f"course.{command}", *map(str, arguments)]
    status, printed = run_on_terminal(line, lab.folder, os.environ | lab.path() | {"TERM": "dumb"}, typed)
    assert status == (2 if "nothing was computed" in printed else 0)
    return printed


@posix
def test_on_a_terminal_the_prediction_is_asked_for_once_and_is_in_the_run(lab: Lab) -> None:
    dataset = lab.dataset([1, 2])
    completions = lab.completions(["Final: 1", "2"])
    arguments = ("--dataset", dataset, "--completions", completions, "--predict", "--outdir", "run")
    screen = on_a_terminal(lab, "eval", *arguments, typed=["\n", "75 %\n"])
    assert screen.index("What result do you expect?") < screen.index("passed 1 of 2")
    assert "\nexpected  75 %\ngot       pass_rate 0.5, 25.0 points below\n" in screen
    assert [line["expect"] for line in lines_of(lab.log)] == ["75 %"]
    before = files(lab.folder)
    assert on_a_terminal(lab, "eval", *arguments[:-1], "two", typed=["\x04"]).endswith("nothing was computed\n")
    assert files(lab.folder) == before


@posix
def test_on_a_terminal_each_update_of_bandit_train_waits_for_enter_and_q_goes_to_the_end(lab: Lab) -> None:
    screen = on_a_terminal(lab, "bandit_train", "--steps", 9, "--slow", "--outdir", "run", typed=["\n", "\n", "q\n"])
    assert (screen.count("Press Enter for the update"), screen.count("theta changes by")) == (3, 2)
    assert screen.index("step 3 of 9") < screen.index("Loop C, learn")
    assert "after 9 steps" in screen
