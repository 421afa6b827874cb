"""What course.token_inspect prints: first what the verifier reads, then what a policy would have to choose.

Notation
    piece    the bytes of one token
    quoted   safe to print, ``visible`` and in quotes, so that blanks at the ends are seen too
    first    the string that the others are compared with
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from course.artifacts.learning import Inspected
from course.reports.tables import WIDTH, table
from course.text import visible

_SHOWN = 40  # tokens of a string; all of them stand in the run
_INDENT, _GAP = "   ", "  "


class _Cell(NamedTuple):
    """One token as printed: its piece, its id below, and marks below that. In a gap both texts are empty."""

    piece: str
    id: str
    marked: bool


def verdicts(rows: Sequence[Inspected], expected: str) -> str:
    """What the verifier says of each string. ``rows``: one for each string, all in one vocabulary."""
    lines = [
        (number, quoted(row.text.encode("utf-8"), 46), f"{row.reward:.1f}", row.outcome)
        for number, row in enumerate(rows, 1)
    ]
    head = f"The verifier reads text. It pays for {fitted(f'Final: {expected}', 40)}"
    return f"{head}\n\n{table(('', 'text', 'reward', 'outcome'), lines, right=(0, 2))}"


def blocks(rows: Sequence[Inspected], model: str) -> str:
    """The tokens of each string in one vocabulary, that of ``model``, and how they differ from the first string's."""
    legend = "\n^ marks what differs from string 1." if len(rows) > 1 else ""
    parts = [f"The policy chooses tokens. Vocabulary: {rows[0].vocabulary}, of {model}{legend}"]
    for number, row in enumerate(rows, 1):
        start, first_stop, stop = difference(rows[0].ids, row.ids)
        lines = [f"{number}: {count(len(row.ids))}"]
        if number > 1:
            lines[0] += f"; {_in_words(start, stop, pieces_of(rows[0])[start:first_stop])}"
        cells = [
            _Cell(quoted(piece, WIDTH - len(_INDENT)), str(id_), start <= place < stop)
            for place, (id_, piece) in enumerate(zip(row.ids[:_SHOWN], pieces_of(row)[:_SHOWN], strict=True))
        ]
        if start == stop < first_stop and start <= len(cells):
            cells.insert(start, _Cell("", "", True))
        lines += in_columns(cells)
        if len(row.ids) > _SHOWN:
            lines.append(f"{_INDENT}and {count(len(row.ids) - _SHOWN, 'more token')}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def closing(found: Mapping[str, Sequence[Inspected]]) -> str:
    """What the tokens just seen show. ``found``: vocabulary to rows, each of the same strings in the same order."""
    one, *others = found
    if not others:
        seen = f"String 1 is {count(len(found[one][0].ids))} in {one}: as many choices, and one reward."
    else:
        other, seen = others[0], ""
        for row, same in zip(found[one], found[other], strict=True):
            if cut := cut_apart(pieces_of(row), pieces_of(same)):
                stretch, n, m = cut
                seen = f"{quoted(stretch, 22)} is {count(n)} in {one} and {m:,} in {other}."
                break
        seen = seen or f"{one} and {other} cut these strings alike, as it happens."
    return (
        f"{seen}\nWhere a text is cut is up to the model's vocabulary, not to the text.\n"
        "The verifier sees no cuts: it reads the whole text, and pays once."
    )


def difference(first: Sequence[int], other: Sequence[int]) -> tuple[int, int, int]:
    """``(start, first_stop, stop)``: other[start:stop] stands where first[start:first_stop] does; the rest is the same.

    One stretch, from the first token that differs to the last: tokens in between may agree. Empty where all agree.
    """
    shorter = min(len(first), len(other))
    start = next((i for i in range(shorter) if first[i] != other[i]), shorter)
    same = next((i for i in range(shorter - start) if first[-1 - i] != other[-1 - i]), shorter - start)
    return start, len(first) - same, len(other) - same


def cut_apart(one: Sequence[bytes], other: Sequence[bytes]) -> tuple[bytes, int, int] | None:
    """The first stretch that is cut differently, and into how many pieces each time; None if there is none.

    ``one`` and ``other``: the pieces of one text in two vocabularies. A stretch runs from a boundary that they share
    to the next.
    """
    for place in range(len(one)):  # up to here both are cut alike
        left, right = bytearray(one[place]), bytearray(other[place])
        n = m = 1
        while len(left) != len(right):
            if len(left) < len(right):
                left += one[place + n]
                n += 1
            else:
                right += other[place + m]
                m += 1
        if n > 1 or m > 1:
            return bytes(left), n, m
    return None


def piece_text(piece: bytes) -> str:
    """A piece, safe to print: characters as ``visible`` has them, bytes that are part of one as ``<E2 80>``."""
    from re import split

    parts = split("([\udc80-\udcff]+)", piece.decode("utf-8", "surrogateescape"))  # text, bytes, text, bytes, text …
    return "".join(
        f"<{part.encode('utf-8', 'surrogateescape').hex(' ').upper()}>" if place % 2 else visible(part)
        for place, part in enumerate(parts)
    )


def quoted(piece: bytes, width: int) -> str:
    """A piece in quotes, in at most ``width`` columns; one that goes on ends in … and has no second quote."""
    return fitted(f"'{piece_text(piece)}'", width)


def fitted(shown: str, width: int) -> str:
    """Printable text in at most ``width`` columns: a Chinese character takes two, an accent none."""
    from rich.cells import cell_len, set_cell_size

    start = shown[: 4 * width]  # accents could go on without end
    if start == shown and cell_len(shown) <= width:
        return shown
    return (start if cell_len(start) < width else set_cell_size(start, width - 1)) + "…"


def in_columns(cells: Sequence[_Cell]) -> list[str]:
    """Cells side by side, as many as fit, and the rest below: three lines each time, two where nothing is marked."""
    from rich.cells import cell_len

    lines: list[str] = []
    columns: list[tuple[str, str, str]] = []
    used = len(_INDENT)
    for cell in cells:
        width = max(cell_len(cell.piece), len(cell.id), 1)
        if columns and used + len(_GAP) + width > WIDTH:
            lines += _side_by_side(columns)
            columns, used = [], len(_INDENT)
        used += width + (len(_GAP) if columns else 0)
        marks = ("^" if cell.marked else " ") * width
        columns.append((cell.piece + " " * (width - cell_len(cell.piece)), cell.id.ljust(width), marks))
    return lines + _side_by_side(columns)


def _side_by_side(columns: Sequence[tuple[str, str, str]]) -> list[str]:
    lines = (_INDENT + _GAP.join(parts) for parts in zip(*columns, strict=True))
    return [line.rstrip() for line in lines if line.strip()]


def _in_words(start: int, stop: int, gone: Sequence[bytes]) -> str:
    """How a string differs from the first: its tokens start to stop are in the place of those that are ``gone``."""
    if start == stop and not gone:
        return "the same as 1"
    lost = fitted(" ".join(quoted(piece, 30) for piece in gone[:10]) + (" …" if len(gone) > 10 else ""), 30)
    if start == stop:
        place = f"after token {start:,}" if start else "at the start"
        return f"{lost} of 1 {_is(len(gone))} missing {place}"
    there = f"token {stop:,}" if stop == start + 1 else f"tokens {start + 1:,} to {stop:,}"
    return f"{there} instead of {lost}" if gone else f"{there} {_is(stop - start)} added"


def _is(n: int) -> str:
    return "is" if n == 1 else "are"


def count(n: int, what: str = "token") -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def pieces_of(row: Inspected) -> list[bytes]:
    return [bytes.fromhex(piece) for piece in row.pieces]
