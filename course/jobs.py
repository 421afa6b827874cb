"""Machinery: where work is done that splits, such as one training for each seed: on an Executor that is handed in.

``--jobs`` takes processes of this machine, ``--cluster`` the workers of several (``course.cluster``).

Covered
    The same results in the same order, for any number of workers and in whatever order they finish. Ctrl-C, SIGTERM or
    a fault ends all workers at once; so does the end of this process, however it ends.
Not covered
    A worker that is killed from outside: the command ends, and says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import starmap
from typing import TYPE_CHECKING, Any, TypeVar

from course import process
from course.errors import UserError

if TYPE_CHECKING:  # loaded by the functions that start processes, so that --help answers at once
    from concurrent.futures import Executor

Value = TypeVar("Value")


@contextmanager
def workers(jobs: int, cluster: str | None) -> Iterator[Executor | None]:
    """What --jobs and --cluster ask for; None for one process: then work is done in this one."""
    if cluster is None:
        with processes(jobs) as executor:
            yield executor
    else:
        from course.cluster import machines

        with machines(cluster) as executor:
            yield executor


@contextmanager
def processes(count: int) -> Iterator[Executor | None]:
    """An executor with so many processes; None for one: then work is done in this process."""
    if count == 1:
        yield None
        return

    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    count = min(count, 61)  # Windows can wait for no more; what comes out is the same for any number
    with ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), initializer=_begin_worker) as executor:
        try:
            with process.signals_held():  # one raised in the midst of a start has left the pool unable to end
                for _ in range(count):
                    executor.submit(int)  # each starts a process
            yield executor
        except BrokenProcessPool:
            raise UserError("expected the workers to finish, got one that was killed; try fewer --jobs") from None
        except BaseException:
            for worker in multiprocessing.active_children():
                worker.kill()
            raise


def in_order(
    executor: Executor | None, function: Callable[..., Value], arguments: Sequence[tuple[Any, ...]]
) -> Iterator[Value]:
    """``function(*one)`` for each of the arguments, in their order. With an executor it and they must be picklable."""
    if executor is None:
        yield from starmap(function, arguments)
    else:
        yield from (future.result() for future in [executor.submit(function, *one) for one in arguments])


def _begin_worker() -> None:
    """Leave signals to the parent, and end when it ends: a worker alone would wait for work for ever."""
    import multiprocessing
    import threading

    process.ignore_signals()
    process.fix_int_digits()
    if parent := multiprocessing.parent_process():

        def follow() -> None:
            parent.join()
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()
