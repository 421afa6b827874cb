"""Machinery: the process in which a student's tests run; it asks for rewards and reports results over a pipe.

It imports nothing of the course. Each test that takes ``rubric`` runs once for each verifier, under a number that says
nothing. What it sends is a line of JSON, what it gets is another::

    <- [verifiers, [tests to leave out]]
    -> ["collected", [tests], tests that take no rubric]   -> ["broken", what, line]
    -> ["begin", test, number]   -> ["call", example, completion]  <- [raised, value]   -> ["end", outcome]

Covered
    Looks into the lab: its files cannot be opened or imported here, and no program started that could.
Not covered
    Code that means harm and leaves Python. What is sent is not believed: ``course.exercises.mutation``.
"""

import json
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_LAB = os.path.realpath(Path(__file__).parents[2])
_PACKAGES = os.path.realpath(sys.prefix)
_FORBIDDEN = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn"}
_FORBIDDEN |= {"os.startfile", "os.link"}
_WORDS = 200
_NUMBER = re.compile(r"-?rubric[0-9]+-?")


class VerifierRaised(Exception):
    """The verifier ended in an exception, which it must not."""


class Pipe:
    """The lines to and from the process that has the verifiers. Nothing else reaches the two streams."""

    def __init__(self) -> None:
        self.lines, self.out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)

    def send(self, *message: object) -> None:
        self.out.write(json.dumps(message).encode("ascii") + b"\n")
        self.out.flush()

    def read(self) -> Any:
        line = self.lines.readline()
        return json.loads(line) if line else os._exit(1)


class Rubric:
    """One of the verifiers, which one it does not know."""

    __name__ = "rubric"

    def __init__(self, pipe: Pipe, number: int) -> None:
        self._pipe, self.number = pipe, number

    def __call__(self, example: object, completion: object) -> Any:
        """A value is sent as Python writes it: only what is made of Python's own plain types can be."""
        self._pipe.send("call", repr(example), repr(completion))
        raised, value = self._pipe.read()
        if raised:
            raise VerifierRaised(value)
        return value


class Plugin:
    """The hooks of pytest that give a test its verifiers and report how it ended."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        verifiers, self._left_out = pipe.read()
        self._rubrics = [Rubric(pipe, number) for number in range(verifiers)]
        self._error: BaseException | None = None
        self._outcome = self._words = ""
        self._assertions = (AssertionError, import_module("pytest").fail.Exception)

    def pytest_generate_tests(self, metafunc: Any) -> None:
        if "rubric" in metafunc.fixturenames:
            metafunc.parametrize("rubric", self._rubrics, ids=[f"rubric{rubric.number}" for rubric in self._rubrics])

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        names = [self._name(item) for item in items if self._number(item) is not None]
        self._pipe.send("collected", list(dict.fromkeys(names)), len(items) - len(names))
        items[:] = [item for item in items if self._number(item) is not None and self._name(item) not in self._left_out]

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if report.when == "collect":
            error = call.excinfo.value.__cause__ or call.excinfo.value
            frames, lines = error.__traceback__, [getattr(error, "lineno", None)]
            while frames:
                if frames.tb_frame.f_code.co_filename == report.fspath or "test_rubric" in str(
                    frames.tb_frame.f_code.co_filename
                ):
                    lines.append(frames.tb_lineno)
                frames = frames.tb_next
            self._pipe.send("broken", f"{type(error).__name__}: {error}", lines[-1])

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._outcome, self._error, self._words = "exception", None, "an exception in a fixture"

    def pytest_runtest_setup(self, item: Any) -> None:
        self._pipe.send("begin", self._name(item), self._number(item))

    def pytest_runtest_makereport(self, call: Any) -> None:
        self._error = call.excinfo and call.excinfo.value

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call":
            failed = "assertion" if isinstance(self._error, self._assertions) else "exception"
            self._outcome = failed if report.failed else report.outcome
            self._words = f"{type(self._error).__name__}: {self._error}"[:_WORDS] if failed == "exception" else ""
        elif report.when == "teardown":
            self._pipe.send("end", self._outcome, self._words)

    def _number(self, item: Any) -> int | None:
        rubric = getattr(item, "callspec", None) and item.callspec.params.get("rubric")
        return rubric.number if isinstance(rubric, Rubric) else None

    def _name(self, item: Any) -> str:
        return _NUMBER.sub("", item.nodeid.partition("::")[2]).replace("[]", "")


def forbid(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: keep the lab's files, and other programs, from the tests."""
    if event in _FORBIDDEN:
        raise PermissionError(f"expected tests that start no program, got {event}")
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path.startswith(_LAB + os.sep) and not path.startswith(_PACKAGES + os.sep):
            raise PermissionError(
                f"expected tests that need the fixture rubric only, got a look at {path[len(_LAB) + 1 :]}"
            )


def main() -> None:
    pytest = import_module("pytest")  # of the tools for tests, and not of the lab's packages
    pipe = Pipe()
    plugin = Plugin(pipe)
    sys.addaudithook(forbid)
    options = "-c pytest.ini -p no:cacheprovider -p no:terminal -p no:logging -p no:capture -p no:unraisableexception"
    words = f"{options} -p no:threadexception -p no:faulthandler --noconftest --assert=plain --import-mode=importlib"
    pytest.main([*words.split(), "test_rubric.py"], plugins=[plugin])
    pipe.send("done")


if __name__ == "__main__":
    main()
