"""Machinery: a student's tests, each run once against each of many verifiers, and what came of it.

The tests run in another process, ``check.rubric_plugin``; the verifiers stand in this one, behind a pipe,
unnamed, in an order that is drawn anew for each test. What that process reports is not believed: a failed test counts
only where the verifier answered otherwise than every correct one while it ran, and the answers are noted here.

Covered
    Tests that hang, exit, do not load, print, report what is not so, look into the lab, or ask who a verifier is.
Not covered
    A test that fails by chance, as by the clock: some such pass every correct verifier. Code that means harm:
    ``rubric_plugin``.
"""

import ast
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, NamedTuple

from check import rubric_plugin
from course.datasets.records import VerifierSource
from course.errors import UserError
from course.starting import PYTHON
from course.text import described, quoted

CORRECT_CLASS = "correct"
_DIFFERENCES = ("", "details", "reward")
_LEFT_OPEN = ("message", "note")  # the details that the spec leaves to a verifier
_SLOW = 0.2  # seconds; a correct verifier takes a few milliseconds over 100,000 characters
_START_SECONDS, _TEST_SECONDS, _ALL_SECONDS = 20.0, 3.0, 60.0  # to load the file; a test with one verifier; all
_MESSAGE_BYTES = 1 << 22
_MOST_HANGING = 5  # tests that are left out before the whole file is given up
_SAID = {
    "collected": [list, list],
    "broken": [str],
    "begin": [str, int],
    "call": [str, str],
    "end": [str, str],
    "done": [],
}
Response = tuple[bool, Any]  # whether the verifier raised; its result, or what the exception says
Verify = Callable[[Any, Any], Any]


class Cell(NamedTuple):
    """What came of one test with one verifier. ``ending``: passed, assertion, exception or skipped.

    ``differed``: in what the verifier answered otherwise than a correct one, ``reward``, ``details`` or "".
    ``words``: what an exception says, safe to print.
    """

    ending: str
    words: str
    differed: str
    killed: bool


class TestRun(NamedTuple):
    """``cells``: test -> id of a verifier -> what came of the two. ``error``: why there is nothing to judge."""

    cells: dict[str, dict[str, Cell]]
    error: str = ""
    left_out: int = 0  # tests that take no ``rubric``
    timed_out: Sequence[str] = ()  # tests that let their time pass with one of the verifiers, and have no cells


def run_tests(source: bytes, verifiers: Sequence[VerifierSource]) -> TestRun:
    """Each test of a file with each verifier, of which some are of the class ``correct``.

    A test that lets its time pass is left out, and the others run again without it.
    """
    timed_out: list[str] = []
    while True:
        session = _run_once(source, verifiers, timed_out)
        if session.hung and len(timed_out) < _MOST_HANGING:
            timed_out.append(session.hung)
        elif timed_out and not session.cells:
            return TestRun({}, f"no answer in time from {quoted(timed_out[0])}")
        else:
            return TestRun(session.cells, session.error, session.left_out, timed_out)


def _run_once(source: bytes, verifiers: Sequence[VerifierSource], without: Sequence[str]) -> "_Session":
    if find_spec("pytest") is None:
        raise UserError(f"expected pytest, got a Python without it; {PYTHON} lab.py fetches it")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-I", "-B", str(Path(rubric_plugin.__file__))]
    with TemporaryDirectory() as folder:
        (Path(folder) / "test_rubric.py").write_bytes(source)
        (Path(folder) / "pytest.ini").write_bytes(b"[pytest]\n")
        pipe = subprocess.PIPE
        with subprocess.Popen(command, env=environment, cwd=folder, stdin=pipe, stdout=pipe) as process:
            session = _Session(process, verifiers, without)
            threading.Thread(target=session.watch, daemon=True).start()
            try:
                session.serve()
            except (OSError, ValueError, TypeError, LookupError, RecursionError):  # it ended, or that is no message
                test = quoted(str(session.test)) or "the file, before its first test"
                timed_out = time.monotonic() > session.deadline
                session.hung = session.test if timed_out else ""
                session.error += f"{'no answer in time' if timed_out else 'an end of the process'} from {test}"
            finally:
                process.kill()
                with suppress(OSError):  # what it was still to be sent
                    session.close()
    return session


class _Session:
    """The verifiers' end of the pipe."""

    def __init__(
        self, process: "subprocess.Popen[bytes]", verifiers: Sequence[VerifierSource], without: Sequence[str]
    ) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._in, self._out = process, process.stdout, process.stdin
        self._verifiers, self._without = verifiers, without
        self._correct = next(load(one) for one in verifiers if one.kind == CORRECT_CLASS)
        self._last = time.monotonic() + _ALL_SECONDS
        self.deadline = time.monotonic() + _START_SECONDS
        self.cells: dict[str, dict[str, Cell]] = {}
        self.test, self.error, self.left_out = "", "", 0  # the test that runs; why there is nothing to judge
        self.hung = ""  # the test that let its time pass

    def watch(self) -> None:
        """Kill the process where it lets its deadline pass."""
        while self._process.poll() is None:
            if time.monotonic() > self.deadline:
                self._process.kill()
            time.sleep(0.05)

    def close(self) -> None:
        self._out.close()

    def _send(self, message: object) -> None:
        self._out.write(json.dumps(message).encode("ascii") + b"\n")
        self._out.flush()

    def serve(self) -> None:
        """Until the tests are done. Raises where a message is none, or comes out of turn."""
        orders: dict[str, list[VerifierSource]] = {}
        self._send([len(self._verifiers), self._without])
        kind = ""
        while kind != "done":
            kind, *said = json.loads(self._in.readline(_MESSAGE_BYTES))
            within = kind in ("call", "end")  # said while a test runs, all else between two tests
            again = kind == "collected" and orders
            if [type(one) for one in said] != _SAID[kind] or within != (self.test != "") or again:
                raise ValueError
            if kind == "begin":
                self.test, number = said
                verifier = orders[self.test][number]
                verify, raised, wrong = load(verifier), False, ""
                self.deadline = min(time.monotonic() + _TEST_SECONDS, self._last)
            elif kind == "call":
                found, differed = self._answered(verify, *said)
                raised, wrong = raised or found[0], max(wrong, differed, key=_DIFFERENCES.index)
                self._send(found)
            elif kind == "end":
                ending, words = said
                counts = ending == "assertion" or (ending == "exception" and raised and verifier.kind == "raises")
                cell = Cell(ending, quoted(words), wrong, counts and wrong != "")
                self.cells[self.test][verifier.id], self.test = cell, ""
            elif kind == "collected":
                self.cells, self.left_out = {str(test): {} for test in said[0]}, len(said[1])
                orders = {test: SystemRandom().sample(self._verifiers, len(self._verifiers)) for test in self.cells}
            elif kind == "broken":
                self.error = self.error or quoted(said[0])

    def _answered(self, verify: Verify, example: str, completion: str) -> tuple[Response, str]:
        """What a verifier answers, and in what that is otherwise than the correct answer."""
        try:
            values, right = _right_answer(example, completion, self._correct)
        except (ValueError, SyntaxError, MemoryError):
            return (True, "expected an example and a completion of Python's plain types"), ""
        start = time.monotonic()
        found = answer(verify, *values)
        return found, "reward" if time.monotonic() - start > _SLOW else difference(found, right)


@lru_cache(maxsize=256)
def _right_answer(example: str, completion: str, correct: Verify) -> tuple[Any, Response]:
    """The values that were written, and the correct answer to them."""
    values = ast.literal_eval(example), ast.literal_eval(completion)
    return values, answer(correct, *values)


@lru_cache(maxsize=1024)
def _code_of(source: str, id_: str) -> CodeType:
    return compile(source, f"verifier {id_}", "exec")


def load(verifier: VerifierSource) -> Verify:
    """Its function, new: it remembers no call."""
    namespace: dict[str, Any] = {}
    exec(_code_of(verifier.source, verifier.id), namespace)
    verify: Verify = namespace["verify"]
    return verify


def answer(verify: Verify, example: object, completion: object) -> Response:
    try:
        return False, verify(example, completion)
    except Exception as error:
        return True, described(error)


def difference(found: Response, right: Response) -> str:
    """In what an answer is otherwise than the right one: ``reward`` (or it raised), ``details``, or "" for nothing."""
    if _essence(found) == _essence(right):
        return ""
    return "details" if not found[0] and repr(found[1]["reward"]) == repr(right[1]["reward"]) else "reward"


def _essence(found: Response) -> str:
    """An answer without what the spec leaves open; 1, 1.0 and True are three things here."""
    raised, result = found
    if not raised and isinstance(result.get("details"), dict):
        result = result | {"details": {k: v for k, v in result["details"].items() if k not in _LEFT_OPEN}}
    return json.dumps([raised, result], sort_keys=True)
