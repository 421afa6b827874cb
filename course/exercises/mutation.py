"""Machinery: a student's tests, each run once against each of many verifiers, and what came of it.

The tests run in another process, ``course.exercises.rubric_plugin``; the verifiers stand in this one, behind a pipe,
unnamed, in an order that is drawn anew for each test. What that process reports is not believed: a failed test counts
only where the verifier answered otherwise than every correct one while it ran, and the answers are noted here.

Covered
    Tests that hang, exit, do not load, print, report what is not so, look into the lab, or ask who a verifier is.
Not covered
    A test that remembers how other verifiers answered, and goes by the majority. Code that means harm: see the other.
"""

import ast
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, NamedTuple

from course.datasets.records import Verifier
from course.errors import UserError
from course.exercises import rubric_plugin
from course.starting import PYTHON
from course.text import described, quoted

CORRECT = "correct"
_LEFT_OPEN = ("message", "note")  # the details that the spec leaves to a verifier
_SLOW = 0.2  # seconds; a correct verifier takes a few milliseconds over 100,000 characters
_START_SECONDS, _TEST_SECONDS, _ALL_SECONDS = 20.0, 3.0, 60.0  # to load the file; a test with one verifier; all
_MAY_HANG = 2  # so many tests are left out and the others go on
_LINE_BYTES = 1 << 22


class Cell(NamedTuple):
    """One test with one verifier. ``outcome``: passed, assertion, exception or skipped, as the test's process has it.

    ``differed``: in what the verifier answered otherwise than all correct ones did, ``reward`` or ``details``, or "".
    """

    outcome: str
    differed: str
    killed: bool
    words: str = ""  # of the exception, safe to print


class Run:
    """What came of all tests. ``cells``: test -> id of a verifier -> what came of the two."""

    def __init__(self) -> None:
        self.cells: dict[str, dict[str, Cell]] = {}
        self.hung: list[str] = []  # tests that gave no answer in time, or ended the process
        self.without = 0  # tests that do not take the fixture
        self.error = ""  # why there is nothing to judge


def run_tests(source: bytes, verifiers: Sequence[Verifier]) -> Run:
    """Each test of a file with each verifier, of which some are of the class ``correct``."""
    if find_spec("pytest") is None:
        raise UserError(f"expected pytest, got a lab without the tools for tests; {PYTHON} lab.py lint fetches them")
    run, deadline = Run(), time.monotonic() + _ALL_SECONDS
    with TemporaryDirectory() as folder:
        (Path(folder) / "test_rubric.py").write_bytes(source)
        (Path(folder) / "pytest.ini").write_bytes(b"[pytest]\n")
        while not run.error and not _Session(Path(folder), verifiers, run, deadline).served():
            if len(run.hung) > _MAY_HANG or time.monotonic() > deadline:
                break
    return run


class _Session:
    """One process of tests, served until it ends or hangs."""

    def __init__(self, folder: Path, verifiers: Sequence[Verifier], run: Run, deadline: float) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-B", str(Path(rubric_plugin.__file__))],
            env=kept | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._verifiers, self._run, self._last = verifiers, run, deadline
        self._right = {one.id: loaded(one) for one in verifiers if one.kind == CORRECT}
        self._orders: dict[str, list[Verifier]] = {}
        self._deadline = 0.0
        self._asked = ""  # the test that runs

    def served(self) -> bool:
        """Whether the tests ran to their end. If not, the one that hung is in ``run.hung``."""
        ended = threading.Event()
        self._allow(_START_SECONDS)
        watch = threading.Thread(target=self._watch, args=(ended,), daemon=True)
        watch.start()
        try:
            return self._serve()
        except (OSError, ValueError, TypeError, LookupError, AssertionError, RecursionError):  # ended, or no message
            if self._asked:
                self._run.hung.append(self._asked)
                self._run.cells.pop(self._asked, None)
            else:
                self._run.error = self._run.error or "the tests ended, or hung, before the first of them ran"
            return False
        finally:
            ended.set()
            self._process.kill()
            self._process.communicate()

    def _allow(self, seconds: float) -> None:
        self._deadline = min(time.monotonic() + seconds, self._last)

    def _watch(self, ended: threading.Event) -> None:
        while not ended.wait(0.1):
            if time.monotonic() > self._deadline:
                self._process.kill()

    def _send(self, *message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode("ascii") + b"\n")
        self._process.stdin.flush()

    def _serve(self) -> bool:
        assert self._process.stdout is not None
        run, verifier, raised, differed = self._run, self._verifiers[0], False, ""
        verify = loaded(verifier)
        done = [test for test, cells in run.cells.items() if len(cells) == len(self._verifiers)]
        self._send(len(self._verifiers), [*done, *run.hung])
        while True:
            kind, *said = json.loads(self._process.stdout.readline(_LINE_BYTES))
            if kind == "call":
                (raised_now, value), other = self._answered(verify, *said)
                raised, differed = (
                    raised or raised_now,
                    "reward" if "reward" in (differed, other) else differed or other,
                )
                self._send(raised_now, value)
            elif kind == "begin":
                self._asked, number = said
                verifier = self._order(self._asked)[number]
                verify, raised, differed = loaded(verifier), False, ""
                self._allow(_TEST_SECONDS)
            elif kind == "end":
                outcome, words = said
                killed = bool(differed) and (outcome == "assertion" or (outcome == "exception" and raised))
                killed = killed and (outcome == "assertion" or verifier.kind == "raises")
                cells = run.cells.setdefault(self._asked, {})
                cells[verifier.id] = Cell(outcome, differed, killed, quoted(words))
                self._asked = ""
            elif kind == "collected":
                tests, run.without = said
                self._orders = {test: [] for test in tests}
            elif kind == "broken":
                run.error = run.error or quoted(said[0])
            else:  # done; or pytest was ended from within a test
                assert not self._asked
                return True

    def _order(self, test: str) -> list[Verifier]:
        order = self._orders[test]
        if not order:
            order += self._verifiers
            SystemRandom().shuffle(order)
        return order

    def _answered(self, verify: Callable[..., Any], example: str, completion: str) -> tuple[tuple[bool, Any], str]:
        """What a verifier answers, and in what that is otherwise than the correct ones' answers."""
        try:
            values = _values(example, completion)
        except (ValueError, SyntaxError, MemoryError):
            return (True, "expected an example and a completion of Python's plain types"), ""
        right = _right_answers(example, completion, tuple(self._right.values()))
        start = time.monotonic()
        found = answer(verify, *values)
        slow = time.monotonic() - start > _SLOW
        return found, difference(found, right) or ("reward" if slow else "")


@lru_cache(maxsize=256)
def _values(example: str, completion: str) -> tuple[Any, Any]:
    return ast.literal_eval(example), ast.literal_eval(completion)


@lru_cache(maxsize=256)
def _right_answers(example: str, completion: str, correct: tuple[Callable[..., Any], ...]) -> list[tuple[bool, Any]]:
    return [answer(verify, *_values(example, completion)) for verify in correct]


@lru_cache(maxsize=1024)
def _compiled(source: str, id_: str) -> CodeType:
    return compile(source, f"verifier {id_}", "exec")


def loaded(verifier: Verifier) -> Callable[..., Any]:
    """Its function, new: it remembers no call."""
    namespace: dict[str, Any] = {}
    exec(_compiled(verifier.source, verifier.id), namespace)
    verify: Callable[..., Any] = namespace["verify"]
    return verify


def answer(verify: Callable[..., Any], example: object, completion: object) -> tuple[bool, Any]:
    """``(False, result)``, or ``(True, the exception's words)``."""
    try:
        return False, verify(example, completion)
    except Exception as error:
        return True, described(error)


def difference(found: tuple[bool, Any], right: Sequence[tuple[bool, Any]]) -> str:
    """In what an answer is otherwise than each of the right ones: ``reward`` (or it raised), ``details``, or ""."""
    if _essence(found) in map(_essence, right):
        return ""
    return (
        "reward" if found[0] or all(repr(found[1]["reward"]) != repr(one[1]["reward"]) for one in right) else "details"
    )


def _essence(found: tuple[bool, Any]) -> str:
    """An answer without what the spec leaves open; 1, 1.0 and True are three things here."""
    raised, result = found
    if not raised and isinstance(result.get("details"), dict):
        result = result | {"details": {k: v for k, v in result["details"].items() if k not in _LEFT_OPEN}}
    return json.dumps([raised, result], sort_keys=True)
