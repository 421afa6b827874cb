"""Machinery: how a report reaches the terminal: at once, in its width, the verdict in colour. A pipe gets plain text.

In a terminal narrower than 80 columns, lines are folded at spaces, and no word is cut: a table keeps its cells, but
each of its rows takes several lines. A single word, such as a digest, stays whole. For a person who waits, a bar shows
the progress. Colours and the bar come from rich, which obeys NO_COLOR and knows what each terminal can do.
"""

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any, TypeVar

from course.asking import at_terminal
from course.show.tables import WIDTH, wrap_text
from course.starting import program_name

if TYPE_CHECKING:  # loaded where a terminal is written to, so that --help answers at once
    from rich.progress import Progress

Item = TypeVar("Item")

NOTHING_KEPT = "Rows appear as they are known. Ctrl-C before the end leaves no run."  # not in the README
_STYLES = {  # each is a word too, so colour is never the only sign
    "bold green": r"(?m)^(PROMOTE(?=:)|golden sets passed|ok(?=  )|  passed(?=  ))|(?<=: )whole(?=\. )",
    "bold red": r"(?m)^(REJECT(?=:)|FAILED(?=:)|NO(?=  )|  failed(?=  ))|(?<=: )NOT verified$",
    "bold yellow": r"(?m)^INCONCLUSIVE(?=:)",
}
_bars: list["Progress"] = []  # the one that stands on the terminal, if any


def show(text: str) -> None:
    """Print the text now, before the rest is computed, and above a progress bar if there is one."""
    for bar in _bars:
        bar.stop()
    if at_terminal(sys.stdout):
        _print_in_colour(fold_lines(text, get_terminal_size().columns))
    else:
        print(text, flush=True)
    for bar in _bars:
        _start(bar)


def _print_in_colour(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    shown = Text(text)
    for style, pattern in _STYLES.items():
        shown.highlight_regex(pattern, style)
    Console(file=sys.stdout).print(shown, soft_wrap=True)


def show_each(parts: Iterable[str], aside: str = "") -> list[str]:
    """Show each part as soon as it is there; after the first an ``aside``. Returns the parts, for the run's page."""
    shown: list[str] = []
    for part in parts:
        show(f"{part}\n{aside}" if aside and not shown else part)
        shown.append(part)
    return shown


def fold_lines(text: str, columns: int) -> str:
    """Lines longer than ``columns`` folded at spaces, and the rest indented; the rule of a table is cut."""
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= columns or set(line) == {"─"}:
            lines.append(line[:columns])
        else:
            indent = " " * (len(line) - len(line.lstrip()) + 2)
            lines.append(wrap_text(line, columns, indent))
    return "\n".join(lines)


def with_progress(
    items: Iterable[Item], what: str, total: int | None = None, size: Callable[[Item], int] | None = None
) -> Iterable[Item]:
    """The items unchanged. The progress goes to stderr, and only to a terminal: never to a pipe, never in CI.

    ``size``: how many units an item counts for; without ``size`` each item counts as one.
    """
    watched = at_terminal(sys.stderr) and not os.environ.get("CI")
    return _show_progress(items, what, total, size) if watched else items


def _show_progress(
    items: Iterable[Item], what: str, total: int | None, size: Callable[[Item], int] | None
) -> Iterator[Item]:
    from rich.console import Console
    from rich.progress import MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(file=sys.stderr)
    bar = Progress(
        TextColumn("{task.description}"),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        redirect_stdout=False,  # only standard error, where what a person's own function prints stands above the bar
        disable=console.is_dumb_terminal,
    )
    task = bar.add_task(what, total=total)
    _bars.append(bar)
    _start(bar)
    try:
        for item in items:
            yield item
            bar.advance(task, size(item) if size else 1)
    finally:
        _bars.remove(bar)
        bar.stop()


def stop_for_breakpoint(*_: Any, **__: Any) -> None:
    """Of ``breakpoint()`` in a person's own function: the bar would be drawn over the debugger's prompt."""
    import pdb  # noqa: T100

    for bar in _bars:
        bar.stop()
    sys.stdout = sys.stderr  # as it was before the bar took it
    pdb.Pdb().set_trace(sys._getframe(1))


def _start(bar: "Progress") -> None:
    sys.breakpointhook = stop_for_breakpoint
    bar.start()
    bar.console.show_cursor()  # a process that is killed cannot show it again


def command_line(words: Sequence[str], windows: bool = os.name == "nt") -> str:
    """A command and its arguments, on as many lines as a terminal needs; on Windows on one line.

    ``words``: the module, such as ``course.eval``, then its arguments.
    """
    parts = [program_name(words[0])]  # each option with its values
    for word in words[1:]:
        parts += [word] if word.startswith("--") else [f"{parts.pop()} {word}"]
    lines = [parts[0]]
    for part in parts[1:]:
        if windows or len(lines[-1]) + len(part) < WIDTH - len("next:  \\"):
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)
