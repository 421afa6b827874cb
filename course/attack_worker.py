"""A verifier asked in one worker process, because other people's verifiers hang, crash and exit.

    with Worker("mine.py:verify", None) as worker: worker.answers([(example, "Final: 7")])

The worker loads it as a ``Guest``. Questions go through a pipe, and one ``Answer`` comes back for each. If none comes
within 5 s (30 s for a worker's first text, whose call may import packages), or the worker ends, that text has no
reward, and a new worker is asked about the rest.

Covered
    A verifier that never returns, inside a regular expression too; that ends its process, or forks it. The kernel ends
    the worker with the command, however the command ends: on Linux at once, on macOS within 35 s. What a verifier
    started itself ends with its worker, unless it left the group.
Not covered
    Code that means harm: it runs with your rights. On Windows a worker that hangs outlives a command that was killed.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, NamedTuple, Self

from course.command import fix_int_digits
from course.datasets.records import Task
from course.errors import UserError
from course.guest import Answer, OwnRubric

ANSWERING = 5.0  # seconds for one text
LOADING = 30.0  # to load the file; also for the first text of a worker
_PR_SET_PDEATHSIG = 1


class Facts(NamedTuple):
    """What the worker says of the verifier once it is loaded; see ``OwnRubric``."""

    name: str
    function: str
    call: str
    is_guess: bool
    hint: str
    sha256: str  # of its file, and of the modules of its owner's that this imported while it was loaded


class Stopped(Exception):
    """The worker gave no answer. The words say why."""


class Worker:
    """``with Worker(place, call) as worker``: raises UserError where there is no such verifier, or it does not load.

    ``seconds``: for all questions; ``answers`` raises TimeoutError after them. ``facts``: of the verifier.
    """

    def __init__(self, place: str, call: str | None, seconds: float = float("inf")) -> None:
        self._verifier = (place, call)
        self._deadline = monotonic() + seconds
        self._process: BaseProcess | None = None
        self._pipe: Connection
        self._seconds_for_next: float  # LOADING for the first text of a worker, then ANSWERING

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def answers(self, questions: Sequence[tuple[Task, str]]) -> list[Answer]:
        """For each question a reward, or the reason for none. Raises TimeoutError."""
        answers: list[Answer] = []
        while len(answers) < len(questions):
            if self._process is None:
                self._start()
            self._pipe.send(questions[len(answers) :])
            try:
                while len(answers) < len(questions):
                    answers.append(self._receive(self._seconds_for_next))
                    self._seconds_for_next = ANSWERING
                    if monotonic() > self._deadline:
                        self._end()
                        raise TimeoutError
            except Stopped as stopped:
                answers.append(Answer(None, failure=str(stopped), has_stopped=True))
        return answers

    def _start(self) -> None:
        self._seconds_for_next = LOADING
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=serve, args=(theirs, os.getpid(), *self._verifier))
        self._process.start()
        theirs.close()
        try:
            loaded = self._receive(LOADING)
        except Stopped as stopped:
            place, _ = self._verifier
            raise UserError(f"{place}: cannot load this verifier, or try it: {stopped}; fix the file") from None
        if isinstance(loaded, str):
            raise UserError(loaded)
        self.facts: Facts = loaded

    def _receive(self, seconds: float) -> Any:
        """What the worker sends next. Raises Stopped where that is nothing."""
        assert self._process is not None
        try:
            if not self._pipe.poll(seconds):
                raise Stopped(f"no answer within {seconds:g} s")
            return self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(ANSWERING)
            status = self._process.exitcode
            self._end()
            raise Stopped(f"an end with exit status {status}") from None
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        if self._process is None:
            return
        if os.name == "posix":
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.kill()
        self._process.join()
        self._pipe.close()
        self._process = None


def serve(pipe: Connection, parent: int, place: str, call: str | None) -> None:
    """The worker: load the verifier, then answer until the pipe is closed."""
    end_with(parent)
    fix_int_digits()
    os.dup2(2, 1)  # what it prints belongs to nobody's answer
    sys.breakpointhook = lambda *_, **__: None  # nobody sits at this process
    try:
        verifier = OwnRubric(place, call)
    except UserError as error:
        pipe.send(str(error))
        return
    worker = os.getpid()
    digest = verifier.settings()["rubric_sha256"]
    pipe.send(Facts(verifier.name, verifier.function, verifier.call, verifier.is_guess, verifier.hint, digest))
    with suppress(EOFError, OSError):
        while True:
            for question in pipe.recv():
                set_alarm(int(LOADING + ANSWERING))
                (answer,) = verifier.answers([question])
                set_alarm(0)
                if os.getpid() != worker:  # a copy that the verifier forked
                    os._exit(0)
                pipe.send(answer)


def end_with(parent: int) -> None:
    """From here on the kernel ends this process with its parent, and Ctrl-C is its parent's to answer."""
    if os.name == "posix":
        os.setpgid(0, 0)  # also lets the parent end what the verifier starts
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def set_alarm(seconds: int) -> None:
    """Where no signal tells of the parent's end, the worker ends itself, unless it has answered by then."""
    if os.name == "posix" and sys.platform != "linux":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
