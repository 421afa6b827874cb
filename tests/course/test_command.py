"""How a process of the lab ends: its status, and at most one line on stderr.

An example: ``--mindelta 3`` ends with status 2 and one line that puts the likely mend first: did you mean --min-
delta?
"""

import argparse
import errno
import io
import os
import signal
import subprocess
import sys
from argparse import ArgumentTypeError
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import IO

import pytest
from conftest import ROOT, Lab

import course.command
from course.artifacts.scorer_identity import scorer_identity
from course.command import (
    Parser,
    exit_status,
    finite_float,
    fraction,
    non_negative_float,
    non_negative_int,
    positive_fraction,
    positive_int,
)
from course.errors import UserError, written_runs

HEAD = """
import time
from course.command import run_command
def main():
"""
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and pipes")
Capture = pytest.CaptureFixture[str]


def ending(main: Callable[[], object], capsys: Capture) -> tuple[int, str, str]:
    """How a command with this main ends: its status, what it wrote, what it complained of."""
    written_runs.clear()
    status = exit_status(main)  # type: ignore[arg-type]
    return status, *capsys.readouterr()


def raising(error: BaseException) -> Callable[[], None]:
    def main() -> None:
        print("so far")
        raise error

    return main


def start(body: str, *, stdout: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """A process whose ``main`` is this body."""
    script = HEAD + "".join(f"    {line}\n" for line in body.splitlines()) + "run_command(main)"
    line = [sys.executable, "-c", script]
    return subprocess.Popen(line, cwd=ROOT, env=ENVIRONMENT, stdout=stdout, stderr=subprocess.PIPE)


def ended(child: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    out, err = child.communicate(timeout=60)
    return child.returncode, (out or b"").decode(), err.decode()


# --- how main ends


@pytest.mark.parametrize("status", [None, 0, 1, 3])
def test_the_status_of_main_is_the_status_of_the_process(capsys: Capture, status: int | None) -> None:
    assert ending(lambda: status, capsys) == (status or 0, "", "")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("a.jsonl:7 $.id: expected str, got int 3", "a.jsonl:7 $.id: expected str, got int 3"),
        ("two\nlines\r\n", "two<U+000A LINE FEED>lines<U+000D CARRIAGE RETURN><U+000A LINE FEED>"),
        ("\x1b[31mred \u202e", "<U+001B ESCAPE>[31mred <U+202E RIGHT-TO-LEFT OVERRIDE>"),
        ("half \ud800", "half <U+D800 unnamed, category Cs>"),
        ("größer,  as it is", "größer,  as it is"),
    ],
    ids=range(5),
)
def test_what_a_person_can_mend_is_one_line_on_stderr_and_status_two(capsys: Capture, message: str, line: str) -> None:
    assert ending(raising(UserError(message)), capsys) == (2, "so far\n", f"error: {line}\n")


def test_at_a_terminal_an_error_is_folded_at_spaces_but_not_within_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = io.StringIO()
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    quoted = "'a  text that is wider than forty columns is'"
    assert exit_status(raising(UserError(f"expected fewer words here than these, got {quoted} here"))) == 2
    assert terminal.getvalue() == f"error: expected fewer words here than\n  these, got\n  {quoted}\n  here\n"


NO_MEMORY = "cannot go on, because no memory is left; close other programs, or use smaller files or numbers"
FULL = "cannot read or write "


@pytest.mark.parametrize(
    ("error", "status", "line"),
    [
        (KeyboardInterrupt(), 130, "interrupted; an unfinished run leaves nothing behind"),
        (MemoryError(), 2, NO_MEMORY),
        (OSError(errno.ENOSPC, "No space"), 2, f"{FULL}standard output: no space"),
        (OSError(errno.ENOENT, "No such file", "a\nb"), 2, f"{FULL}a<U+000A LINE FEED>b: no such file"),
    ],
)
def test_what_is_no_fault_of_the_lab_is_one_line_and_names_a_run_that_was_written(
    capsys: Capture, error: BaseException, status: int, line: str
) -> None:
    assert ending(raising(error), capsys) == (status, "so far\n", f"error: {line}\n")
    written_runs.append(Path("runs/\x1b"))
    assert exit_status(raising(error)) == status
    written_runs.clear()
    assert capsys.readouterr().err == f"error: {line}; the run was written: runs/<U+001B ESCAPE>\n"


@pytest.mark.parametrize(
    ("end", "status"),
    [
        (SystemExit(0), 0),
        (SystemExit(3), 3),
        (BrokenPipeError(), 141),
    ],
)
def test_an_exit_and_a_reader_that_has_gone_say_nothing(capsys: Capture, end: BaseException, status: int) -> None:
    assert ending(raising(end), capsys) == (status, "so far\n", "")


@pytest.mark.parametrize("error", [ZeroDivisionError, AssertionError, RecursionError])
def test_a_fault_of_the_lab_is_a_traceback_that_no_terminal_obeys_and_status_70(
    capsys: Capture, error: type[Exception]
) -> None:
    status, out, err = ending(raising(error("odd \x1b[2J")), capsys)
    assert (status, out) == (70, "so far\n")
    assert err.startswith("Traceback")
    message = (
        f"{error.__name__}: odd <U+001B ESCAPE>[2J\nerror: the lab itself has a fault; the lines above say where\n"
    )
    assert err.endswith(message)


@posix
def test_ctrl_c_cleans_up_and_is_one_line() -> None:
    child = start("try:\n    print('ready', flush=True)\n    time.sleep(60)\nfinally:\n    print('cleaned up')")
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(signal.SIGINT)
    message = "error: interrupted; an unfinished run leaves nothing behind\n"
    assert ended(child) == (130, "cleaned up\n", message)


def closed_pipe() -> IO[bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb")


@posix
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_reader_that_has_gone_is_told_nothing(size: int) -> None:
    with closed_pipe() as pipe:
        assert ended(start(f"print('x' * {size})\nreturn 0", stdout=pipe)) == (141, "", "")


@full_disk
@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_full_disk_is_one_line_on_stderr(size: int) -> None:
    with Path("/dev/full").open("wb") as full:
        complaint = f"error: {FULL}standard output: no space left on device\n"
        assert ended(start(f"print('x' * {size})\nreturn 0", stdout=full)) == (2, "", complaint)


@posix
@pytest.mark.parametrize("closed", [1, 2])
def test_a_stream_that_the_caller_closed_is_no_fault_of_the_lab(closed: int) -> None:
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}>&-', sys.executable, HEAD + "    return 0\nrun_command(main)"]
    assert subprocess.run(command, cwd=ROOT, env=ENVIRONMENT, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("setting", [{"PYTHONINTMAXSTRDIGITS": "640"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}], ids=str)
def test_no_setting_decides_what_can_be_written(setting: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in setting.items():
        monkeypatch.setitem(ENVIRONMENT, key, value)
    body = "print(len(str(10**4000)), '\\xe9\\u2028\\ud800')\nreturn 0"
    assert ended(start(body)) == (0, "4001 é\u2028\\ud800\n", "")


# --- the arguments


def parsed(monkeypatch: pytest.MonkeyPatch, parser: argparse.ArgumentParser, words: list[str]) -> argparse.Namespace:
    monkeypatch.setattr(sys, "argv", ["command", *words])
    return parser.parse_args()


@pytest.fixture
def parser() -> Parser:
    parser = Parser("course.gate", "what it does")
    parser.add_argument("--min-delta", type=float, default=0.0)
    parser.add_argument("--baseline")
    parser.add_argument("--steps", type=positive_int)
    parser.add_argument("--seed", type=non_negative_int)
    parser.add_argument("--lr", type=finite_float)
    parser.add_argument("--temperature", type=non_negative_float)
    parser.add_argument("--rubric", choices=("score", "anywhere"))
    parser.add_argument("-q", action="store_true")
    return parser


LONG = "x" * 10_000
CUT = "x" * 79 + "…"
NO_NUMBER = "argument --lr: expected a number such as 0.5 or -0.5"


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (
            ["--mindelta", "3"],
            "--mindelta is no option, did you mean --min-delta? unrecognized arguments: --mindelta 3",
        ),
        (["--mindelta=3"], "--mindelta is no option, did you mean --min-delta? unrecognized arguments: --mindelta=3"),
        (["--min", "3"], "--min is no option, did you mean --min-delta? unrecognized arguments: --min 3"),
        (["--baselin"], "--baselin is no option, did you mean --baseline? unrecognized arguments: --baselin"),
        (["--lin"], "unrecognized arguments: --lin"),
        (["stray  word"], "unrecognized arguments: stray  word"),
        (["--min-delta", "much"], "argument --min-delta: invalid float value: 'much'"),
        (["--min-delta"], "argument --min-delta: expected one argument"),
        (["--steps", "1000000000"], "argument --steps: expected a whole number from 1 to 999999999, got 1000000000"),
        (
            ["--lr", "-0,5"],
            "argument --lr: expected a number such as 0.5 or -0.5, got -0,5: write a point in place of the comma",
        ),
        (
            ["--lr", "0,5"],
            "argument --lr: expected a number such as 0.5 or -0.5, got 0,5: write a point in place of the comma",
        ),
        (["--lr", "-hot"], "argument --lr: expected one argument"),
        (["--lr", "1,2,3"], f"{NO_NUMBER}, got 1,2,3"),
        (["--temperature", "hot"], "argument --temperature: expected a number of at least 0, got hot"),
        (["--temperature", "-.5"], "argument --temperature: expected a number of at least 0, got -.5"),
        (
            ["--rubric", "anywher"],
            "did you mean --rubric anywhere? argument --rubric: expected one of score, anywhere, got anywher",
        ),
        (["--rubric", "zzz"], "argument --rubric: expected one of score, anywhere, got zzz"),
        (["--rubric", LONG], f"argument --rubric: expected one of score, anywhere, got {CUT}"),
        (["--seed", LONG], f"argument --seed: expected a whole number from 0 to 999999999, got {CUT}"),
        (
            ["--seed", "\n" * 99],
            f"argument --seed: expected a whole number from 0 to 999999999, got {'<U+000A LINE FEED>' * 4}<U+000A…",
        ),
        ([f"--{LONG}", "more", "words"], f"unrecognized arguments: --{CUT[2:]}"),
        ([f"-q={LONG}"], f"argument -q: ignored explicit argument '{CUT[1:]}"),
    ],
    ids=range(22),
)
def test_a_mistake_in_the_arguments_is_one_line_that_says_how_to_mend_it(
    monkeypatch: pytest.MonkeyPatch, parser: Parser, words: list[str], complaint: str
) -> None:
    with pytest.raises(UserError) as error:
        parsed(monkeypatch, parser, words)
    assert str(error.value) == f"{complaint} (all options: python3 -m course.gate --help)"


@pytest.mark.parametrize("number", ["-0.5", "-1e-3", "-.5", "5", "+2"])
def test_a_number_below_0_is_a_value_and_no_option(
    monkeypatch: pytest.MonkeyPatch, parser: Parser, number: str
) -> None:
    assert parsed(monkeypatch, parser, ["--lr", number]).lr == float(number)


def test_a_call_for_help_is_answered_on_stdout(
    monkeypatch: pytest.MonkeyPatch, parser: Parser, capsys: Capture
) -> None:
    status, out, err = ending(lambda: parsed(monkeypatch, parser, ["--help"]), capsys)
    assert (status, err) == (0, "")
    assert out.startswith("usage: python3 -m course.gate [-h] [--version] [--min-delta MIN_DELTA]")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", "0.0"),
        ("-0", "0.0"),
        (".5", "0.5"),
        ("+1e-3", "0.001"),
    ],
)
def test_a_number_from_0_on_is_taken_and_has_no_sign(text: str, number: str) -> None:
    assert str(non_negative_float(text)) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.02", Fraction(1, 50)),
        ("0", Fraction(0)),
        ("1.", Fraction(1)),
    ],
)
def test_a_fraction_is_the_number_that_was_typed_exactly(text: str, number: Fraction) -> None:
    assert fraction(text) == number


@pytest.mark.parametrize(
    ("parse", "texts"),
    [
        (finite_float, ["nan", "inf", "1e999", "", "1,5", "0x1", "1_000", " 1", "\u0663"]),
        (non_negative_float, ["-1", "-1e-9", "nan", "inf"]),
        (non_negative_int, ["-1", "+1", "1.0", "1_0", " 1", "1000000000", "\u0663", ""]),
        (positive_int, ["0", "000", "-1"]),
        (fraction, ["1.01", "-0.1", "nan", "2"]),
        (positive_fraction, ["0", "0.0", "1.1", "nan"]),
    ],
)
def test_what_is_out_of_range_and_what_is_no_number_is_refused(
    parse: Callable[[str], object], texts: list[str]
) -> None:
    for text in texts:
        with pytest.raises(ArgumentTypeError, match=r"^expected a (whole )?number "):
            parse(text)


@pytest.mark.parametrize("command", ["eval", "token_train", "__main__"])
def test_every_command_tells_which_scorer_is_installed(lab: Lab, command: str) -> None:
    scorer = scorer_identity()
    done = lab(command, "--version")
    assert (done.status, done.err) == (0, "")
    assert done.out == f"scorer {scorer.scorer_name} {scorer.scorer_version}\n{scorer.scorer_fingerprint}\n"


@pytest.mark.parametrize(
    ("words", "mend"),
    [
        (["eval"], "did you mean python3 -m course.eval? "),
        (["evl", "--dataset", "x"], "did you mean python3 -m course.eval? "),
        (["course.gaet"], "did you mean python3 -m course.gate? "),
        (["token"], "did you mean python3 -m course.token_inspect? "),
        (["\x1b"], ""),
    ],
)
def test_a_command_in_two_words_is_answered_with_the_one_that_is_meant(lab: Lab, words: list[str], mend: str) -> None:
    message = lab.refused("__main__", *words)
    assert message.startswith(f"error: {mend}python3 -m course: expected no argument, got ")
    assert "\x1b" not in message


def test_each_command_that_leaves_a_run_can_ask_and_slow_means_one_thing() -> None:
    """By the source: what calls ``end_run`` has the run options, and no command words ``--slow`` itself."""
    commands = {path: path.read_text("utf-8") for path in Path(course.command.__file__).parent.glob("*.py")}
    for path, source in commands.items():
        assert ("add_run_options(" in source) == ("end_run(" in source) or path.name == "command.py"
        assert '"--slow"' not in source.replace('"--slow"]', "") or path.name == "command.py"
