"""Machinery: questions to a person at a terminal, and to nobody else. Ctrl-C ends the command here as elsewhere."""

import os
import sys
from collections.abc import Callable
from typing import TextIO

from course.errors import UserError
from course.text import quote


def at_terminal(*streams: TextIO | None) -> bool:
    return all(stream is not None and stream.isatty() for stream in streams)


def ask(question: str, accepts: Callable[[str], bool], expected: str, out: TextIO | None = None) -> str | None:
    """The answer in lower case, asked for until ``accepts`` takes one; None for q and at the end of the input.

    ``expected``: the words for what ``accepts`` takes.
    """
    while (answer := read_answer(question, out)) is not None and not accepts(answer):
        print(f"expected {expected}, got {quote(answer) or 'nothing'}", file=out)
    return answer


def read_answer(question: str, out: TextIO | None = None) -> str | None:
    """The line that is typed after the question, in lower case; None for q and at the end of the input."""
    discard_typed()
    print(question, end=" ", file=out, flush=True)
    try:
        line = sys.stdin.readline() if sys.stdin else ""
    except UnicodeDecodeError:  # typed in another encoding than the terminal says
        return ""
    if not line:
        print(file=out)
    answer = line.strip().lower()
    return None if not line or answer == "q" else answer


def discard_typed() -> None:
    """Forget what was typed at the terminal before the question was there: it is no answer."""
    if not os.isatty(0):
        return
    if sys.platform == "win32":
        import msvcrt

        while msvcrt.kbhit():
            msvcrt.getwch()
    else:
        import termios

        termios.tcflush(0, termios.TCIFLUSH)


def ask_expectation(what: str | None, accepts: Callable[[str], bool], expected: str) -> str:
    """What a person expects of a run; q ends the process. ``what``: the command, in words."""
    if not at_terminal(sys.stdin, sys.stderr):
        raise UserError("--predict: cannot ask without a terminal; give your expectation with --expect 0.4")
    print(f"{what}\nWhat result do you expect? Type {expected}; q quits.", file=sys.stderr)
    answer = ask(">", accepts, expected, sys.stderr)
    if answer is None:
        print("nothing was computed", file=sys.stderr)
        sys.exit(2)
    return answer


def wait_for_enter() -> bool:
    """At a terminal wait for Enter, elsewhere go on at once. False after q: the caller shows nothing more."""
    question = "Press Enter for the update (q: straight to the end)"
    return not at_terminal(sys.stdin, sys.stdout) or read_answer(question) is not None
