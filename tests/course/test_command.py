"""How a process of the lab ends: its status, and at most one line on stderr.

An example: ``--mindelta 3`` ends with status 2 and one line that puts the likely mend first: did you mean --min-
delta?
"""

import os
import signal
import subprocess
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import IO

import pytest
from conftest import Lab

import course.command
from course.artifacts.scorer_identity import installed
from course.command import non_negative_float

HEAD = """
import os, signal, sys
from course.command import Parser, run_command
from course.errors import UserError
def main():
"""
ENVIRONMENT = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
full_disk = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
posix = pytest.mark.skipif(os.name != "posix", reason="needs POSIX signals and pipes")


def start(body: str, *arguments: str, stdout: int | IO[bytes] = subprocess.PIPE) -> subprocess.Popen[bytes]:
    """A process whose ``main`` is this body."""
    script = HEAD + "".join(f"    {line}\n" for line in body.splitlines()) + "run_command(main)"
    command, root = [sys.executable, "-c", script, *arguments], Path(course.command.__file__).parents[1]
    return subprocess.Popen(command, cwd=root, env=ENVIRONMENT, stdout=stdout, stderr=subprocess.PIPE)


def ending(child: subprocess.Popen[bytes]) -> tuple[int, str, str]:
    """Its status, what it wrote, what it complained of."""
    out, err = child.communicate(timeout=60)
    return child.returncode, (out or b"").decode(), err.decode()


@pytest.mark.parametrize("status", [0, 1, 3])
def test_the_status_of_main_is_the_status_of_the_process(status: int) -> None:
    assert ending(start(f"print('done')\nreturn {status}")) == (status, "done\n", "")


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("a.jsonl:7 $.id: expected str, got int 3", "a.jsonl:7 $.id: expected str, got int 3"),
        ("two\nlines\r\n", "two<U+000A LINE FEED>lines<U+000D CARRIAGE RETURN><U+000A LINE FEED>"),
        ("\x1b[31mred \u202e", "<U+001B ESCAPE>[31mred <U+202E RIGHT-TO-LEFT OVERRIDE>"),
        ("half \ud800", "half <U+D800 unnamed, category Cs>"),
        ("größer", "größer"),
    ],
    ids=range(5),
)
def test_what_a_person_can_mend_is_one_line_on_stderr_and_status_two(message: str, line: str) -> None:
    assert ending(start(f"raise UserError({message!a})")) == (2, "", f"error: {line}\n")


PARSE = """
parser = Parser("course.gate", "what it does")
parser.add_argument("--min-delta", type=float, default=0.0)
parser.add_argument("--baseline")
print(parser.parse_args().min_delta)
return 0
"""
HELP = "(all options: python3 -m course.gate --help)\n"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--mindelta", "3"],
            "--mindelta is no option, did you mean --min-delta? unrecognized arguments: --mindelta 3",
        ),
        (["--mindelta=3"], "--mindelta is no option, did you mean --min-delta? unrecognized arguments: --mindelta=3"),
        (["--min", "3"], "--min is no option, did you mean --min-delta? unrecognized arguments: --min 3"),
        (["--baselin"], "--baselin is no option, did you mean --baseline? unrecognized arguments: --baselin"),
        (["--lin"], "unrecognized arguments: --lin"),
        (["--zzz"], "unrecognized arguments: --zzz"),
        (["stray"], "unrecognized arguments: stray"),
        (["--min-delta", "much"], "argument --min-delta: invalid float value: 'much'"),
        (["--min-delta"], "argument --min-delta: expected one argument"),
    ],
    ids=" ".join,
)
def test_a_mistake_in_the_arguments_is_one_line_with_a_hint(arguments: list[str], complaint: str) -> None:
    assert ending(start(PARSE, *arguments)) == (2, "", f"error: {complaint} {HELP}")


LONG = "x" * 10_000
CUT = "x" * 79 + "…"
CHOICE = "parser = Parser('course.gate', 'what')\nparser.add_argument('--loop', choices='AB')\n"
CHOICE += "parser.add_argument('--seed', type=non_negative_int)\nparser.add_argument('-q', action='store_true')\n"
CHOICE = f"from course.command import non_negative_int\n{CHOICE}parser.parse_args()"


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--loop", LONG], f"error: argument --loop: expected one of A, B, got {CUT} (all "),
        (["--loop", "\x1b" * 99], "--loop: expected one of A, B, got " + "<U+001B ESCAPE>" * 5 + "<U+0… (all "),
        (["--seed", LONG], f"argument --seed: expected a whole number from 0 to 999999999, got {CUT} (all "),
        (["--seed", "\n" * 99], "from 0 to 999999999, got " + "<U+000A LINE FEED>" * 4 + "<U+000A… (all "),
        ([f"--{LONG}", "more", "words"], f"unrecognized arguments: --{CUT[2:]} (all "),
        (["word "] * 99, f"unrecognized arguments: {'word  ' * 13}w… (all "),
        ([f"-q={LONG}"], f"argument -q: ignored explicit argument '{CUT[1:]} (all "),
    ],
    ids=range(7),
)
def test_a_value_that_is_quoted_is_at_most_80_characters_long(arguments: list[str], complaint: str) -> None:
    status, _, err = ending(start(CHOICE, *arguments))
    assert status == 2
    assert complaint in err
    assert len(err) < 250


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (
            ["--steps", "1000000000"],
            "argument --steps: expected a whole number from 1 to 999999999, got 1000000000 (all ",
        ),
        (["--lr", "-0,5"], "--lr: expected a number such as 0.5 or -0.5, got -0,5: write a point for the comma (all "),
        (["--lr", "0,5"], "--lr: expected a number such as 0.5 or -0.5, got 0,5: write a point for the comma (all "),
        (["--lr", "-hot"], "argument --lr: expected one argument (all "),
        (["--lr", "1,2,3"], "argument --lr: expected a number such as 0.5 or -0.5, got 1,2,3 (all "),
        (["--temperature", "hot"], "argument --temperature: expected a number from 0 on, got hot (all "),
        (["--temperature", "-.5"], "argument --temperature: expected a number from 0 on, got -.5 (all "),
        (
            ["--rubric", "anywher"],
            "error: did you mean --rubric anywhere? argument --rubric: expected one of score, anywhere, got ",
        ),
        (["--rubric", "zzz"], "error: argument --rubric: expected one of score, anywhere, got zzz (all "),
        (["--slow"], "error: unrecognized arguments: --slow (all "),
    ],
    ids=" ".join,
)
def test_a_mistake_in_a_value_says_what_is_expected_and_how_to_mend_it(arguments: list[str], complaint: str) -> None:
    body = "from course.command import finite_float, non_negative_float, positive_int\n"
    body += "parser = Parser('course.x', 'what')\nparser.add_argument('--steps', type=positive_int)\n"
    body += "parser.add_argument('--lr', type=finite_float)\n"
    body += "parser.add_argument('--rubric', choices=('score', 'anywhere'))\n"
    body += "parser.add_argument('--temperature', type=non_negative_float)\nparser.parse_args()"
    status, out, err = ending(start(body, *arguments))
    assert (status, out) == (2, "")
    assert complaint in err
    assert "-0.5" in err or "--lr" not in complaint or arguments[1] == "-hot"


@pytest.mark.parametrize("number", ["-0.5", "-1e-3", "-.5", "5", "+2"])
def test_a_number_below_0_is_a_value_and_no_option(number: str) -> None:
    body = "from course.command import finite_float\nparser = Parser('course.x', 'what')\n"
    body += "parser.add_argument('--lr', type=finite_float)\nprint(parser.parse_args().lr)\nreturn 0"
    assert ending(start(body, "--lr", number)) == (0, f"{float(number)}\n", "")


@pytest.mark.parametrize("command", ["eval", "token_train", "__main__"])
def test_every_command_tells_which_scorer_is_installed(lab: Lab, command: str) -> None:
    scorer = installed()
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
    said = lab.refused("__main__", *words)
    assert said.startswith(f"error: {mend}python3 -m course: expected no more words, got ")
    assert "\x1b" not in said


def test_right_arguments_and_a_call_for_help_are_answered_on_stdout() -> None:
    assert ending(start(PARSE, "--min-delta", "0.5")) == (0, "0.5\n", "")
    status, out, err = ending(start(PARSE, "--help"))
    assert (status, err) == (0, "")
    assert out.startswith("usage: python3 -m course.gate [-h] [--version] [--min-delta MIN_DELTA]")


@posix
@pytest.mark.parametrize(
    ("number", "status", "complaint"),
    [
        (signal.SIGINT, 130, "error: interrupted; a run that was not finished has left nothing behind\n"),
        (signal.SIGTERM, 143, ""),
    ],
)
def test_a_signal_ends_a_sleeping_process_by_the_road_that_cleans_up(
    number: signal.Signals, status: int, complaint: str
) -> None:
    sleep = "signal.signal(signal.SIGINT, signal.default_int_handler)\nimport time\n"  # a parent may have it ignored
    sleep += "try:\n    print('ready', flush=True)\n    time.sleep(60)\nfinally:\n    print('cleaned up', flush=True)"
    child = start(sleep)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.send_signal(number)
    assert ending(child) == (status, "cleaned up\n", complaint)


def closed_pipe() -> IO[bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb")


LOUD = "print('x' * 1_000_000)\nreturn 0"
QUIET = "print('x')\nreturn 0"


@posix
@pytest.mark.parametrize("body", [LOUD, QUIET])
def test_a_reader_that_has_gone_is_told_nothing(body: str) -> None:
    with closed_pipe() as pipe:
        assert ending(start(body, stdout=pipe)) == (141, "", "")


@full_disk
@pytest.mark.parametrize("body", [LOUD, QUIET])
def test_a_full_disk_is_one_line_on_stderr(body: str) -> None:
    with Path("/dev/full").open("wb") as full:
        complaint = "error: expected to read and write freely, got: no space left on device: standard output"
        assert ending(start(body, stdout=full)) == (2, "", f"{complaint}\n")


@full_disk
@pytest.mark.parametrize("body", [LOUD, QUIET])
def test_what_fails_after_a_run_was_written_says_where_the_run_is(body: str) -> None:
    written = (
        "from pathlib import Path\nfrom course.errors import written_runs\nwritten_runs.append(Path('runs/\\x1b'))\n"
    )
    said = "; the run was written: runs/<U+001B ESCAPE>\n"
    with Path("/dev/full").open("wb") as full:
        status, _, err = ending(start(written + body, stdout=full))
    assert status == 2
    assert err.endswith(f"standard output{said}")
    for late in ("KeyboardInterrupt", "MemoryError", "UserError('late')"):
        assert ending(start(f"{written}raise {late}"))[2].endswith(said)
    assert "written" not in ending(start("raise KeyboardInterrupt"))[2]


def test_no_memory_left_is_one_line_that_says_what_to_do() -> None:
    said = "error: expected enough memory, got none left; close other programs, or give smaller files or numbers\n"
    for body in ("raise MemoryError", "return len(bytes(1 << 60))"):
        assert ending(start(body)) == (2, "", said)


@posix
@pytest.mark.parametrize(
    ("body", "arguments", "statuses"),
    [
        ("print('x')\nraise UserError('y')", [], {2}),
        (PARSE, ["--help"], {0, 141}),
        ("print('x')\nsys.exit(3)", [], {3, 141}),
    ],
    ids=["error", "help", "exit"],
)
def test_a_reader_that_has_gone_is_told_nothing_however_main_ends(
    body: str, arguments: list[str], statuses: set[int]
) -> None:
    with closed_pipe() as pipe:
        status, _, err = ending(start(body, *arguments, stdout=pipe))
    assert status in statuses
    assert err in ("", "error: y\n")


@posix
@pytest.mark.parametrize("closed", [1, 2])
def test_a_stream_that_the_caller_closed_is_no_fault_of_the_lab(closed: int) -> None:
    root = Path(course.command.__file__).parents[1]
    command = ["sh", "-c", f'exec "$0" -c "$1" {closed}>&-', sys.executable, HEAD + "    return 0\nrun_command(main)"]
    assert subprocess.run(command, cwd=root, env=ENVIRONMENT, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize("errno", ["ENOENT", "EACCES"])
def test_a_path_that_fails_is_named_in_the_systems_words(errno: str) -> None:
    status, out, err = ending(start(f"import errno\nraise OSError(errno.{errno}, os.strerror(errno.{errno}), 'a\\nb')"))
    words = {"ENOENT": "no such file or directory", "EACCES": "permission denied"}[errno]
    assert (status, out) == (2, "")
    assert err == f"error: expected to read and write freely, got: {words}: a<U+000A LINE FEED>b\n"


def test_a_fault_of_the_lab_keeps_its_traceback_and_is_no_usage_error() -> None:
    status, _, err = ending(start("return 1 // 0"))
    assert status == 70
    assert err.startswith("Traceback")
    assert "\nZeroDivisionError: integer division or modulo by zero\n" in err


@pytest.mark.parametrize("setting", [{}, {"PYTHONINTMAXSTRDIGITS": "640"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}], ids=str)
def test_no_setting_decides_what_can_be_written(setting: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    for key, value in setting.items():
        monkeypatch.setitem(ENVIRONMENT, key, value)
    status, out, err = ending(start("print(len(str(10**4000)), '\\xe9\\u2028\\ud800')\nreturn 0"))
    assert (status, out, err) == (0, "4001 é\u2028\\ud800\n", "")


@pytest.mark.parametrize(("text", "number"), [("0", "0.0"), ("-0", "0.0"), (".5", "0.5"), ("+1e-3", "0.001")])
def test_a_number_from_0_on_is_taken_and_has_no_sign(text: str, number: str) -> None:
    assert str(non_negative_float(text)) == number


@pytest.mark.parametrize("text", ["-1", "-1e-9", "nan", "inf", "1e999", "", "1,5", "0x1", "\u0663"])
def test_a_number_below_0_and_what_is_no_number_are_refused(text: str) -> None:
    with pytest.raises(ArgumentTypeError, match="expected a number"):
        non_negative_float(text)


def test_each_command_that_leaves_a_run_can_ask_and_slow_means_one_thing() -> None:
    """By the source: what calls ``end_run`` has the run options, and no command words ``--slow`` itself."""
    commands = {path: path.read_text("utf-8") for path in Path(course.command.__file__).parent.glob("*.py")}
    for path, source in commands.items():
        assert ("add_run_options(" in source) == ("end_run(" in source) or path.name == "command.py"
        assert '"--slow"' not in source.replace('"--slow"]', "") or path.name == "command.py"
