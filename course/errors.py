"""Machinery: the one exception for errors that a person can mend, and the system's words for what went wrong."""

from pathlib import Path

written_runs: list[Path] = []  # by this process; a later error says that the run was written


class UserError(Exception):
    """Bad input, a bad path, a full disk. One sentence says what was expected, what was there, where, and what to do.

    Commands print it as one line on stderr and end with status 2. A fault of the instrument is never a UserError: it
    keeps its traceback, and it is never turned into a reward of 0.
    """


def reason(error: OSError) -> str:
    """The system's own words for what went wrong, without Python's number and without the path."""
    words = error.strerror or str(error) or type(error).__name__
    return words[:1].lower() + words[1:]
