"""Machinery: the judge of a student's tests. Each test is called with every version of the function it is about.

The file runs once under pytest, in this process, as its owner's code. The test takes the function as a fixture, such as
``rubric``, and a plugin puts one version after the other there. The file on disk stays as it is. Python's own generator
gets one seed, so that a test draws the same with each version.

Covered
    A test that uses up its time, also inside a regular expression, and a file that does so while it is loaded: on a
    system with ``setitimer``; elsewhere a note says that only Ctrl-C ends it. Tests that exit, print, or are skipped.
    A test with fixtures of its own, ``setup_method`` among them, is set up once for each version.
Not covered
    ``os._exit`` and a crash of Python end the check. A test that waits without using the processor, a fixture that
    hangs. A test that fails by chance, or remembers what an earlier version answered. A version that changes its
    arguments changes them for the versions after it.
"""

import bdb
import random
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

from check.versions import Version
from course.errors import UserError
from course.starting import PYTHON
from course.text import describe_error, quote

_TEST_SECONDS = 10.0  # of the processor, for a test with one version
_WITHOUT = "logging cacheprovider terminal faulthandler unraisableexception threadexception warnings"
_OPTIONS = [
    "--disable-plugin-autoload",
    "--noconftest",
    "--assert=plain",
    "--import-mode=importlib",
    "--capture=no",
    "--override-ini=addopts=",
    *[f"-pno:{name}" for name in _WITHOUT.split()],
]


class Cell(NamedTuple):
    """What came of one test with one version. ``ending``: passed, failed or skipped.

    ``words``: of an exception that is no failed assertion, safe to print.
    """

    ending: str
    words: str = ""


class Outcomes(NamedTuple):
    """``cells``: test -> id of a version -> what came of the two; none for a test that did not run.

    ``error``: why there is nothing to judge. ``left_out``: tests that do not take the fixture.
    """

    cells: dict[str, dict[str, Cell]]
    error: str = ""
    left_out: int = 0


class _TimeIsUp(BaseException):
    """So that no ``except Exception`` of a test takes it for a fault of the function."""


def run_tests(path: Path, fixture: str, versions: Sequence[Version]) -> Outcomes:
    """Each test of a file that takes the fixture, with each version."""
    if not path.is_file():
        return Outcomes({}, "no such file")
    if find_spec("pytest") is None:
        raise UserError(f"{path}: expected pytest, got a Python without it; {PYTHON} lab.py fetches it")
    import pytest

    sys.modules.pop(path.stem, None)  # of an earlier run: pytest would not read the file again
    sys.dont_write_bytecode = True  # nor is a file that changed within a second read from its .pyc
    plugin = _Plugin(pytest, fixture, versions)
    with _timer(), redirect_stdout(sys.stderr):
        pytest.main([*_OPTIONS, f"--rootdir={path.parent}", str(path)], plugins=[plugin])
    if plugin.interrupted:
        raise KeyboardInterrupt
    missing = "" if plugin.cells else f"no test that takes the fixture {fixture}, as def test_it({fixture}) does"
    return Outcomes(plugin.cells, plugin.error or missing, plugin.left_out)


@contextmanager
def _timer() -> Iterator[None]:
    """What uses up the time that ``_start_timer`` gives ends in ``_TimeIsUp``."""
    if not hasattr(signal, "setitimer"):
        print("note: on this system nothing but Ctrl-C ends a test that never ends", file=sys.stderr)
        yield
        return

    def end(*_: object) -> None:
        raise _TimeIsUp

    before = signal.signal(signal.SIGPROF, end)
    try:
        yield
    finally:
        _start_timer(0)
        signal.signal(signal.SIGPROF, before)


def _start_timer(seconds: float) -> None:
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


class _Plugin:
    """The hooks of pytest that give a test its versions, and note how it ended."""

    def __init__(self, pytest: Any, fixture: str, versions: Sequence[Version]) -> None:
        self._pytest = pytest
        self._fixture = fixture
        self._versions = versions
        self.cells: dict[str, dict[str, Cell]] = {}
        self.error = ""
        self.left_out = 0
        self.interrupted = False

    def pytest_configure(self, config: Any) -> None:
        config.option.tbstyle = "native"  # of a fixture that raises with each version; the others take seconds

    def pytest_collection(self) -> None:
        _start_timer(_TEST_SECONDS)

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """A test with fixtures of its own becomes one for each version, any other is called with all of them."""
        if self._fixture not in metafunc.fixturenames:
            return
        if metafunc._arg2fixturedefs.keys() <= {"request"}:
            metafunc.parametrize(self._fixture, [None], ids=[self._pytest.HIDDEN_PARAM])
        else:
            ids = [f"version={number}" for number in range(len(self._versions))]
            metafunc.parametrize(self._fixture, [version.function for version in self._versions], ids=ids)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        _start_timer(0)
        taking = [item for item in items if self._fixture in item.fixturenames]
        self.left_out = len(items) - len(taking)
        items[:] = taking
        self.cells = {_name_of(item): {} for item in items}

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if report.when == "collect":
            error = call.excinfo.value.__cause__ or call.excinfo.value
            is_late = isinstance(error, _TimeIsUp)
            self.error = "no end of the file before its first test" if is_late else quote(describe_error(error))

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self.interrupted = excinfo.type is KeyboardInterrupt

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        name = _name_of(pyfuncitem)
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        number = re.search(r"\bversion=(\d+)", pyfuncitem.name)
        for version in [self._versions[int(number[1])]] if number else self._versions:
            if self._fixture in arguments:
                arguments[self._fixture] = version.function
            vars(version.function).get("calls", []).clear()
            random.seed(0)
            cell = self._run(pyfuncitem.obj, arguments, is_first=version is self._versions[0])
            if cell is None:
                self.error = f"no end of {quote(name)} within {_TEST_SECONDS:.0f} s of processor time"
                pyfuncitem.session.shouldstop = self.error
                break
            self.cells[name][version.id] = cell
        return True

    def _run(self, test: Callable[..., object], arguments: dict[str, Any], *, is_first: bool) -> Cell | None:
        """How it ended; None if its time was up. What it prints is shown once, of the first version."""
        _start_timer(_TEST_SECONDS)
        try:
            with redirect_stdout(sys.stderr if is_first else StringIO()):
                test(**arguments)
        except (self._pytest.skip.Exception, self._pytest.xfail.Exception):
            return Cell("skipped")
        except (AssertionError, self._pytest.fail.Exception):
            return Cell("failed")
        except (KeyboardInterrupt, self._pytest.exit.Exception):
            raise
        except bdb.BdbQuit:  # the debugger's q
            raise KeyboardInterrupt from None
        except _TimeIsUp:
            return None
        except BaseException as error:  # an exit, too, is how a test ends
            return Cell("failed", quote(describe_error(error)))
        finally:
            _start_timer(0)
        return Cell("passed")


def _name_of(item: Any) -> str:
    """What the test is called in its file, without the version."""
    name = str(item.nodeid.partition("::")[2])
    return re.sub(r"\[version=\d+\]|\bversion=\d+-|-version=\d+\b", "", name)
