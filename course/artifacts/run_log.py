"""Machinery: ``runs/log.jsonl``, a line for each run that was published here. It is the experiment log of the lab.

It lies at the lab's root, wherever a command was called; where a wheel installed the package, in the caller's folder.
A run is found in it by the digest of its manifest, which seals all the rest; a name may stand there often, for a run
can be deleted and made again.

Covered
    A run whose files were edited, or that was put together elsewhere: its manifest's digest stands in no line.
    A holdout that was opened: it is counted by its prompts in their plain form, whatever its file's name, ids, order
    and metadata. A file with just these prompts is a holdout from then on, also without --split holdout.
    Two commands at one moment: name, line and rename are one step under one lock, which ends with its process.
Not covered
    Whoever owns the file can edit it, and add a line for a run that was never made, or take one away. It keeps a
    record for those who want one; it proves nothing to others.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from course.datasets.files import HOME, lock_file, open_regular
from course.datasets.jsonl import refuse_repeated_keys
from course.datasets.plain import FORM_MARK
from course.errors import UserError, reason
from course.text import clipped

LOG = HOME / "runs" / "log.jsonl"


class LogLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published run. ``number``: the main one of its summary, under its name there."""

    run: str  #: the folder, from that of runs/ where it lies below it
    manifest: str  #: SHA-256 of manifest.json
    loop: str
    command: str
    change: str | None
    expect: str | None
    number: dict[str, float | None]
    holdouts: list[str]  #: those that were opened, by their prompts: course.datasets.sources.holdouts_in
    room: str | None = None  #: Loops A and B: ``room_digest`` of the conditions under which two runs can be compared


def read_log(path: Path, must_exist: bool = False) -> list[LogLine]:
    """The lines, oldest first; none where there is no such file. Raises UserError at what is not a line of a log."""
    try:
        with open_regular(path) as file:
            data = file.read()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not must_exist:
            return []
        raise UserError(f"{path}: expected a log of runs, got: {reason(error)}") from None
    log = []
    for number, line in enumerate(whole_lines(data).split(b"\n")[:-1], 1):
        try:
            log.append(msgspec.json.decode(line, type=LogLine))
            refuse_repeated_keys(line)
        except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors, and so is that of UTF-8
            got = f"{clipped(str(error), 80)}; take that line out"
            raise UserError(f"{path}:{number} expected a line of the lab's log, got: {got}") from None
    return log


def read_logs(own: Path, others: Sequence[Path]) -> list[LogLine]:
    """The lines of several logs. What two of them hold is one line: a log may be a copy of another."""
    lines: Counter[bytes] = Counter()
    for log in (read_log(own), *(read_log(path, must_exist=True) for path in others)):
        lines |= Counter(map(msgspec.json.encode, log))
    return [msgspec.json.decode(line, type=LogLine) for line in lines.elements()]


def whole_lines(data: bytes) -> bytes:
    """The log without a last line that was cut off by a kill, whose run was never published.

    An editor may have taken the newline of a whole last line, and then it is put back.
    """
    head, end, tail = data.rpartition(b"\n")
    try:
        msgspec.json.decode(tail, type=LogLine)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return head + end
    return data + b"\n"


def holdouts_opened(log: Sequence[LogLine]) -> set[str]:
    """Every holdout that a run opened."""
    return {holdout for line in log for holdout in line.holdouts}


def looks(log: Sequence[LogLine], holdout: str) -> int:
    """How many runs opened this holdout, or one that was written down in an older form: it may have been this one."""
    return sum(any(opened == holdout or FORM_MARK not in opened for opened in line.holdouts) for line in log)


@contextmanager
def log_lock(path: Path) -> Iterator[IO[bytes]]:
    """The log, held against every other command of the lab until the end of the block."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        expected = "expected a log that a line can be added to"
        raise UserError(f"{path}: {expected}, got: {reason(error)}; nothing was written") from None
    with file:
        lock_file(file)
        file.seek(0)
        before = file.read()
        lines = whole_lines(before)
        if lines != before:
            file.truncate(min(len(before), len(lines)))
            file.write(lines[len(before) :])
        yield file


def append(file: IO[bytes], line: LogLine) -> int:
    """Add a line, on the disk when this returns. Returns the size before, to ``truncate`` to where it is not wanted."""
    before = file.seek(0, os.SEEK_END)
    file.write(msgspec.json.encode(line) + b"\n")
    file.flush()
    os.fsync(file.fileno())
    return before
