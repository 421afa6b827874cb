"""Machinery: the workers of a Dask cluster as an Executor, for ``--cluster`` (docs/more_machines.md: how to start one).

Covered
    A worker without this lab, or with another one (the bytes of the course, the scorer, Python, packages), is refused
    by its name; one that joins later is asked before its first piece of work. A worker that is killed: another one
    takes over. An address that nobody answers. However the command ends, none of its work goes on.
Not covered
    Whoever can reach the scheduler's port can run anything on the workers: Dask's own TLS, or a network of your own. A
    processor on which NumPy rounds otherwise.
"""

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
from time import monotonic, sleep
from typing import Any

from course import process
from course.artifacts.environment import PACKAGES, version_of
from course.artifacts.scorer_identity import installed
from course.errors import UserError
from course.text import clipped, described, quoted

_COURSE = Path(__file__).parent
_CONNECT = 5  # seconds
_ENDING = 60  # seconds that work gets to notice that nobody waits for it
_ONE_THREAD = "OPENBLAS_NUM_THREADS"  # course.command says why; a Dask worker has it from its nanny

Lab = dict[str, str]  # what has to be equal on every machine -> what it is here


@cache
def installed_lab() -> Lab:
    """The lab of this process, as it was when first asked: files that change later are not the code that runs."""
    files = hashlib.sha256()
    for path in sorted(_COURSE.rglob("*.py")):
        files.update(f"{path.relative_to(_COURSE).as_posix()}\n{path.stat().st_size}\n".encode() + path.read_bytes())
    found = {"files of course/": files.hexdigest(), "scorer": installed().scorer_fingerprint}
    found |= {"Python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    found |= {_ONE_THREAD: os.environ.get(_ONE_THREAD, "not set")}
    return found | {name: version_of(name) or "not installed" for name in PACKAGES}


def refuse_other_lab(worker: str, theirs: object) -> None:
    """Raises UserError unless a worker has this process's lab. ``theirs``: its lab, or what went wrong there."""
    if not isinstance(theirs, dict):
        got = described(theirs) if isinstance(theirs, BaseException) else quoted(str(theirs))
        raise UserError(f"worker {quoted(worker)}: expected this lab on it, got none that can be imported: {got}")
    for what, ours in installed_lab().items():
        if (got := str(theirs.get(what))) != ours:
            both = f"{clipped(ours, 12)} as here, got {clipped(got, 12)}"
            raise UserError(f"worker {quoted(worker)}: expected the same {what}, {both}; start it anew in the same lab")


def work(lab: Lab, function: Callable[..., Any], *arguments: Any) -> Any:
    """On a worker: a piece of work, if this is the lab it comes from."""
    from distributed import get_worker

    process.fix_int_digits()
    if lab != installed_lab():
        refuse_other_lab(f"{get_worker().name}, which joined later", lab)
    return function(*arguments)


class _Workers(Executor):
    """Dask's own executor, with each piece of work in ``work``."""

    def __init__(self, client: Any) -> None:
        self._executor = client.get_executor(pure=False)
        self._keys = (f"{client.id}-{number}" for number in count())

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        future: Future[Any] = self._executor.submit(work, installed_lab(), function, *arguments, key=next(self._keys))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self._executor.shutdown(wait=wait and not cancel_futures)


@contextmanager
def machines(address: str) -> Iterator[Executor]:
    """The workers of the cluster whose scheduler has this address; none of them is at work for it any more at the end.

    Raises UserError where nobody answers, where a worker is refused, and where the cluster is lost.
    """
    try:
        from distributed import Client, KilledWorker
    except ImportError:
        mend = "install it with: python3 -m pip install distributed"
        raise UserError(f"--cluster: expected the package distributed, got a Python without it; {mend}") from None
    logging.disable()  # its own words on lost connections: what matters of them is raised
    where = f"--cluster {quoted(address)}"
    try:
        with warnings.catch_warnings(action="ignore"):  # other versions of Dask: what matters is asked below
            client = Client(address, timeout=_CONNECT, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        got = f"no answer within {_CONNECT} seconds" if isinstance(error, TimeoutError) else described(error)
        raise UserError(f"{where}: expected a Dask scheduler, such as tcp://host:8786, got {got}") from None
    executor = _Workers(client)
    try:
        _check_workers(client, where)
        yield executor
    except KilledWorker:
        got = "got several that were killed by one piece of work; is their memory large enough?"
        raise UserError(f"{where}: expected the workers to finish, {got}") from None
    except ModuleNotFoundError as error:
        if not (error.name or "").startswith("course"):
            raise
        raise UserError(f"{where}: expected this lab on each worker, got one that joined later without it") from None
    except CancelledError:
        raise UserError(f"{where}: expected a scheduler that stays, got none any more") from None
    finally:
        _end(client, executor)
        logging.disable(logging.NOTSET)


def _check_workers(client: Any, where: str) -> None:
    workers = client.scheduler_info(n_workers=-1)["workers"]
    if not workers:
        raise UserError(f"{where}: expected workers, got none yet; start them first")
    asked = "__import__('course.cluster').cluster.installed_lab()"  # a worker without the lab knows this builtin
    for worker, lab in client.run(eval, asked, on_error="return").items():
        refuse_other_lab(f"{workers[worker]['name']} at {worker}", lab)


def _end(client: Any, executor: Executor) -> None:
    """Cancel what is not done, and wait until no worker is at work for us: it could still write."""
    if client.status == "running":
        executor.shutdown(cancel_futures=True)
        until = monotonic() + _ENDING
        while monotonic() < until and any(client.run(_at_work, client.id, on_error="ignore").values()):
            sleep(0.1)
    client.close()


def _at_work(client: str, dask_worker: Any) -> bool:
    return any(str(task.key).startswith(client) for task in dask_worker.state.all_running_tasks)
