"""Machinery: a progress bar for a person at a terminal and nobody else."""

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def with_progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterable[Item]:
    """The items unchanged. The bar goes to stderr, and only to a terminal: never to a pipe, never in CI."""
    watched = sys.stderr is not None and sys.stderr.isatty() and not os.environ.get("CI")
    return _watched(items, what, total) if watched else items


def _watched(items: Iterable[Item], what: str, total: int | None) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:  # gone when the work is done
        yield from bar.track(items, total=total, description=what)
