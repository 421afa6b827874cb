"""Machinery: the process in which a student's tests run; it asks for rewards and reports results over a pipe.

It imports nothing of the course. Each test that takes ``rubric`` runs once for each verifier, of which it
knows a number that says nothing. What it sends is a line of JSON, what it gets is another::

    <- [verifiers, [tests to leave out]]
    -> ["collected", [tests], tests that take no rubric]   -> ["broken", why]
    -> ["begin", test, number]   -> ["call", example, completion]  <- [raised, value]   -> ["end", outcome, words]

Covered
    Looks into the lab: its files cannot be opened or imported here, and no program started that could.
Not covered
    Code that means harm and leaves Python. What is sent is not believed: ``course.exercises.mutation``.
"""

import json
import os
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

_LAB = os.path.realpath(Path(__file__).parents[2])
_PACKAGES = os.path.realpath(sys.prefix)
_FORBIDDEN = {"subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn"}
_FORBIDDEN |= {"os.startfile", "os.link"}
_MOST_WORDS = 200
_NUMBER = re.compile(r"-?rubric[0-9]+-?")


class VerifierRaised(Exception):
    """The verifier ended in an exception, which it must not."""


class Pipe:
    """The lines to and from the process that has the verifiers. Nothing else reaches the three streams."""

    def __init__(self) -> None:
        self._in, self._out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nowhere, stream)

    def send(self, *message: object, wait: bool = False) -> None:
        """``wait``: until the next message, so that two are sent at once."""
        self._out.write(json.dumps(message).encode("ascii") + b"\n")
        if not wait:
            self._out.flush()

    def read(self) -> Any:
        line = self._in.readline()
        return json.loads(line) if line else os._exit(1)


class Rubric:
    """What a test gets: one after the other of these verifiers; which they are is not known here."""

    __name__ = "rubric"

    def __init__(self, pipe: Pipe, numbers: Sequence[int]) -> None:
        self._pipe, self.numbers = pipe, numbers

    def __call__(self, example: object, completion: object) -> Any:
        """A value is sent as Python writes it: only what is made of Python's own plain types can be."""
        self._pipe.send("call", repr(example), repr(completion))
        raised, value = self._pipe.read()
        if raised:
            raise VerifierRaised(value)
        return value


class Plugin:
    """The hooks of pytest that give a test its verifiers and report how it ended.

    A test that takes nothing but ``rubric`` and parameters is one item, called in a loop. Any other is an item for each
    verifier, with fixtures of its own.
    """

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe
        verifiers, self._left_out = pipe.read()
        self._all = range(verifiers)
        self._single = False  # whether the test that runs is an item for each verifier
        self._said = ("", "")  # how a test ended: outcome, and what an exception says
        pytest = import_module("pytest")
        self._ending = (pytest.exit.Exception, KeyboardInterrupt)
        self._skipped = (pytest.skip.Exception, pytest.xfail.Exception)
        self._failed = (AssertionError, pytest.fail.Exception)

    def pytest_generate_tests(self, metafunc: Any) -> None:
        if "rubric" not in metafunc.fixturenames:
            return
        marks = list(metafunc.definition.iter_markers())
        given = {"rubric"}.union(*(re.findall(r"\w+", str(mark.args[:1])) for mark in marks))
        alone = given.issuperset(metafunc.fixturenames) and all(mark.name == "parametrize" for mark in marks)
        rubrics = [Rubric(self._pipe, some) for some in ([self._all] if alone else [[number] for number in self._all])]
        metafunc.parametrize("rubric", rubrics, ids=[f"rubric{number}" for number in range(len(rubrics))])

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        tests = [item for item in items if _numbers(item)]
        self._pipe.send("collected", list(dict.fromkeys(map(_name, tests))), len(items) - len(tests))
        items[:] = [item for item in tests if _name(item) not in self._left_out]

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if report.when == "collect":
            self._pipe.send("broken", _words(call.excinfo.value.__cause__ or call.excinfo.value))

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool | None:
        numbers = _numbers(pyfuncitem)
        if len(numbers) == 1:
            return None  # as pytest does
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        for number in numbers:
            self._pipe.send("begin", _name(pyfuncitem), number)
            said = ("passed", "")
            try:
                pyfuncitem.obj(**arguments)
            except self._ending:
                raise
            except BaseException as error:  # an exit, too, is how a test ends
                said = self._outcome(error)
            self._pipe.send("end", *said, wait=True)
        return True

    def pytest_runtest_setup(self, item: Any) -> None:
        self._said = ("exception", "in a fixture")
        numbers = _numbers(item)
        self._single = len(numbers) == 1
        if self._single:
            self._pipe.send("begin", _name(item), numbers[0])

    def pytest_runtest_makereport(self, call: Any) -> None:
        if call.when == "call":
            self._said = self._outcome(call.excinfo.value) if call.excinfo else ("passed", "")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when == "call" and (report.skipped or hasattr(report, "wasxfail")):
            self._said = ("skipped", "")

    def pytest_runtest_logfinish(self) -> None:
        if self._single:
            self._pipe.send("end", *self._said, wait=True)

    def _outcome(self, error: BaseException) -> tuple[str, str]:
        if isinstance(error, self._skipped):
            return "skipped", ""
        return ("assertion", "") if isinstance(error, self._failed) else ("exception", _words(error))


def _numbers(item: Any) -> Sequence[int]:
    rubric = item.callspec.params.get("rubric") if hasattr(item, "callspec") else None
    return rubric.numbers if isinstance(rubric, Rubric) else []


def _name(item: Any) -> str:
    """A test's name without its file and without the verifier."""
    return _NUMBER.sub("", item.nodeid.partition("::")[2]).replace("[]", "")


def _words(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_MOST_WORDS]
    except Exception:
        return "an exception without words"


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
