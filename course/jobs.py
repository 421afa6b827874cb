"""Machinery: work that splits, such as one training for each seed, is done on an Executor that the caller passes in.

``--jobs`` uses processes of this machine, ``--cluster`` (only of ``course.eval``) the workers of a Dask cluster.

Covered
    The same results in the same order, for any number of workers and in whatever order they finish. Ctrl-C or a fault
    ends all processes at once; so does the end of this process, however it ends. If a worker of a cluster is killed, a
    different worker does its work again.
Not covered
    A process that is killed from outside: the command ends with an error. Everybody who reaches the port of a scheduler
    can run any code on its workers, so use a network of your own.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar

from course.artifacts.scorer_identity import scorer_identity
from course.command import fix_int_digits
from course.errors import UserError
from course.limited_process import kill_all
from course.text import describe_error, quote, visible

if TYPE_CHECKING:  # loaded by the functions that start processes, so that --help answers at once
    from concurrent.futures import Executor, Future

Value = TypeVar("Value")

_SECONDS = 5  # that a scheduler has to answer
# Asked of a worker by way of eval, because a worker without the lab has eval too.
_FINGERPRINT_QUERY = "__import__('course.score_files').score_files.scorer_identity().scorer_fingerprint"


def map_in_order(
    executor: Executor | None,
    function: Callable[..., Value],
    arguments: Sequence[tuple[Any, ...]],
    in_flight: int | None = None,
) -> Iterator[Value]:
    """The function of each tuple of arguments, in their order. With an executor, everything must be picklable.

    ``in_flight``: how many at most are being worked on or wait for their turn; None: all of them.
    """
    if executor is None:
        yield from starmap(function, arguments)
        return
    waiting: deque[Future[Value]] = deque()
    for values in arguments:
        if len(waiting) == in_flight:
            yield waiting.popleft().result()
        waiting.append(executor.submit(function, *values))
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def workers(jobs: int, cluster: str | None) -> Iterator[tuple[Executor | None, int]]:
    """The executor that --jobs or --cluster asks for, and its number of workers; None if this process works alone."""
    if cluster is None:
        with processes(jobs) as executor:
            yield executor, jobs
    else:
        with machines(cluster) as (executor, count):
            yield executor, count


@contextmanager
def processes(count: int) -> Iterator[Executor | None]:
    """An executor with so many processes; None for one, because this process then does the work."""
    if count == 1:
        yield None
        return

    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    count = min(count, 61)  # Windows can wait for no more; what comes out is the same for any number
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_begin_worker) as executor:
        try:
            start_processes(executor, count)
            yield executor
        except BaseException as error:
            for worker in multiprocessing.active_children():
                worker.kill()  # one that waits to hand over its result would wait for ever
            if isinstance(error, BrokenProcessPool):
                raise UserError("a worker process was killed before it finished; use fewer --jobs") from None
            raise


def start_processes(executor: Executor, count: int) -> None:
    """Start all processes. Each inherits that SIGINT is blocked, because only this process reacts to Ctrl-C."""
    block = getattr(signal, "pthread_sigmask", None)  # Windows has none
    before = block(signal.SIG_BLOCK, [signal.SIGINT]) if block else ()
    try:
        for _ in range(count):
            executor.submit(int)  # each starts a process
    finally:
        if block:
            block(signal.SIG_SETMASK, before)


def _begin_worker() -> None:
    """Leave Ctrl-C to the parent, and end when it ends: a worker alone would wait for work for ever."""
    import multiprocessing
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    fix_int_digits()
    if parent := multiprocessing.parent_process():

        def follow() -> None:
            parent.join()
            kill_all()
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()


@contextmanager
def machines(address: str) -> Iterator[tuple[Executor, int]]:
    """The workers of the Dask cluster whose scheduler has this address, and their number.

    Raises UserError if nobody answers, if a worker has a different scorer or no lab, if the cluster is lost, or if a
    piece of work kills its workers.
    """
    try:
        from distributed import CancelledError, KilledWorker
    except ImportError:
        mend = "install it with: python3 -m pip install distributed"
        raise UserError(f"--cluster needs the package distributed, which is not installed; {mend}") from None
    import logging

    where = f"--cluster {quote(address)}"
    logging.disable()  # Dask's own words: what matters of them is raised
    try:
        with _connect(address, where) as client:
            names = {at: worker["name"] for at, worker in client.scheduler_info(n_workers=-1)["workers"].items()}
            if not names:
                raise UserError(f"{where}: this scheduler has no workers yet; start workers first")
            for at, fingerprint in client.run(eval, _FINGERPRINT_QUERY, on_error="return").items():
                refuse_other_scorer(f"{names.get(at)} at {at}", fingerprint, scorer_identity().scorer_fingerprint)
            yield client.get_executor(pure=False), len(names)
    except KilledWorker:
        why = "several workers died during the same piece of work; do they have enough memory?"
        raise UserError(f"{where}: {why}") from None
    except CancelledError:
        raise UserError(f"{where}: the connection to the scheduler was lost; run the command again") from None
    finally:
        logging.disable(logging.NOTSET)


def _connect(address: str, where: str) -> Any:
    """A client of the scheduler. Raises UserError if nobody answers."""
    import gc
    import warnings

    from distributed import Client

    try:
        with warnings.catch_warnings(action="ignore"):  # other versions of Dask: they work together, or they raise
            return Client(address, timeout=_SECONDS, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TypeError) as error:
        got = describe_error(error)
    gc.collect()  # a client that was half made would wait for ten seconds when Python ends
    raise UserError(f"{where}: cannot reach a Dask scheduler, such as tcp://host:8786, there: {got}")


def refuse_other_scorer(worker: str, theirs: object, ours: str) -> None:
    """Raise UserError unless the fingerprints are equal. ``theirs``: the worker's, or what it raised when asked."""
    if theirs != ours:
        got = describe_error(theirs) if isinstance(theirs, BaseException) else visible(str(theirs)[:12])
        expected = f"expected the scorer of this command, {ours[:12]}"
        raise UserError(f"worker {visible(worker)}: {expected}, got {got}; start the worker again, in the same lab")


def worker_name() -> str:
    """The name of the Dask worker that runs this, or the number of the process."""
    distributed = sys.modules.get("distributed")  # loaded in a worker of a cluster
    if distributed is None:
        return f"process {os.getpid()}"
    worker = distributed.get_worker()
    return f"{worker.name} at {worker.address}"
