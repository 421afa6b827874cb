"""Machinery: the functions of a student's file, called in a process of its own, over a pipe of JSON lines.

``course.child_main`` is the other end.

Covered
    A file that does not load, raises, exits, prints, forks, closes its streams, never returns, outgrows a limit, or
    answers what JSON cannot hold: each is told apart and costs only that call. What it prints is shown at the end, made
    visible.
Not covered
    Code that means harm. It runs with the caller's rights (``course.limited_process``), and can write an answer of its
    own on the pipe: ask what only a right function can answer.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Self

import msgspec

from course import child_main
from course.limited_process import LimitReached, Limits, Process
from course.text import clipped, visible_path

_WORDS_SHOWN = 200  # characters of what an exception says
_OUTPUT_BYTES = 10_000  # kept of what a file prints
_LINES_SHOWN = 10
_LINE_WIDTH = 100


class Raised(NamedTuple):
    """A call that ended in an exception. ``line``: of the student's file, None where it has no part in it."""

    kind: str
    text: str  # safe to print
    line: int | None


class Stopped(Exception):
    """The process gave no answer: it reached a limit, ended, or wrote what cannot be read. One phrase says which."""


class UsedUp(Stopped):
    """It reached a limit to which all its calls add: CPU time, memory, output, processes. A new process may answer."""


class Child:
    """``with Child(path) as child: child.call("advantage", [(1.0, 0.5)])``.

    The process starts at the first call, and starts anew at the first call after it was stopped. ``path``: a file of
    Python. Raises OSError if it cannot be read. ``source``: the bytes that run; they are read once, when the object is
    made.
    """

    def __init__(self, path: Path, *, limits: Limits | None = None) -> None:
        self._path = path
        self.source = path.read_bytes()
        self._command = [sys.executable, "-I", "-B", "-u", str(child_main.__file__), str(path.resolve())]
        self._limits = limits or Limits()
        self._process: Process | None = None
        self._answers_read = 0  # of this process
        self._output = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()
        show_output(self._path, self._output)

    def call(self, function: str, calls: Sequence[tuple[Any, ...]], seconds: float = 10.0) -> list[Any]:
        """What the function returns for each of the calls: a value as JSON has it, or ``Raised``.

        All calls together take at most ``seconds``. Raises Stopped.
        """
        self._ask(function, calls)
        end = monotonic() + seconds
        return [self._read_answer(seconds, end) for _ in calls]

    def evaluate(self, expression: str, bindings: Sequence[dict[str, Any]], seconds: float = 10.0) -> Iterator[Any]:
        """The value of an expression for each of the bindings, or ``Raised``.

        The expression may use the names in the file and the names that are bound. Each value takes at most ``seconds``.
        Raises Stopped at the first value that does not come; call again for the rest.
        """
        self._ask(expression, bindings)
        unread = len(bindings)
        try:
            while unread:
                answer = self._read_answer(seconds, monotonic() + seconds)
                unread -= 1
                yield answer
        finally:
            if unread:
                self._end()  # an answer that nobody read is not taken for the next one

    def list_module_files(self, seconds: float = 10.0) -> list[str]:
        """The files of all modules that are loaded in the process by now. Raises Stopped."""
        (files,) = self.evaluate("__import__('__main__').list_module_files()", [{}], seconds)
        return msgspec.convert(files, list[str])

    def _ask(self, question: str, arguments: Sequence[Any]) -> None:
        if self._process is None:
            self._process = Process(self._command, self._limits)
            self._process.send(json.dumps(self.source.decode("latin-1")).encode("ascii") + b"\n")
            self._answers_read = 0
        self._process.send(json.dumps([question, arguments]).encode("ascii") + b"\n")

    def _read_answer(self, seconds: float, end: float) -> Any:
        """The next answer. ``end``: of the ``seconds`` that there are for it."""
        assert self._process is not None
        try:
            line = self._process.read_line(end - monotonic())
            number, kind, value = msgspec.convert(json.loads(line), tuple[int, str | None, Any])
            if number != self._answers_read:  # somebody else wrote on the pipe
                raise ValueError
            self._answers_read += 1
            return value if kind is None else _read_exception(kind, value)
        except LimitReached as limit:
            if monotonic() < end:
                stopped: Stopped = UsedUp(f"no answer within {limit}")
            else:
                stopped = Stopped(f"no answer within {seconds:g} s")
        except (ValueError, RecursionError):
            stopped = Stopped("an answer that cannot be read" if line else self._describe_end())
        self._end()
        raise stopped

    def _describe_end(self) -> str:
        assert self._process is not None
        status = self._process.status
        if status is None:
            return "a pipe that was closed"
        return f"an end with exit status {status}"

    def _end(self) -> None:
        if self._process is not None:
            self._process.end()
            self._output = (self._output + self._process.error_output)[:_OUTPUT_BYTES]
            self._process = None


def show_output(path: Path, output: bytes) -> None:
    """What a file has printed, on standard error: the first lines, safe for a terminal. Does nothing for nothing."""
    lines = output.decode("utf-8", "replace").splitlines()
    if not lines:
        return
    print(f"note: {visible_path(path)} printed:", file=sys.stderr)
    for line in lines[:_LINES_SHOWN]:
        print(f"  {clipped(line, _LINE_WIDTH)}", file=sys.stderr)
    if len(lines) > _LINES_SHOWN or len(output) >= _OUTPUT_BYTES:
        print("  and more", file=sys.stderr)


def _read_exception(kind: str, value: object) -> Raised:
    text, line = msgspec.convert(value, tuple[str, int | None])
    return Raised(clipped(kind, 60), clipped(text, _WORDS_SHOWN), line)
