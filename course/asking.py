"""Machinery: questions to a person at a terminal, and to nobody else. Ctrl-C ends the command here as elsewhere."""

import sys
from typing import TextIO

from course.errors import UserError

_QUESTION = "What result do you expect? A number such as 0.4 or 40 % is scored; q quits.\n>"


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
    """What a person expects, asked until there is an answer. q ends the process. ``what``: the command, in words."""
    if not at_terminal(sys.stdin, sys.stderr):
        raise UserError('--predict: cannot ask without a terminal; give your expectation with --expect "about half"')
    print(what, file=sys.stderr)
    while not (answer := ask(_QUESTION, sys.stderr)):
        if answer is None:
            print("nothing was computed", file=sys.stderr)
            sys.exit(2)
    return answer


def wait_for_enter() -> bool:
    """At a terminal wait for Enter, elsewhere go on at once. False after q: the caller shows nothing more."""
    return (
        not at_terminal(sys.stdin, sys.stdout) or ask("Press Enter for the update (q: straight to the end)") is not None
    )
