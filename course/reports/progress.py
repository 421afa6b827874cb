"""Machinery: how far work is, for a person at a terminal and nobody else."""

import os
import sys
from collections.abc import Iterable, Iterator
from shutil import get_terminal_size
from time import monotonic
from typing import TypeVar

from course.asking import at_terminal
from course.reports.terminal import clear_progress, is_dumb

Item = TypeVar("Item")


def with_progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """The items unchanged. The progress goes to stderr, and only to a terminal: never to a pipe, never in CI."""
    watched = at_terminal(sys.stderr) and not os.environ.get("CI")
    return _watched(items, what, total) if watched else items


def _watched(items: Iterable[Item], what: str, total: int | None) -> Iterator[Item]:
    """One line that is written over, ten times a second at most; in a dumb terminal a new line every ten seconds."""
    pause, end = (10.0, "\n") if is_dumb() else (0.1, "")
    start = shown = monotonic()

    def show_line(done: int, now: float) -> None:
        clear_progress()
        line = progress_line(what, done, total, now - start)[: get_terminal_size().columns - 1]
        print(line, end=end, file=sys.stderr, flush=True)

    try:
        if not is_dumb():
            show_line(0, start)
        for done, item in enumerate(items, 1):
            yield item
            if (now := monotonic()) - shown >= pause:
                show_line(done, shown := now)
    finally:
        clear_progress()


def progress_line(what: str, done: int, total: int | None, seconds: float) -> str:
    """How much is done, and by the time that it took how long the rest will take."""
    if total is None:
        return f"{what}: {done:,}"
    if not done:
        return f"{what}: 0 of {total:,}"
    left = seconds / done * (total - done)
    return f"{what}: {done:,} of {total:,}, {f'{left / 60:.0f} min' if left >= 90 else f'{left:.0f} s'} left"
