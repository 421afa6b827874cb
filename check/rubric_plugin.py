"""Machinery: the process in which a student's tests run. It asks for answers and reports results over a pipe.

One process imports pytest and nothing of the student's. For each verifier it forks: the new process imports the
student's file, runs each test that takes ``rubric`` once, and ends. So no memory is left from one verifier to the
next, and no test can compare two of them. Where a system has no fork, each verifier gets a process started for it. A
message is a line of JSON::

    <- [a folder of its own, [tests to leave out]]     -> ["broken", why]
    -> ["collected", [tests], [those without rubric]]
    -> ["begin", test]     -> ["call", example, completion]  <- [raised, value]     -> ["end", ending, words]
    -> ["done"], from the process that ran the tests; then ["over"], from the one that forked it

What is sent is not believed: ``check.run_tests``.

Not covered
    Code that means harm, such as a test that sends these messages itself: ``course.limited_process``. A test that asks
    the scorer, and one that leaves word on disk for the next verifier's process. A person who reads the tests sees it.
"""

import gc
import json
import os
import signal
import sys
import tempfile
import threading
import time
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

_LAB = Path(__file__).resolve().parents[1]
_WORDS_KEPT = 200  # characters of what an exception says
_NO = ("logging", "capture", "cacheprovider", "terminal", "faulthandler", "unraisableexception", "threadexception")
_WORDS = [
    "-c",
    "pytest.ini",
    "--noconftest",
    "--assert=plain",
    "--import-mode=importlib",
    "test_rubric.py",
    *(f"-pno:{name}" for name in _NO),
]


class VerifierRaised(Exception):
    """The verifier ended in an exception, which it must not."""


class Plugin:
    """The hooks of pytest that give a test its verifier and report how the test ended."""

    def __init__(self, questions: BinaryIO, answers: BinaryIO, without: list[str]) -> None:
        self._pytest = import_module("pytest")  # course and check do without it
        self._in = questions
        self._out = answers
        self._without = without

    def send(self, *message: object, wait: bool = False) -> None:
        """``wait``: for the next message, so that two go at once."""
        self._out.write(json.dumps(message).encode("ascii") + b"\n")
        if not wait:
            self._out.flush()

    def _rubric(self, example: object, completion: object) -> Any:
        """A value is sent as Python writes it, so it must be of Python's own plain types."""
        self.send("call", repr(example), repr(completion))
        line = self._in.readline()
        if not line:  # nobody answers any more
            os._exit(1)
        raised, value = json.loads(line)
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
            self.send("broken", _describe(call.excinfo.value.__cause__ or call.excinfo.value))

    def pytest_pyfunc_call(self, pyfuncitem: Any) -> bool:
        arguments = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
        self.send("begin", _name(pyfuncitem))
        self.send("end", *self._run(pyfuncitem.obj, arguments), wait=True)
        return True

    def _run(self, test: Any, arguments: dict[str, Any]) -> tuple[str, str]:
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
            return "exception", _describe(error)
        return "passed", ""


def take_pipe() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output. From here on the first is empty, and what is written to the second is printed.

    From here on the process also ends with its parent. (On Windows it would end by itself.)
    """
    end_with_parent()
    questions = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    return questions, answers


def end_with_parent() -> None:
    """From here on this process ends within half a second of its parent."""
    threading.Thread(target=_exit_when_orphaned, args=(os.getppid(),), daemon=True).start()


def _exit_when_orphaned(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    if os.name == "posix" and os.getsid(0) == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def _name(item: Any) -> str:
    return str(item.nodeid.partition("::")[2])


def _describe(error: BaseException) -> str:
    """It may be anything's, so that even to ask what it says may raise."""
    try:
        words = str.__getitem__(str(error), slice(_WORDS_KEPT))
    except BaseException:
        words = "an exception without words"
    return f"{type(error).__name__}: {words}"


def run_file(folder: str, plugin: Plugin) -> None:
    """Run the tests in this folder, which is also the place for temporary files, with one verifier."""
    os.chdir(folder)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = folder
    tempfile.tempdir = None  # to be found anew
    import_module("pytest").main(_WORDS, plugins=[plugin])
    plugin.send("done")


def load_pytest() -> None:
    """Let pytest run a test of our own, so that each fork finds loaded what pytest loads on its way."""
    with tempfile.TemporaryDirectory() as folder:
        before = Path.cwd()
        os.chdir(folder)
        Path("pytest.ini").write_bytes(b"[pytest]\n")
        Path("test_rubric.py").write_bytes(b"def test_nothing(): assert True\n")
        import_module("pytest").main(_WORDS)
        os.chdir(before)
    sys.modules.pop("test_rubric", None)


def main() -> None:
    sys.path.append(str(_LAB))  # in isolated mode the lab is not on the path
    questions, answers = take_pipe()
    load_pytest()
    for line in iter(questions.readline, b""):
        folder, without = json.loads(line)
        plugin = Plugin(questions, answers, without)
        if not hasattr(os, "fork"):
            run_file(folder, plugin)
            os._exit(0)
        gc.freeze()  # the fork then copies less memory
        child = os.fork()
        if child == 0:
            end_with_parent()
            run_file(folder, plugin)
            os._exit(0)
        os.waitpid(child, 0)
        answers.write(b'["over"]\n')
        answers.flush()


if __name__ == "__main__":
    main()
