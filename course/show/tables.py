"""Machinery: numbers and tables for the terminal."""

import re
from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Literal, NamedTuple

from course.text import visible

_HELD = "\ue000"  # stands for a space; text that is safe to print never holds this unseen character
_QUOTES = re.compile(r"""(?<!\w)('.*?'|".*?")(?!\w)""")

WIDTH = 80  # printed lines fit a terminal of this many columns


def percent(rate: float, digits: int = 1) -> str:
    return f"{100 * rate:.{digits}f} %"


def interval(bounds: Sequence[float]) -> str:
    return f"{100 * bounds[0]:.1f} to {100 * bounds[1]:.1f} %"


def text_shape(text: str) -> str:
    """A text without its values: each run of ASCII digits becomes one N, and nothing else changes.

    ``Final: 12`` and ``Final: 7`` resemble each other, both are ``Final: N``; ``12 7`` and ``1 2 7`` do not.
    """
    return re.sub("[0-9]+", "N", text)


def table(header: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> str:
    """Columns as wide as their widest cell; those in ``right`` are set flush right. Cells must be safe to print.

    A cell that is too wide for the table is wrapped at spaces, but not within quotes, so the caller must cut a
    quotation that would not fit in a line.
    """
    from io import StringIO

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    cells = [[_hold_quotes(str(cell)) for cell in row] for row in rows]
    grid = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1))
    for column, name in enumerate(header):
        quotes = [len(word) for row in cells for word in row[column].split() if _HELD in word]
        justify: Literal["left", "right"] = "right" if column in right else "left"
        grid.add_column(Text(name), justify=justify, overflow="fold", min_width=max(quotes, default=None))
    for row in cells:
        grid.add_row(*map(Text, row))
    out = StringIO()
    Console(file=out, width=WIDTH, color_system=None, legacy_windows=False).print(grid)
    return "\n".join(line.rstrip().replace(_HELD, " ") for line in out.getvalue().splitlines())


class GrowingTable(NamedTuple):
    """A table whose rows are shown one by one, as they become known. ``widest``: the widest cell of each column."""

    header: Sequence[str]
    widest: Sequence[str]
    right: Sequence[int]

    def head(self) -> str:
        return table(self.header, [self.widest], right=self.right).rpartition("\n")[0]

    def row(self, cells: Sequence[object]) -> str:
        return table(self.header, [self.widest, cells], right=self.right)[len(self.head()) :].split("\n", 2)[2]


def wrap_sentence(sentence: str) -> str:
    """A sentence on as many lines as it needs, with unseen characters written out and each quotation on one line."""
    return wrap_text(visible(sentence), WIDTH, "    ")


def wrap_text(text: str, columns: int, indent: str, first: str = "") -> str:
    """Lines of at most so many columns, broken at spaces; but not within quotes.

    ``text`` must be safe to print. A quotation or a word that is still wider is left to the terminal to wrap.
    """
    lines = fill(
        _hold_quotes(text),
        columns,
        initial_indent=first,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace(_HELD, " ")


def _hold_quotes(text: str) -> str:
    """The spaces in quotes replaced, so that no line is broken there."""
    return _QUOTES.sub(lambda quote: quote[0].replace(" ", _HELD), text)
