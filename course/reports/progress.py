"""Machinery: a progress bar for work of more than two seconds, for a person at a terminal and nobody else."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

_PATIENCE_SECONDS = 2.0
_EVERY_SECONDS = 0.1


def with_progress(
    items: Iterable[Item], what: str, total: int | None = None, tell: Callable[[Item], str] | None = None
) -> Iterable[Item]:
    """The items unchanged. The bar goes to stderr, and only to a terminal: never to a pipe, never in CI.

    ``tell``: what to say of the last item, beside the bar.
    """
    return _watched(items, what, total, tell) if _watched_by_a_person() else items


def _watched_by_a_person() -> bool:
    return sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("CI")


def _watched(items: Iterable[Item], what: str, total: int | None, tell: Callable[[Item], str] | None) -> Iterator[Item]:
    bar = None
    due = time.monotonic() + _PATIENCE_SECONDS
    try:
        for done, item in enumerate(items):
            if (now := time.monotonic()) > due:
                bar = bar or _bar(what, total)
                bar.update(bar.task_ids[0], completed=done, note=tell(item) if tell else "")
                due = now + _EVERY_SECONDS
            yield item
    finally:
        if bar:
            bar.stop()


def _bar(what: str, total: int | None):  # type: ignore[no-untyped-def]  # rich's types cost its import
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}", markup=False),
        console=Console(stderr=True),
        transient=True,
    )
    bar.add_task(what, total=total, note="")
    bar.start()
    return bar
