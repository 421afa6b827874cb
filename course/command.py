"""Machinery: what every command shares, its --help, how its arguments are read and how its process ends."""

import argparse
import os
import re
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from typing import Any, NoReturn, TextIO, TypeVar

from course import process
from course.asking import ask_expectation
from course.errors import UserError, reason, written_runs
from course.starting import PYTHON
from course.text import did_you_mean, quoted, visible

Parsed = TypeVar("Parsed")

_REAL = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,2})?"
_UP_TO_1 = r"(0|1|0?\.[0-9]{1,9}|0\.|1\.0{0,9})"

# The values that argparse quotes in its complaints.
_COMPLAINT = re.compile(r"(?s)(unrecognized arguments: |invalid [^:]+: |explicit argument )(.+)$")

# The matrices of this lab are small: a second thread only waits for the first, and the number of threads would decide
# the last bits of a sum. NumPy reads these when it is loaded, which a command does after this.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1")

_ASK = object()  # what --predict leaves where --expect leaves a text
EXIT_STATUSES = (
    "exit status: 0 it worked (gate: PROMOTE); 1 a check said no (gate: REJECT); 2 it cannot be done as typed, one "
    "line says why; 3 undecided (gate: INCONCLUSIVE); 70 a fault of the lab itself, with a traceback; 129, 130, 143 a "
    "signal (SIGHUP, Ctrl-C, SIGTERM); 141 the reader of its output has gone"
)


class Parser(argparse.ArgumentParser):
    """An argument parser that takes no abbreviations, and puts a mistake into one line with a hint.

    Its help ends with the first example of the module's docstring and with the exit statuses.
    """

    def __init__(self, module: str, what: str, **more: Any) -> None:
        width = min(get_terminal_size().columns, 80)
        documentation = sys.modules.get(module, sys.modules["__main__"]).__doc__ or ""
        example = re.search(r"^    (python3 -m .*(?:\n        .*)*)", documentation, re.MULTILINE)
        shown = f"example:\n  {example[1]}\n\n".replace("\n    ", "\n  ") if example else ""
        if os.name == "nt":  # no shell there goes on after a backslash
            shown = re.sub(r" \\\n +", " ", shown).replace("python3", PYTHON)
        super().__init__(
            prog=f"{PYTHON} -m {module}",
            description=fill(what, width),
            epilog=f"{shown}{fill(EXIT_STATUSES, width)}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            **more,
        )
        self.set_defaults(command=module)
        self._negative_number_matcher = re.compile("-[0-9.]")  # so that -0,5 is a value, and its type can complain
        self.add_argument("--version", action=_Version, nargs=0, help="name, version and fingerprint of the scorer")

    def add_run_options(self, *, asks_itself: bool = False, outdir_help: str | None = None) -> None:
        """What every command has that leaves a run. ``asks_itself``: it has a --predict of its own.

        ``outdir_help``: of a command that has to be given its --outdir.
        """
        help_ = outdir_help or "a new folder for the run (default: the next free runs/run_NNN)"
        self.add_argument("--outdir", type=Path, required=bool(outdir_help), help=help_)
        self.add_argument("--change", metavar="TEXT", help="the one thing you changed since the run before")
        expected = self.add_mutually_exclusive_group()
        help_ = "what you expect of it, written down before it is computed; a number such as 0.4 or 40 %% is scored"
        expected.add_argument("--expect", metavar="TEXT", help=help_)
        if not asks_itself:
            help_ = "ask for --expect here, before anything is computed"
            expected.add_argument("--predict", dest="expect", action="store_const", const=_ASK, help=help_)

    def add_slow_option(self) -> None:
        """What a command has that can show its updates. ``slow``: how many; 0 where none are to be shown."""
        help_ = "show the first K updates, without K all, and all that goes into each; a terminal waits for Enter"
        self.add_argument(
            "--slow", type=non_negative_int, nargs="?", default=0, const=sys.maxsize, metavar="K", help=help_
        )

    def add_jobs_options(self, *, cluster: bool = False) -> None:
        """What a command has whose work splits: where it is done. What comes of it is the same everywhere."""
        where = self.add_mutually_exclusive_group()
        where.add_argument("--jobs", type=positive_int, default=1, metavar="N", help="use N processes (default: 1)")
        if cluster:
            help_ = "use the workers of a Dask cluster, such as tcp://host:8786, which find the files at the same paths"
            where.add_argument("--cluster", metavar="ADDRESS", help=help_)

    def add_split_option(self) -> None:
        """What a command has that measures a dataset."""
        help_ = "which split this is, where the records do not say (default: dev)"
        self.add_argument("--split", choices=("dev", "holdout"), help=help_)

    def parse_args(self, *given: Any, **more: Any) -> argparse.Namespace:  # type: ignore[override]
        args: argparse.Namespace = super().parse_args(*given, **more)
        args.typed = sys.argv[1:]  # for the README of the run
        if getattr(args, "expect", None) is _ASK:
            args.expect = ask_expectation(self.description)
        if getattr(args, "expect", None) is not None and not args.expect.strip():
            self.error("argument --expect: expected some words or a number, got none")
        return args

    def error(self, message: str) -> NoReturn:
        message = _COMPLAINT.sub(lambda found: f"{found[1]}{quoted(found[2])}", message)
        raise UserError(f"{self._hint()}{message} (all options: {self.prog} --help)")

    def _hint(self) -> str:
        options = {option.lstrip("-"): option for option in self._option_string_actions}  # dashes make no two alike
        for word in sys.argv[1:]:
            name = word.partition("=")[0]
            unknown = name.startswith("-") and name not in options.values()
            if unknown and (mend := did_you_mean(name.lstrip("-"), options)):
                return f"{quoted(name)} is no option, {mend}"
        return ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """As argparse does, with the likely mend first."""
        if action.choices is not None and value not in action.choices:
            option = "".join(action.option_strings[:1])
            mend = did_you_mean(str(value), {str(name): f"{option} {name}".lstrip() for name in action.choices})
            known = (
                ", ".join(map(str, action.choices))
                if option or not action.metavar
                else f"{len([*action.choices])} names"
            )
            expected = f"{option or action.metavar or action.dest}: expected one of {known}, got {quoted(str(value))}"
            raise UserError(f"{mend}argument {expected} (all options: {self.prog} --help)")


class _Version(argparse.Action):
    """Print which instrument is installed, and end."""

    def __call__(self, *_: object) -> NoReturn:
        from course.artifacts.scorer_identity import installed

        scorer = installed()
        print(f"scorer {scorer.scorer_name} {scorer.scorer_version}\n{scorer.scorer_fingerprint}")
        sys.exit(0)


def number_as(pattern: str, expected: str, number_of: Callable[[str], Parsed]) -> Callable[[str], Parsed]:
    """A type of argument: a text that the pattern matches as a whole. ``expected``: what the complaint asks for."""

    def parse(text: str) -> Parsed:
        if not re.fullmatch(pattern, text):
            mend = ": write a point for the comma" if re.fullmatch(pattern, text.replace(",", ".", 1)) else ""
            raise argparse.ArgumentTypeError(f"expected {expected}, got {quoted(text)}{mend}")
        return number_of(text)

    return parse


positive_int = number_as("(?!0+$)[0-9]{1,9}", "a whole number from 1 to 999999999", int)
non_negative_int = number_as("[0-9]{1,9}", "a whole number from 0 to 999999999", int)
finite_float = number_as(f"[+-]?{_REAL}", "a number such as 0.5 or -0.5", float)
non_negative_float = number_as(rf"\+?{_REAL}|-0+\.?0*", "a number from 0 on", lambda text: abs(float(text)))  # -0 is 0
fraction = number_as(_UP_TO_1, "a number from 0 to 1 such as 0.02", lambda text: Fraction(text.rstrip(".")))
positive_fraction = number_as(f"(?![0.]+$){_UP_TO_1}", "a number above 0, up to 1", float)


def run_command(main: Callable[[], int | None]) -> NoReturn:
    """Run ``main`` as this process, and end with its status."""
    os.environ |= _ONE_THREAD
    process.fix_int_digits()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # closed by the caller
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    written_runs.clear()
    _prepare_records()
    process.begin_running()
    status = exit_status(main)
    process.ignore_signals()
    try:
        if process.was_signalled():
            _drop(sys.stdout)  # whoever reads it may never read on
        print(end="", flush=True)  # what could not be written shows here, not when Python has gone
    except OSError as error:
        status = status or _unwritable(error)
        _drop(sys.stdout)
    sys.exit(status)


def exit_status(main: Callable[[], int | None]) -> int:
    """Run ``main``, and say in one line what a person can mend. What nobody expected is raised: status 70."""
    try:
        status = main()
        print(end="", flush=True)
        return status or 0
    except UserError as error:
        return _fail(str(error))
    except KeyboardInterrupt:
        return _fail("interrupted; a run that was not finished has left nothing behind", 130)
    except SystemExit as exit_:  # --help, or a signal
        return exit_.code if isinstance(exit_.code, int) else 0
    except MemoryError:
        return _fail("expected enough memory, got none left; close other programs, or give smaller files or numbers")
    except OSError as error:
        return _unwritable(error)


def _prepare_records() -> None:
    """Let msgspec learn the record types while a signal still ends the process at once.

    It learns a type where it first meets it; Ctrl-C in the midst of that, raised as an exception, has crashed Python.
    """
    if msgspec := sys.modules.get("msgspec"):
        types = msgspec.Struct.__subclasses__()
        for type_ in types:
            types += type_.__subclasses__()
            msgspec.json.Decoder(type_)


def _fail(message: str, status: int = 2) -> int:
    if written_runs:
        message += f"; the run was written: {written_runs[-1]}"
    try:
        print(f"error: {visible(message)}", file=sys.stderr, flush=True)
    except OSError:
        _drop(sys.stderr)
    return status


def _unwritable(error: OSError) -> int:
    """For a file that cannot be read or written, whoever opened it names it: what names nothing is the output."""
    if isinstance(error, BrokenPipeError):  # the reader has gone (| head): nothing to tell it
        return 141
    where = visible(os.fsdecode(error.filename)) if error.filename else "standard output"
    return _fail(f"expected to read and write freely, got: {reason(error)}: {where}")


def _drop(stream: TextIO | None) -> None:
    """Send what is still to be written nowhere: Python tries again at its end, and complains."""
    with suppress(OSError):
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
