"""Machinery: questions to a person at a terminal, and to nobody else. Ctrl-C ends a command here as anywhere."""

import sys
from typing import TextIO

from course.errors import UserError

_QUESTION = "What do you expect of it? A number such as 0.4 or 40 % is scored; q ends.\n>"


def at_terminal(*streams: TextIO | None) -> bool:
    return all(stream is not None and stream.isatty() for stream in streams)


def ask(question: str, out: TextIO | None = None) -> str | None:
    """The line that is typed in answer, without the spaces at its ends; None for q and at the end of the input."""
    print(question, end=" ", file=out, flush=True)
    try:
        line = sys.stdin.readline() if sys.stdin else ""
    except UnicodeDecodeError:  # typed in another encoding than the terminal says
        return ""
    if not line:
        print(file=out)
    answer = line.strip()
    return None if not line or answer.lower() == "q" else answer


def ask_expectation(what: str | None) -> str:
    """What a person expects of a command, which is ``what``: asked until there is an answer. After q it ends here."""
    if not at_terminal(sys.stdin, sys.stderr):
        raise UserError('--predict: expected a terminal to ask on, got none; write it down with --expect "about half"')
    print(what, file=sys.stderr)
    while not (answer := ask(_QUESTION, sys.stderr)):
        if answer is None:
            print("nothing was computed", file=sys.stderr)
            sys.exit(2)
    return answer


def wait_for_enter() -> bool:
    """At a terminal wait for Enter, elsewhere go on at once. False after q: the rest is not to be shown."""
    return not at_terminal(sys.stdin, sys.stdout) or ask("Enter for the update (q: straight to the end)") is not None
