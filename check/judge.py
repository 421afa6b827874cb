"""Machinery: the judge of a student's tests. Each test is called with every version of the function it is about.

The file runs once under pytest, in this process, as its owner's code. The test takes the function as a fixture, such as
``rubric``, and a plugin puts one version after the other there, the right ones first. The file on disk stays as it is.
Python's own generator gets one seed, so that a test draws the same with each version.

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
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

from check.kills import Cell, TestRun
from check.result import CannotCheck
from check.versions import Version
from course.starting import PYTHON
from course.text import describe_error, quote

_TEST_SECONDS = 10.0  # of the processor, for a test with one version
_WITHOUT = (
    "logging",
    "cacheprovider",
    "terminal",
    "faulthandler",
    "unraisableexception",
    "threadexception",
    "warnings",
)
_OPTIONS = [
    "--disable-plugin-autoload",
    "--noconftest",
    "--assert=plain",
    "--import-mode=importlib",
    "--capture=no",
    "--override-ini=addopts=",
    *[f"-pno:{name}" for name in _WITHOUT],
]
Differs = Callable[[Any, Any], bool]


class _TimeIsUp(BaseException):
    """So that no ``except Exception`` of a test takes it for a fault of the function."""


def run_tests(
    path: Path, fixture: str, versions: Sequence[Version], differs: Differs | None = None, left_out: Sequence[str] = ()
) -> TestRun:
    """Each test of a file that takes the fixture, with each version. The first version is right.

    ``differs``: of two answers to one call. ``left_out``: names of tests that do not run.
    """
    if find_spec("pytest") is None:
        raise CannotCheck(f"{path}: expected pytest, got a Python without it; {PYTHON} lab.py fetches it")
    import pytest

    sys.modules.pop(path.stem, None)  # of an earlier run: pytest would not read the file again
    sys.dont_write_bytecode = True  # nor is a file that changed within a second read from its .pyc
    plugin = _Plugin(pytest, fixture, versions, differs, left_out)
    with _timer(), redirect_stdout(sys.stderr):
        pytest.main([*_OPTIONS, f"--rootdir={path.parent}", str(path)], plugins=[plugin])
    if plugin.interrupted:
        raise KeyboardInterrupt
    return TestRun(plugin.cells, plugin.error, plugin.left_out)


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

    def __init__(
        self, pytest: Any, fixture: str, versions: Sequence[Version], differs: Differs | None, without: Sequence[str]
    ) -> None:
        self._pytest = pytest
        self._fixture = fixture
        self._versions = {version.id: version for version in versions}
        self._functions = {version.id: self._watched(version.function) for version in versions}
        self._right = versions[0].function
        self._differs = differs
        self._without = without
        self._has_differed = False
        self.cells: dict[str, dict[str, Cell]] = {}
        self.error = ""
        self.left_out = 0
        self.interrupted = False

    def _watched(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, noting whether it answers otherwise than the right version."""

        def call(*arguments: Any, **named: Any) -> Any:
            try:
                answer = function(*arguments, **named)
            except BaseException:
                self._has_differed = True
                raise
            if self._differs is not None and self._differs(answer, self._right(*arguments, **named)):
                self._has_differed = True
            return answer

        return call

    def pytest_configure(self, config: Any) -> None:
        config.option.tbstyle = "native"  # of a fixture that raises with each version; the others take seconds

    def pytest_collection(self) -> None:
        _start_timer(_TEST_SECONDS)

    def pytest_generate_tests(self, metafunc: Any) -> None:
        """A test with fixtures of its own becomes one for each version, any other is called with all of them."""
        if self._fixture not in metafunc.fixturenames:
            return
        known = {self._fixture, "request"}
        for mark in metafunc.definition.iter_markers("parametrize"):
            names = mark.args[0]
            known.update(name.strip() for name in (names.split(",") if isinstance(names, str) else names))
        if known.issuperset(metafunc.fixturenames):
            metafunc.parametrize(self._fixture, [None], ids=[self._pytest.HIDDEN_PARAM])
        else:
            metafunc.parametrize(self._fixture, self._functions.values(), ids=self._functions)

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        _start_timer(0)
        taking = [item for item in items if self._fixture in item.fixturenames]
        self.left_out = len(items) - len(taking)
        items[:] = [item for item in taking if self._name(item) not in self._without]
        self.cells = {self._name(item): {} for item in items}

    def pytest_exception_interact(self, call: Any, report: Any) -> None:
        if report.when == "collect":
            error = call.excinfo.value.__cause__ or call.excinfo.value
            is_late = isinstance(error, _TimeIsUp)
            self.error = "no end of the file before its first test" if is_late else quote(describe_error(error))

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        self.interrupted = excinfo.type is KeyboardInterrupt

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        ids = [self._id_of(pyfuncitem)] if self._id_of(pyfuncitem) else list(self._versions)
        for id_ in ids:
            if self._fixture in arguments:
                arguments[self._fixture] = self._functions[id_]
            vars(self._versions[id_].function).get("calls", []).clear()
            self._has_differed = False
            random.seed(0)
            cell = self._run(pyfuncitem.obj, arguments, id_)
            if cell is None:
                self.error = f"no end of {quote(self._name(pyfuncitem))} within {_TEST_SECONDS:.0f} s of processor time"
                pyfuncitem.session.shouldstop = self.error
                break
            self.cells[self._name(pyfuncitem)][id_] = cell._replace(differed=self._has_differed)
        return True

    def _run(self, test: Callable[..., object], arguments: dict[str, Any], id_: str) -> Cell | None:
        """How it ended; None if its time was up. What it prints is shown once, of the first version."""
        shown = sys.stderr if self._functions[id_] is next(iter(self._functions.values())) else StringIO()
        _start_timer(_TEST_SECONDS)
        try:
            with redirect_stdout(shown):
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

    def _id_of(self, item: Any) -> str:
        """The version for which the test was set up, if it was set up for one alone."""
        function = item.callspec.params[self._fixture]
        return next((id_ for id_, each in self._functions.items() if each is function), "")

    def _name(self, item: Any) -> str:
        name, bracket, ids = str(item.nodeid.partition("::")[2]).partition("[")
        if id_ := self._id_of(item):
            others = f"-{ids[:-1]}-".replace(f"-{id_}-", "-", 1)[1:-1]
            return f"{name}[{others}]" if others else name
        return name + bracket + ids
