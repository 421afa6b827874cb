"""Machinery: the process in which a student's tests run. It asks for answers and reports results over a pipe.

Nothing of the course is imported. Each test that takes ``rubric`` runs once for each verifier, of which it knows a
number that says nothing; its other fixtures are made once. A message is a line of JSON::

    <- how many verifiers          -> ["collected", [tests], [those without rubric]]     -> ["broken", why]
    -> ["begin", test, number]     -> ["call", example, completion]  <- [raised, value]     -> ["end", outcome, words]

Covered
    Looks into the lab: its files can neither be opened nor imported here, and no program is started that could.
Not covered
    Code that means harm and goes round Python. What is sent is not believed: ``course.exercises.mutation``.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_LAB_FOLDER, _PACKAGES = os.path.realpath(Path(__file__).parents[2]), os.path.realpath(sys.prefix)
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile", "os.link")
_MOST_WORDS = 200
_NO = ("logging", "capture", "cacheprovider", "terminal", "faulthandler", "unraisableexception", "threadexception")


class VerifierRaised(Exception):
    """The verifier ended in an exception, which it must not."""


class Plugin:
    """The hooks of pytest that give a test its verifiers and report how it ended."""

    def __init__(self) -> None:
        self._pytest = import_module("pytest")  # of the tools for tests, and not of the lab's packages
        self._in, self._out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # what the tests read or print is no part of the pipe
            os.dup2(nowhere, stream)
        self._verifiers = self._read()

    def send(self, *message: object, wait: bool = False) -> None:
        """``wait``: for the next message, so that two go at once."""
        self._out.write(json.dumps(message).encode("ascii") + b"\n")
        if not wait:
            self._out.flush()

    def _read(self) -> Any:
        line = self._in.readline()
        return json.loads(line) if line else os._exit(1)

    def _rubric(self, example: object, completion: object) -> Any:
        """A value is sent as Python writes it, so it must be of Python's own plain types."""
        self.send("call", repr(example), repr(completion))
        raised, value = self._read()
        if raised:
            raise VerifierRaised(value)
        return value

    def pytest_generate_tests(self, metafunc: Any) -> None:
        if "rubric" in metafunc.fixturenames:
            metafunc.parametrize("rubric", [self._rubric], ids=[self._pytest.HIDDEN_PARAM])

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        left_out = [_name(item) for item in items if "rubric" not in item.fixturenames]
        items[:] = [item for item in items if "rubric" in item.fixturenames]
        self.send("collected", [_name(item) for item in items], left_out)

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if report.when == "collect":
            self.send("broken", _says(call.excinfo.value.__cause__ or call.excinfo.value))

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        for number in range(self._verifiers):
            self.send("begin", _name(pyfuncitem), number)
            self.send("end", *self._ended(pyfuncitem.obj, arguments), wait=True)
        return True

    def _ended(self, test: Any, arguments: dict[str, Any]) -> tuple[str, str]:
        """How a test ended, and what an exception says."""
        pytest = self._pytest
        try:
            test(**arguments)
        except (pytest.skip.Exception, pytest.xfail.Exception):
            return "skipped", ""
        except (AssertionError, pytest.fail.Exception):
            return "assertion", ""
        except (pytest.exit.Exception, KeyboardInterrupt):
            raise
        except BaseException as error:  # an exit, too, is how a test ends
            return "exception", _says(error)
        return "passed", ""


def _name(item: Any) -> str:
    return str(item.nodeid.partition("::")[2])


def _says(error: BaseException) -> str:
    try:
        return f"{type(error).__name__}: {error}"[:_MOST_WORDS]
    except Exception:
        return "an exception without words"


def forbid(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook: keeps the lab's files, and other programs, from the tests."""
    if event.startswith(_PROGRAMS):
        raise PermissionError(f"tests need the fixture rubric only, not {event}")
    if event == "open" and isinstance(arguments[0], (str, bytes)):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if path.startswith(_LAB_FOLDER + os.sep) and not path.startswith(_PACKAGES + os.sep):
            raise PermissionError(f"tests need the fixture rubric only, not {path[len(_LAB_FOLDER) + 1 :]}")


def main() -> None:
    plugin = Plugin()
    sys.addaudithook(forbid)
    words = ["-c", "pytest.ini", "--noconftest", "--assert=plain", "--import-mode=importlib", "test_rubric.py"]
    import_module("pytest").main([*words, *(f"-pno:{name}" for name in _NO)], plugins=[plugin])
    plugin.send("done")


if __name__ == "__main__":
    main()
