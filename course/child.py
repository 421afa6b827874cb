"""Machinery: the functions of a student's file, called in a process of its own, over a pipe of JSON lines.

Covered
    A file that does not load, raises, exits, prints, closes its streams, never returns, answers what JSON cannot hold
    or without end: each is told apart and costs only that call.
Not covered
    Code that means harm. It runs with the caller's rights, and can write an answer of its own on the pipe: ask what
    only a right function can answer. Memory, and processes left behind: ``teacher.grade`` limits those from outside.
    An isolated process keeps a student from borrowing an answer; who looks for it in Python's own frames finds a way.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import CodeType, ModuleType, TracebackType
from typing import Any, NamedTuple, Self

from course.datasets.files import LAB
from course.isolation import forget_packages, keep_out, message_of, take_pipe
from course.text import clipped

_ANSWER_BYTES = 1 << 24  # of all answers to one question
_WORDS_SHOWN = 200  # characters of what an exception says


class Raised(NamedTuple):
    """A call that ended in an exception. ``line``: of the student's file, None where it has no part in it."""

    kind: str
    text: str  # safe to print
    line: int | None


class Stopped(Exception):
    """The process gave no answer: it ran out of time, ended, or wrote what cannot be read. One phrase says which."""


class Child:
    """``with Child(path) as child: child.call("advantage", [(1.0, 0.5)])``. Started at the first call, and again after
    one that had to be stopped.

    ``path``: a file of Python. ``isolated``: no file of ``course/``, ``check/`` or ``teacher/`` can be opened or
    imported there, and no process started.
    """

    def __init__(self, path: Path, *, isolated: bool = False) -> None:
        self._command = [sys.executable, "-m", __name__, str(path.resolve())]
        if isolated:
            self._command.append("isolated")
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._end()

    def call(self, function: str, calls: Sequence[tuple[Any, ...]], seconds: float = 10.0) -> list[Any]:
        """What the function returns for each of the calls: a value as JSON has it, or ``Raised``.

        All calls together take at most ``seconds``. Raises Stopped.
        """
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, env=os.environ | {"PYTHONPATH": str(LAB)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
        child = self._process
        assert child.stdin is not None
        assert child.stdout is not None
        timed_out = threading.Event()

        def stop() -> None:
            timed_out.set()
            child.kill()

        timer = threading.Timer(seconds, stop)
        timer.start()
        try:
            child.stdin.write(json.dumps([function, calls]).encode("ascii") + b"\n")
            child.stdin.flush()
            line = child.stdout.readline(_ANSWER_BYTES)
        except OSError:  # it ended while it was asked
            line = b""
        finally:
            timer.cancel()
        try:
            answers = json.loads(line)
            assert len(answers) == len(calls)
            return [value if kind is None else _raised(kind, *value) for kind, value in answers]
        except (ValueError, TypeError, AssertionError, RecursionError):
            self._end()
            if timed_out.is_set():
                raise Stopped(f"no answer within {seconds:g} s") from None
            if len(line) >= _ANSWER_BYTES:
                raise Stopped(f"an answer of more than {_ANSWER_BYTES >> 20} MB") from None
            raise Stopped(
                "an answer that cannot be read" if line else f"an end with exit status {child.returncode}"
            ) from None

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _raised(kind: str, text: str, line: int | None) -> Raised:
    return Raised(clipped(kind, 60), clipped(text, _WORDS_SHOWN), line and int(line))


def main() -> None:
    """The other end: load the file, then answer each line with a line."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the caller's, who ends this process
    questions, answers = take_pipe(2)
    path = Path(sys.argv[1])
    module = ModuleType(path.stem)
    module.__file__ = str(path)
    sys.modules.setdefault(path.stem, module)  # where a dataclass looks up what its annotations name
    namespace = vars(module)
    sys.path[:0] = [str(path.parent)]
    if sys.argv[2:]:
        forget_packages(["course"])
        sys.addaudithook(keep_out("the answer is to be your own", ["course", "check", "teacher"]))
    failed: Any = _answer(path, lambda: exec(_compiled(path), namespace))
    for line in questions:
        function, calls = json.loads(line)
        asked = [partial(_apply, namespace, function, call) for call in calls]
        found = [failed if failed[0] else _answer(path, one) for one in asked]
        answers.write(json.dumps(found).encode("ascii") + b"\n")
        answers.flush()


def _compiled(path: Path) -> CodeType:
    return compile(path.read_bytes(), str(path), "exec")


def _apply(namespace: dict[str, Any], function: str, arguments: list[Any]) -> Any:
    return namespace[function](*arguments)


def _answer(path: Path, function: Callable[[], Any]) -> tuple[str | None, Any]:
    """``(None, value)``, or the type of an exception with its words and its line in the file."""
    import traceback

    try:
        value = function()
        value = getattr(value, "tolist", lambda: value)()  # an array of NumPy's
        json.dumps(value)
        return None, value
    except BaseException as error:
        frames = traceback.walk_tb(error.__traceback__)
        lines = [line for frame, line in frames if frame.f_code.co_filename == str(path)]
        lines += [error.lineno or 1] if isinstance(error, SyntaxError) else []
        return type(error).__name__, (message_of(error), lines[-1] if lines else None)


if __name__ == "__main__":
    main()
