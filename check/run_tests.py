"""Machinery: a student's tests, each run once against each of many verifiers, and what came of it.

For each verifier the tests run in a process of their own, which knows nothing of the verifiers met before:
``check.rubric_plugin``. The verifier stands in this process, behind a pipe, unnamed; the order is drawn anew each time.
What that process reports is not believed: a failed test counts only where the verifier answered otherwise than every
correct one while it ran, and the answers are noted here.

Covered
    Tests that hang, exit, do not load, print, fork, outgrow a limit, report what is not so, ask who a verifier is, or
    remember what another verifier answered.
Not covered
    A test that fails by chance, as by the clock: some such pass every correct verifier. What a test writes on disk
    outside its own folder, what it reads there, and code that means harm: ``rubric_plugin``.
"""

import ast
import json
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any

from check.kills import CORRECT_CLASS, Cell, TestRun
from check.result import CannotCheck
from course.datasets.records import VerifierSource
from course.limited_process import LimitReached, Limits, Process
from course.starting import PYTHON
from course.text import describe_error, quote

_DIFFERENCES = ("", "details", "reward")
_LEFT_OPEN = ("message", "note")  # the details that the spec leaves to a verifier
_SLOW = 0.2  # seconds of CPU time; a correct verifier takes a few milliseconds over 100,000 characters
_START_SECONDS = 60.0  # to load the file
_TEST_SECONDS = 10.0  # for a test with one verifier
_ALL_SECONDS = 600.0
_PLUGIN = Path(__file__).with_name("rubric_plugin.py")
_LIMITS = Limits(output_mb=4)
_OVER_SECONDS = 10.0  # to end a process that was forked
_MOST_HANGING = 5  # tests that are left out before the whole file is given up
_AT_ONCE = 2  # verifiers that the tests meet at the same time
_MESSAGES = {
    "collected": [list, list],
    "broken": [str],
    "begin": [str],
    "call": [str, str],
    "end": [str, str],
    "done": [],
}
Response = tuple[bool, Any]  # whether the verifier raised; its result, or what the exception says
Verify = Callable[[Any, Any], Any]


def run_tests(source: bytes, verifiers: Sequence[VerifierSource]) -> TestRun:
    """Each test of a file with each verifier, of which some are of the class ``correct``.

    A test that lets its time pass with one verifier is left out of the run from then on.
    """
    if find_spec("pytest") is None:
        raise CannotCheck(f"expected pytest, got a Python without it; {PYTHON} lab.py fetches it")
    run = _Run(source, verifiers)
    order = SystemRandom().sample(verifiers, len(verifiers))
    shares = [order[start::_AT_ONCE] for start in range(_AT_ONCE)]
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(run.meet, shares))  # raises what a share raised
    return run.result()


class _Run:
    """One file of tests, and what came of it with each verifier so far."""

    def __init__(self, source: bytes, verifiers: Sequence[VerifierSource]) -> None:
        self._source = source
        self._verifiers = verifiers
        self._correct = next(load(verifier) for verifier in verifiers if verifier.kind == CORRECT_CLASS)
        self._last = time.monotonic() + _ALL_SECONDS
        self._timed_out: list[str] = []
        self._sessions: dict[str, _Session] = {}  # id of a verifier -> its session
        self._error = ""
        self._printed = b""

    def meet(self, verifiers: Sequence[VerifierSource]) -> None:
        """Let the tests meet each of these verifiers, one after the other."""
        parent = _Parent()
        try:
            for verifier in verifiers:
                session = self._open_session(parent, verifier)
                while session.hung and not self._error:
                    self._leave_out(session.hung)
                    session = self._open_session(parent, verifier)
                if self._error:
                    return
                if session.error:
                    self._error = session.error
                    return
                self._sessions[verifier.id] = session
        finally:
            parent.end()
            self._printed += parent.printed

    def _open_session(self, parent: "_Parent", verifier: VerifierSource) -> "_Session":
        session = _Session(verifier, self._correct, self._last)
        with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            (Path(folder) / "test_rubric.py").write_bytes(self._source)
            (Path(folder) / "pytest.ini").write_bytes(b"[pytest]\n")
            parent.serve(session, [folder, self._timed_out])
        return session

    def _leave_out(self, test: str) -> None:
        if test not in self._timed_out:
            self._timed_out.append(test)
        if len(self._timed_out) > _MOST_HANGING:
            self._error = f"no answer in time from {quote(self._timed_out[0])}"

    def result(self) -> TestRun:
        if self._error:
            return TestRun({}, self._error, printed=self._printed)
        cells: dict[str, dict[str, Cell]] = {}
        left_out = 0
        for verifier in self._verifiers:
            session = self._sessions[verifier.id]
            left_out = max(left_out, session.left_out)
            for test, cell in session.cells.items():
                if test in self._timed_out:
                    continue
                cells.setdefault(test, {})
                if cell is not None:
                    cells[test][verifier.id] = cell
        if self._timed_out and not cells:
            return TestRun({}, f"no answer in time from {quote(self._timed_out[0])}")
        return TestRun(cells, "", left_out, sorted(self._timed_out), self._printed)


class _Parent:
    """The process that forks for each verifier, or is started for each where a system has no fork."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self.printed = b""

    def serve(self, session: "_Session", question: list[object]) -> None:
        """Put the question, and let the session answer until its tests are done. Never raises for what they do."""
        if self._process is None:
            self._process = self._start()
        try:
            send(self._process, question)
            session.serve(self._process)
            if not self._process.read_line(_OVER_SECONDS):  # without fork it has ended
                self.end()
        except (LimitReached, ValueError, TypeError, LookupError, RecursionError) as error:
            session.end_early(error)
            self.end()

    def _start(self) -> Process:
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        command = [sys.executable, "-I", "-B", "-u", str(_PLUGIN)]
        return Process(command, _LIMITS, environment=environment)

    def end(self) -> None:
        if self._process is not None:
            self._process.end()
            self.printed += self._process.error_output
            self._process = None


class _Session:
    """One verifier's end of the pipe. ``cells``: test -> what came of it, None as long as it has not run."""

    def __init__(self, verifier: VerifierSource, correct: Verify, last: float) -> None:
        self._verifier = verifier
        self._correct = correct
        self._last = last
        self.deadline = time.monotonic() + _START_SECONDS
        self.cells: dict[str, Cell | None] = {}
        self.left_out = 0
        self.test = ""  # the test that runs
        self.hung = ""  # the test that let its time pass
        self.error = ""  # why there is nothing to judge

    def end_early(self, error: Exception) -> None:
        """Enter that the process ended, or was ended, before its tests were done."""
        if not isinstance(error, LimitReached):
            self.error = f"an end of the process from {self._where()}"
        elif time.monotonic() <= self.deadline:
            self.error = f"more than {error} for {self._where()}"
        elif self.test:
            self.hung = self.test
        else:
            self.error = f"no answer in time from {self._where()}"

    def _where(self) -> str:
        return quote(self.test) or "the file, before its first test"

    def serve(self, process: Process) -> None:
        """Until the tests are done. Raises where a message is none, or comes out of turn."""
        verify = load(self._verifier)
        raised = False
        wrong = ""
        collected = False
        kind = ""
        while kind != "done":
            kind, *values = json.loads(process.read_line(self.deadline - time.monotonic()))
            within = kind in ("call", "end")  # sent while a test runs, all else between two tests
            again = kind == "collected" and collected
            if [type(value) for value in values] != _MESSAGES[kind] or within != (self.test != "") or again:
                raise ValueError
            if kind == "collected":
                collected = True
                self.cells = {str(test): None for test in values[0]}
                self.left_out = len(values[1])
            elif kind == "broken":
                if not self.error:
                    self.error = quote(values[0])
            elif kind == "begin":
                if values[0] not in self.cells:
                    raise ValueError
                self.test = values[0]
                verify = load(self._verifier)  # new for each test
                raised = False
                wrong = ""
                self.deadline = min(time.monotonic() + _TEST_SECONDS, self._last)
            elif kind == "call":
                example, completion = values
                response, differs = answer_and_compare(verify, example, completion, self._correct)
                raised = raised or response[0]
                wrong = max(wrong, differs, key=_DIFFERENCES.index)
                send(process, response)
            elif kind == "end":
                ending, words = values
                failed = ending == "assertion"
                if ending == "exception" and self._verifier.kind == "raises":
                    failed = raised
                self.cells[self.test] = Cell(ending, quote(words), differed=wrong, killed=failed and wrong != "")
                self.test = ""


def send(process: Process, message: object) -> None:
    process.send(json.dumps(message).encode("ascii") + b"\n")


def answer_and_compare(verify: Verify, example: str, completion: str, correct: Verify) -> tuple[Response, str]:
    """What a verifier answers, and in what that is otherwise than the correct answer."""
    try:
        values, right = _right_answer(example, completion, correct)
    except (ValueError, SyntaxError, MemoryError):
        return (True, "expected an example and a completion of Python's plain types"), ""
    start = time.thread_time()
    response = answer(verify, *values)
    if time.thread_time() - start > _SLOW:
        return response, "reward"
    return response, difference(response, right)


# Python 3.11 counts the depth of a tree for all threads together, and raises SystemError where two parse at one moment.
_PARSING = threading.Lock()


@lru_cache(maxsize=256)
def _right_answer(example: str, completion: str, correct: Verify) -> tuple[Any, Response]:
    """The values that were written, and the correct answer to them."""
    with _PARSING:
        values = ast.literal_eval(example), ast.literal_eval(completion)
    return values, answer(correct, *values)


@lru_cache(maxsize=1024)
def _compile(source: str, id_: str) -> CodeType:
    return compile(source, f"verifier {id_}", "exec")


def load(verifier: VerifierSource) -> Verify:
    """Its function, new: it remembers no call."""
    namespace: dict[str, Any] = {}
    exec(_compile(verifier.source, verifier.id), namespace)
    verify: Verify = namespace["verify"]
    return verify


def answer(verify: Verify, example: object, completion: object) -> Response:
    try:
        return False, verify(example, completion)
    except Exception as error:
        return True, describe_error(error)


def difference(response: Response, right: Response) -> str:
    """In what an answer is otherwise than the right one: ``reward`` (or it raised), ``details``, or "" for nothing."""
    if _essence(response) == _essence(right):
        return ""
    raised, result = response
    _, right_result = right
    if raised or repr(result["reward"]) != repr(right_result["reward"]):
        return "reward"
    return "details"


def _essence(response: Response) -> str:
    """An answer without what the spec leaves open; 1, 1.0 and True are three things here."""
    raised, result = response
    if not raised and isinstance(result.get("details"), dict):
        details = {name: value for name, value in result["details"].items() if name not in _LEFT_OPEN}
        result = result | {"details": details}
    return json.dumps([raised, result], sort_keys=True)
