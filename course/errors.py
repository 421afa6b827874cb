"""Machinery: the one exception for what a person can mend, and the system's words for what went wrong."""

from pathlib import Path

written_runs: list[Path] = []  # by this process: an error that comes later says that the run is there


class UserError(Exception):
    """Bad input, a bad path, a full disk: one sentence that says what was expected, what was there, where, what to do.

    Commands print it as one line on stderr and end with status 2. A fault of the instrument is never a UserError: it
    keeps its traceback, and it is never turned into a reward of 0.
    """


def reason(error: OSError) -> str:
    """The system's own words for what went wrong, without Python's number and without the path."""
    words = error.strerror or str(error) or type(error).__name__
    return words[:1].lower() + words[1:]
