"""Machinery: the process in which a student's tests run. It asks for answers and reports results over a pipe.

Nothing of the course is imported; how the pipe is kept from a student's code, and that from the lab, ``child`` takes
from here. Each test that takes ``rubric`` runs once for each verifier, of which it knows a number that says nothing;
its other fixtures are made once. A message is a line of JSON::

    <- [how many verifiers, [tests to leave out]]      -> ["broken", why]
    -> ["collected", [tests], [those without rubric]]
    -> ["begin", test, number]     -> ["call", example, completion]  <- [raised, value]     -> ["end", ending, words]

Covered
    Looks into the lab: its files can neither be opened, imported, linked to nor moved here, and no program is started
    that could. No folder is opened, for a path within it would not be known: ``shutil.rmtree`` cannot be used.
Not covered
    Code that means harm and goes round Python. What is sent is not believed: ``course.exercises.mutation``.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

_LAB, _PACKAGES = Path(__file__).resolve().parents[2], Path(sys.prefix).resolve()
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile")
_PATHS = ("open", "os.link", "os.symlink", "os.rename")  # what an audit event of these names is about, comes first
_NO = ("logging", "capture", "cacheprovider", "terminal", "faulthandler", "unraisableexception", "threadexception")


class VerifierRaised(Exception):
    """The verifier ended in an exception, which it must not."""


class Plugin:
    """The hooks of pytest that give a test its verifiers and report how it ended."""

    def __init__(self) -> None:
        self._pytest = import_module("pytest")  # of the tools for tests, and not of the lab's packages
        self._in, self._out = taken_pipe(3)
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
    return f"{type(error).__name__}: {words_of(error)}"


def words_of(error: BaseException) -> str:
    try:
        return str(error)[:200]
    except Exception:
        return "an exception without words"


def taken_pipe(streams: int) -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output, which the student's code then finds empty: of this many streams, from the first.

    From here on the process ends with its parent: a loop of the student's would go on for ever. (On Windows it would.)
    """
    threading.Thread(target=_end_without, args=(os.getppid(),), daemon=True).start()
    pipe = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(streams):
        os.dup2(nowhere, stream)
    return pipe


def _end_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def kept_out(why: str, names: Iterable[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook, which nothing takes away again once it is added. It raises IsADirectoryError where os.open is
    given a folder, and PermissionError where a program is started, or a file is opened, linked to or moved that stands
    below one of these names in the lab; the packages are spared.
    """
    paths = [Path(os.path.realpath(_LAB / name)) for name in names]
    closed = [path for path in paths if not _PACKAGES.is_relative_to(path)]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_PROGRAMS):
            raise PermissionError(f"{why}, not {event}")
        if event not in _PATHS or isinstance(arguments[0], int):
            return
        path = Path(os.fsdecode(arguments[0]))
        if event == "os.symlink":  # what it says is relative to the link
            path = Path(os.fsdecode(arguments[1])).parent / path
        path = Path(os.path.realpath(path))
        if event == "open" and arguments[1] is None and path.is_dir():  # by os.open, which alone gives a descriptor
            raise IsADirectoryError(f"{why}, not the folder {path}")  # tempfile then goes another way
        opens = event == "open"
        if any(path.is_relative_to(one) or (not opens and one.is_relative_to(path)) for one in closed):
            raise PermissionError(f"{why}, not {path.relative_to(_LAB) if path.is_relative_to(_LAB) else path}")

    return hook


def main() -> None:
    plugin = Plugin()
    sys.addaudithook(kept_out("tests need the fixture rubric only", [one.name for one in _LAB.iterdir()]))
    words = ["-c", "pytest.ini", "--noconftest", "--assert=plain", "--import-mode=importlib", "test_rubric.py"]
    import_module("pytest").main([*words, *(f"-pno:{name}" for name in _NO)], plugins=[plugin])
    plugin.send("done")


if __name__ == "__main__":
    main()
