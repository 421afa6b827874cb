"""Machinery: the workers of a Dask cluster as an Executor, for ``--cluster`` (docs/more_machines.md: how to start one).

Covered
    A worker without this lab, or with another one, is refused by its name; one that joins later, before its first piece
    of work. One that is killed: another takes over. However a command ends, none of its work goes on.
Not covered
    Whoever reaches the scheduler's port can run anything on the workers: let it be a network of your own.
"""

import gc
import hashlib
import logging
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Executor, Future
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any

from course import process
from course.artifacts.environment import PACKAGES, version_of
from course.artifacts.scorer_identity import installed
from course.errors import UserError
from course.text import clipped, described, quoted

_SECONDS = 5  # that a scheduler has to answer
_THREADS = "OPENBLAS_NUM_THREADS"  # why: course.command; Dask's nanny sets it for its workers
_ASKED = "__import__('course.cluster').cluster.installed_lab()"  # eval, a builtin, is there without the lab too

Lab = dict[str, str | None]


@cache
def installed_lab() -> Lab:
    """What has to be equal on every machine. As it is when first asked: files that change later are not what runs."""
    files, course = hashlib.sha256(), Path(__file__).parent
    for path in sorted(course.rglob("*.py")):
        files.update(f"{path.relative_to(course).as_posix()} {path.stat().st_size}\n".encode() + path.read_bytes())
    lab: Lab = {"files of course/": files.hexdigest(), "scorer": installed().scorer_fingerprint}
    lab |= {"Python": f"{sys.version_info.major}.{sys.version_info.minor}", _THREADS: os.environ.get(_THREADS)}
    return lab | {name: version_of(name) for name in PACKAGES}


def refuse_other_lab(worker: str, theirs: Any, ours: Lab) -> None:
    """Raises UserError unless the labs are equal. ``theirs``: the worker's lab, or what went wrong there."""
    expected = f"worker {quoted(worker)}: expected this lab on it, got"
    if isinstance(theirs, BaseException):
        raise UserError(f"{expected} none: {described(theirs)}")
    for what in ours:
        if theirs.get(what) != ours[what]:
            both = f"{clipped(str(theirs.get(what)), 12)}, and here {clipped(str(ours[what]), 12)}"
            raise UserError(f"{expected} other {what}: {both}; start it anew, in the same lab")


def work(lab: Lab, function: Callable[..., Any], *arguments: Any) -> Any:
    """A piece of work, on a worker. ``lab``: of the command."""
    from distributed import get_worker

    process.fix_int_digits()
    refuse_other_lab(str(get_worker().name), installed_lab(), lab)  # one that joined later was not asked yet
    return function(*arguments)


class _Workers(Executor):
    def __init__(self, client: Any) -> None:
        self.client = client
        self._dask = client.get_executor(pure=False)
        self._keys = (f"{client.id}-{number}" for number in count())

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = self._dask.submit(work, installed_lab(), function, *arguments, key=next(self._keys))
        return future

    def end(self) -> None:
        """Cancel what has not begun, and wait until what has is over: it could still write."""
        if self.client.status == "running":
            self._dask.shutdown(wait=False)
            while any(self.client.run(is_at_work, self.client.id, on_error="ignore").values()):
                sleep(0.1)
        self.client.close()


def is_at_work(client: str, dask_worker: Any) -> bool:
    return any(str(task.key).startswith(client) for task in dask_worker.state.all_running_tasks)


@contextmanager
def machines(address: str) -> Iterator[Executor]:
    """The workers of the cluster whose scheduler has this address; at the end none of them is at work for it.

    Raises UserError where nobody answers, a worker is refused, or the cluster is lost.
    """
    try:
        from distributed import KilledWorker
    except ImportError:
        mend = "install it with: python3 -m pip install distributed"
        raise UserError(f"--cluster: expected the package distributed, got a Python without it; {mend}") from None
    where = f"--cluster {quoted(address)}"
    logging.disable()  # Dask's own words: what matters of them is raised
    workers = _Workers(_connected(address, where))
    try:
        names = {key: one["name"] for key, one in workers.client.scheduler_info(n_workers=-1)["workers"].items()}
        if not names:
            raise UserError(f"{where}: expected workers, got none yet; start them first")
        for worker, lab in workers.client.run(eval, _ASKED, on_error="return").items():
            refuse_other_lab(f"{names.get(worker)} at {worker}", lab, installed_lab())
        yield workers
    except KilledWorker:
        got = "got several that died of one piece of work; have they memory enough?"
        raise UserError(f"{where}: expected workers that finish, {got}") from None
    except ModuleNotFoundError as error:
        if not str(error.name).startswith("course"):
            raise
        raise UserError(f"{where}: expected this lab on each worker, got one that joined without it") from None
    except CancelledError:
        raise UserError(f"{where}: expected a scheduler that stays, got none any more") from None
    finally:
        workers.end()
        logging.disable(logging.NOTSET)


def _connected(address: str, where: str) -> Any:
    from distributed import Client

    try:
        with warnings.catch_warnings(action="ignore"):  # other versions of Dask: what matters is asked next
            return Client(address, timeout=_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        got = described(error)
    gc.collect()  # a client that was half made would wait for ten seconds when Python ends
    raise UserError(f"{where}: expected a Dask scheduler, such as tcp://host:8786, got {got}")
