"""Machinery: how a report reaches the terminal, at once, in its width, a verdict in colour. A pipe gets plain text.

A terminal narrower than 80 columns gets its lines folded at spaces, and no word is cut: a table keeps its cells, but
each of its rows takes several lines. What is one word, such as a digest, stays one. For a person who waits there, a
line says how far work is.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from shutil import get_terminal_size
from time import monotonic
from typing import TypeVar

from course.asking import at_terminal
from course.show.tables import WIDTH, wrap_text
from course.starting import PYTHON

Item = TypeVar("Item")

NOTHING_KEPT = "Rows come as they are known. Ctrl-C before the end leaves no run."  # no news once it has ended
_SIGNS = {  # SGR colour -> what has it; each is a word too, so colour is never the only sign
    "32": re.compile(r"^(PROMOTE(?=:)|golden sets passed|ok(?=  )|  passed(?=  ))|(?<=: )whole(?=\. )", re.MULTILINE),
    "31": re.compile("^(REJECT(?=:)|FAILED(?=:)|NO(?=  )|  failed(?=  ))|(?<=: )NOT verified$", re.MULTILINE),
    "33": re.compile("^INCONCLUSIVE(?=:)", re.MULTILINE),
}


def show(text: str) -> None:
    """Print it now, whatever is still to be computed, in the place of a progress line that may stand there."""
    clear_progress()
    if at_terminal(sys.stdout):
        text = colour_verdicts(fold_lines(text, get_terminal_size().columns))
    print(text, flush=True)


def show_each(parts: Iterable[str], aside: str = "") -> list[str]:
    """Show each part as soon as it is there; after the first an ``aside``. Returns the parts, for the run's page."""
    shown: list[str] = []
    for part in parts:
        show(f"{part}\n{aside}" if aside and not shown else part)
        shown.append(part)
    return shown


def fold_lines(text: str, columns: int) -> str:
    """The lines that are longer than that folded at spaces, what follows indented; the rule of a table is cut."""
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= columns or set(line) == {"─"}:
            lines.append(line[:columns])
        else:
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            lines.append(wrap_text(line, columns, indent))
    return "\n".join(lines)


def colour_verdicts(text: str) -> str:
    """Verdicts and checks in bold and in colour, unless NO_COLOR is set or the terminal knows no colour."""
    if os.environ.get("NO_COLOR") or is_dumb():
        return text
    for colour, signs in _SIGNS.items():
        text = signs.sub(f"\x1b[1;{colour}m\\g<0>\x1b[0m", text)
    return text


def with_progress(
    items: Iterable[Item], what: str, total: int | None = None, size: Callable[[Item], int] | None = None
) -> Iterable[Item]:
    """The items unchanged. The progress goes to stderr, and only to a terminal: never to a pipe, never in CI.

    ``size``: for how many an item counts; without it each is one.
    """
    watched = at_terminal(sys.stderr) and not os.environ.get("CI")
    return _show_progress(items, what, total, size) if watched else items


def _show_progress(
    items: Iterable[Item], what: str, total: int | None, size: Callable[[Item], int] | None
) -> Iterator[Item]:
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
        done = 0
        for item in items:
            yield item
            done += size(item) if size else 1
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


def clear_progress() -> None:
    """Take away the progress line, if one stands there: spaces, which every terminal knows."""
    if at_terminal(sys.stderr) and not is_dumb():
        print(f"\r{' ' * (get_terminal_size().columns - 1)}\r", end="", file=sys.stderr, flush=True)


def is_dumb() -> bool:
    """Whether the terminal can only go on: TERM says so, or says nothing outside a terminal of today's Windows."""
    return os.environ.get("TERM", "dumb") == "dumb" and "WT_SESSION" not in os.environ


def command_line(words: Sequence[str], windows: bool = os.name == "nt") -> str:
    """``python3 -m …``, on as many lines as a terminal asks for; its continuation is not one for Windows."""
    parts = [f"{PYTHON} -m"]  # each option with its values
    for word in words:
        parts += [word] if word.startswith("--") else [f"{parts.pop()} {word}"]
    lines = [parts[0]]
    for part in parts[1:]:
        if windows or len(lines[-1]) + len(part) < WIDTH - len("next:  \\"):
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)
