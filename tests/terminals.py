"""What stands on a terminal's screen when all of this was printed to it, and commands that run on one."""

import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

posix = pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
PROMPTS = (b"> ", b"end) ", b"ends) ")  # what the screen ends with where a command waits


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


def run_on_terminal(
    line: Sequence[str | Path], cwd: Path, environment: Mapping[str, str], typed: Sequence[str], ahead: str = ""
) -> tuple[int, str]:
    """Run a command on a pseudo-terminal. Each text is typed when the screen waits at a prompt, after the last Ctrl-D.

    ``ahead``: what is typed before the command has begun. Returns the exit status and what was printed. All that is
    ``typed`` must have been asked for.
    """
    import pty

    main, side = pty.openpty()
    os.write(main, ahead.encode())
    child = subprocess.Popen(line, cwd=cwd, env=environment, stdin=side, stdout=side, stderr=side)
    os.close(side)
    waiting = [*typed]
    printed = b""
    try:
        for chunk in chunks(main):
            printed += chunk
            if printed.endswith(PROMPTS):
                answer = waiting.pop(0) if waiting else "\x04"
                os.write(main, answer.encode())
    finally:
        os.close(main)
        status = child.wait(timeout=60)
    assert waiting == []
    return status, printed.decode().replace("\r\n", "\n")


def chunks(terminal: int) -> Iterator[bytes]:
    """What appears on it, until the command has let go of it: Linux calls that an input/output error."""
    while True:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            return
        if not chunk:
            return
        yield chunk
