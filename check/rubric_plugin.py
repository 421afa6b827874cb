"""Machinery: the process in which a student's tests run. It asks for answers and reports results over a pipe.

Nothing of the course is left here for a student's code to find: ``course.isolation`` says how. Each test that takes
``rubric`` runs once for each verifier, of which it knows a number that says nothing; its other fixtures are made once.
A message is a line of JSON::

    <- [how many verifiers, [tests to leave out]]      -> ["broken", why]
    -> ["collected", [tests], [those without rubric]]
    -> ["begin", test, number]     -> ["call", example, completion]  <- [raised, value]     -> ["end", ending, words]

What is sent is not believed: ``check.mutation``.
"""

import json
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_LAB = Path(__file__).resolve().parents[1]
if __name__ == "__main__":  # in isolated mode the lab is not on the path
    sys.path.append(str(_LAB))

from course.isolation import forget_packages, keep_out, message_of, take_pipe  # noqa: E402

_NO = ("logging", "capture", "cacheprovider", "terminal", "faulthandler", "unraisableexception", "threadexception")


class VerifierRaised(Exception):
    """The verifier ended in an exception, which it must not."""


class Plugin:
    """The hooks of pytest that give a test its verifiers and report how it ended."""

    def __init__(self) -> None:
        self._pytest = import_module("pytest")  # course and check do without it
        self._in, self._out = take_pipe(3)
        self._verifiers, self._without = self._read()

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
        items[:] = [item for item in items if "rubric" in item.fixturenames and _name(item) not in self._without]
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
    return f"{type(error).__name__}: {message_of(error)}"


def main() -> None:
    sys.path.remove(str(_LAB))
    forget_packages(["course"])
    plugin = Plugin()
    sys.addaudithook(keep_out("tests need the fixture rubric only", [one.name for one in _LAB.iterdir()]))
    words = ["-c", "pytest.ini", "--noconftest", "--assert=plain", "--import-mode=importlib", "test_rubric.py"]
    import_module("pytest").main([*words, *(f"-pno:{name}" for name in _NO)], plugins=[plugin])
    plugin.send("done")


if __name__ == "__main__":
    main()
