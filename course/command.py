"""Machinery: what every command shares, its --help, how its arguments are read and how its process ends."""

import argparse
import math
import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NoReturn

from course import starting
from course.artifacts.prediction import GUESS, read_guess
from course.asking import ask_expectation, at_terminal
from course.errors import UserError, reason, written_runs
from course.show.terminal import fold_lines
from course.starting import program_name
from course.text import did_you_mean, quote, visible

_INT_MAX_STR_DIGITS = 4300  # Python's default: PYTHONINTMAXSTRDIGITS cannot decide which files the lab can read
FAULT = 70  # EX_SOFTWARE of BSD's sysexits.h: 1 is a check's "no"

# The values that argparse quotes in its complaints.
_COMPLAINT = re.compile(r"(?s)(unrecognized arguments: |invalid [^:]+: |explicit argument )(.+)$")

# The matrices of this lab are small: a second thread only waits for the first, and the number of threads would decide
# the last bits of a sum. NumPy reads these when it is loaded, which a command does after this.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")

_ASK = object()  # what --predict leaves where --expect leaves a text
EXIT_STATUSES = (
    "exit status: 0 success (gate: PROMOTE); 1 a check failed (gate: REJECT); 2 the command cannot run as typed, and "
    "one line says why; 3 undecided (gate: INCONCLUSIVE); 4 not comparable (gate: REJECT); 70 a fault of the lab "
    "itself, with a traceback; 130 interrupted by Ctrl-C; 141 the program that read the output has ended"
)


class Parser(argparse.ArgumentParser):
    """An argument parser that takes no abbreviations, and puts a mistake into one line with a hint.

    Its help ends with the first example of the module's docstring and with the exit statuses.
    """

    def __init__(self, module: str, what: str, **more: Any) -> None:
        width = min(get_terminal_size().columns, 80)
        documentation = sys.modules.get(module, sys.modules["__main__"]).__doc__ or ""
        example = re.search(r"^    python3 -m \S+(.*(?:\n        .*)*)", documentation, re.MULTILINE)
        program = program_name(module)
        shown = f"example:\n  {program}{example[1]}\n\n".replace("\n    ", "\n  ") if example else ""
        if os.name == "nt":  # no shell there goes on after a backslash
            shown = re.sub(r" \\\n +", " ", shown)
        super().__init__(
            prog=program,
            description=fill(what, width),
            epilog=f"{shown}{fill(EXIT_STATUSES, width)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **more,
        )
        self.set_defaults(command=module)
        self._negative_number_matcher = re.compile("-[0-9.]")  # so that -0,5 is a value, and its type can complain
        self.add_argument(
            "--version", action=_Version, nargs=0, help="print the scorer's name, version and fingerprint"
        )

    def add_run_options(self, number: str | None = None, *, asks_itself: bool = False) -> None:
        """What every command has that leaves a run. ``asks_itself``: it has a --predict of its own.

        ``number``: the main number of its summary, which --expect is about; None if it has many and no main one.
        """
        help_ = "a new folder for the run (default: the next free runs/run_NNN)"
        self.add_argument("--outdir", type=Path, help=help_)
        self.add_argument("--change", metavar="TEXT", help="the one thing you changed since the previous run")
        expected = self.add_mutually_exclusive_group()
        self._number = number
        help_ = f"the result you expect, {GUESS}; recorded before anything is computed".replace("%", "%%")
        expected.add_argument("--expect", type=self._guess, metavar="NUMBER", help=help_)
        if not asks_itself:
            help_ = "ask you for --expect at the terminal, before anything is computed"
            expected.add_argument("--predict", dest="expect", action="store_const", const=_ASK, help=help_)

    def add_call_option(self) -> None:
        """What a command has that asks a verifier of a person's own."""
        help_ = (
            "the arguments with which to call your verifier, such as 'completion, int(answer)'; needed only if the "
            "names of its parameters do not say what each one takes"
        )
        self.add_argument("--call", metavar="ARGUMENTS", help=help_)

    def add_slow_option(self) -> None:
        """What a command has that can show its updates. ``slow``: how many; 0 where none are to be shown."""
        help_ = (
            "show the first K updates in full, or every update if K is left out; at a terminal, wait for Enter at each"
        )
        self.add_argument(
            "--slow", type=non_negative_int, nargs="?", default=0, const=sys.maxsize, metavar="K", help=help_
        )

    def add_jobs_options(self, *, cluster: bool = False) -> None:
        """What a command has whose work splits: where it is done. What comes of it is the same everywhere."""
        where = self.add_mutually_exclusive_group()
        where.add_argument("--jobs", type=positive_int, default=1, metavar="N", help="use N processes (default: 1)")
        if cluster:
            help_ = (
                "use the workers of this Dask cluster, such as tcp://host:8786; each must find the files at these paths"
            )
            where.add_argument("--cluster", metavar="ADDRESS", help=help_)

    def add_split_option(self) -> None:
        """What a command has that measures a dataset."""
        help_ = (
            "the split of the dataset, if its records do not name one (default: dev, or holdout for a known holdout)"
        )
        self.add_argument("--split", choices=("dev", "holdout"), help=help_)

    def parse_args(self, *given: Any, **more: Any) -> argparse.Namespace:  # type: ignore[override]
        args: argparse.Namespace = super().parse_args(*given, **more)
        args.typed = sys.argv[1:]  # for the README of the run
        if getattr(args, "expect", None) is _ASK:
            args.expect = ask_expectation(self.description, self._is_guess, GUESS)
        return args

    def _is_guess(self, text: str) -> bool:
        return read_guess(text, self._number) is not None

    def _guess(self, text: str) -> str:
        """A guess as it was typed."""
        if not self._is_guess(text.strip()):
            raise _refusal(text, GUESS)
        return text.strip()

    def error(self, message: str) -> NoReturn:
        message = _COMPLAINT.sub(_quote_value, message)
        raise UserError(f"{self._hint()}{message} (all options: {self.prog} --help)")

    def _hint(self) -> str:
        options = {option.lstrip("-"): option for option in self._option_string_actions}  # dashes make no two alike
        for word in sys.argv[1:]:
            name = word.partition("=")[0]
            unknown = name.startswith("-") and name not in options.values()
            if unknown and (mend := did_you_mean(name.lstrip("-"), options)):
                return f"{quote(name)} is no option, {mend}"
        return ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse does, with the likely mend first."""
        if action.choices is not None and value not in action.choices:
            option = "".join(action.option_strings[:1])
            mend = did_you_mean(str(value), {str(name): f"{option} {name}".lstrip() for name in action.choices})
            known = ", ".join(map(str, action.choices))
            if action.metavar and not option:
                known = f"{len([*action.choices])} names"
            expected = f"{option or action.metavar or action.dest}: expected one of {known}, got {quote(str(value))}"
            raise UserError(f"{mend}argument {expected} (all options: {self.prog} --help)")


def _quote_value(complaint: "re.Match[str]") -> str:
    return f"{complaint[1]}{quote(complaint[2])}"


class _Version(argparse.Action):
    """Print which instrument is installed, and end."""

    def __call__(self, *_: object) -> NoReturn:
        from course.artifacts.scorer_identity import scorer_identity

        scorer = scorer_identity()
        print(f"scorer {scorer.scorer_name} {scorer.scorer_version}\n{scorer.scorer_fingerprint}")
        sys.exit(0)


def positive_int(text: str) -> int:
    if not _is_whole(text) or int(text) == 0:
        raise _refusal(text, "a whole number from 1 to 999999999")
    return int(text)


def non_negative_int(text: str) -> int:
    if not _is_whole(text):
        raise _refusal(text, "a whole number from 0 to 999999999")
    return int(text)


def finite_float(text: str) -> float:
    number = _parse_real(text)
    if math.isnan(number):
        raise _refusal(text, "a number such as 0.5 or -0.5")
    return number


def non_negative_float(text: str) -> float:
    number = _parse_real(text)
    if not number >= 0:
        raise _refusal(text, "a number of at least 0")
    return abs(number)  # -0 is 0


def fraction(text: str) -> Fraction:
    """The decimal number that is typed: exactly, up to 15 digits."""
    number = _parse_real(text)
    if not 0 <= number <= 1:
        raise _refusal(text, "a number from 0 to 1 such as 0.02")
    return Fraction(str(number))


def positive_fraction(text: str) -> float:
    number = _parse_real(text)
    if not 0 < number <= 1:
        raise _refusal(text, "a number above 0 and at most 1")
    return number


def _is_whole(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _parse_real(text: str) -> float:
    """The finite number that the text is, written in ASCII without spaces or underscores; else nan."""
    if not re.fullmatch("[0-9.eE+-]+", text):
        return math.nan
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def _refusal(text: str, expected: str) -> argparse.ArgumentTypeError:
    mend = ""
    if "," in text and not math.isnan(_parse_real(text.replace(",", ".", 1))):
        mend = ": write a point in place of the comma"
    return argparse.ArgumentTypeError(f"expected {expected}, got {quote(text) or 'nothing'}{mend}")


def run_command(main: Callable[[], int | None]) -> NoReturn:
    """Run ``main`` as this process, and end with its status."""
    os.environ |= _ONE_THREAD
    fix_int_digits()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed by the caller
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    written_runs.clear()
    if signal.getsignal(signal.SIGINT) is starting.end_loading:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on Ctrl-C cleans up on its way out
    status = exit_status(main)
    try:
        print(end="", flush=True)
    except OSError:  # nobody reads, or it was said already: Python would try again at its end, and complain
        os._exit(status)
    sys.exit(status)


def fix_int_digits() -> None:
    """In every process that works for a command: what it can read and write must not depend on who started it."""
    sys.set_int_max_str_digits(_INT_MAX_STR_DIGITS)


def exit_status(main: Callable[[], int | None]) -> int:
    """Run ``main``. What a person can mend is one line; what nobody expected is a traceback, and status 70."""
    try:
        try:
            status = main() or 0
        except SystemExit as end:  # --help, --version
            status = end.code if isinstance(end.code, int) else 0
        print(end="", flush=True)  # what cannot be written shows here
        return status
    except UserError as error:
        return _fail(str(error))
    except KeyboardInterrupt as interrupt:  # its words, if any, say which call of a person's own function it ended
        where = f" in {interrupt}" if interrupt.args else ""
        return _fail(f"interrupted{where}; an unfinished run leaves nothing behind", 130)
    except MemoryError:
        return _fail("cannot go on, because no memory is left; close other programs, or use smaller files or numbers")
    except BrokenPipeError:  # the reader has gone (| head): nothing to tell it
        return 141
    except OSError as error:  # for a file, whoever opened it names it: what names nothing is the output
        where = os.fsdecode(error.filename) if error.filename else "standard output"
        return _fail(f"cannot read or write {where}: {reason(error)}")
    except Exception as error:
        return _report_fault(error)


def _fail(message: str, status: int = 2) -> int:
    if written_runs:
        message += f"; the run was written: {written_runs[-1]}"
    line = f"error: {visible(message)}"
    with suppress(OSError):
        if at_terminal(sys.stderr):
            line = fold_lines(line, get_terminal_size().columns)
        print(line, file=sys.stderr, flush=True)
    return status


def _report_fault(error: Exception) -> int:
    """A traceback whose text a terminal cannot obey."""
    import traceback

    lines = "".join(traceback.format_exception(error)).splitlines()
    lines.append("error: the lab itself has a fault; the lines above say where")
    with suppress(OSError):
        print("\n".join(map(visible, lines)), file=sys.stderr, flush=True)
    return FAULT
