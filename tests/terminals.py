"""What stands on a terminal's screen when all of this was printed to it."""

import re
from typing import NamedTuple


class Screen(NamedTuple):
    """What a terminal shows: all lines, as it wrapped them, and those that it had to wrap."""

    lines: list[str]
    wrapped: list[str]


def screen(printed: str, columns: int) -> Screen:
    """A terminal that knows carriage returns, colours, the way up, and how to erase a line, and nothing else."""
    rows = [""]
    row = column = 0
    for code, char in re.findall(r"\x1b\[([0-9;?]*[A-Za-z])|(.)", printed, re.DOTALL):
        if code.endswith("m") or code in ("?25h", "?25l"):
            continue
        if code == "2K":
            rows[row] = ""
        elif code.endswith("A"):
            row -= int(code[:-1])
        elif char == "\n":
            row += 1
            if row == len(rows):
                rows.append("")
        elif char == "\r":
            column = 0
        else:
            assert char.isprintable(), ascii((code, char))
            rows[row] = f"{rows[row][:column]:{column}}{char}{rows[row][column + 1 :]}"
            column += 1
    while len(rows) > row + 1 and not rows[-1].strip():
        rows.pop()  # what was erased below
    lines: list[str] = []
    wrapped: list[str] = []
    for shown in map(str.rstrip, rows):
        if len(shown) > columns:
            wrapped.append(shown)
        lines += [shown[start : start + columns] for start in range(0, len(shown), columns)] or [""]
    return Screen(lines, wrapped)
