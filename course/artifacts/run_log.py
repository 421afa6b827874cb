"""Machinery: ``runs/log.jsonl``, the experiment log of the lab, with a line for each run that was published here.

The log lies at the lab's root, wherever a command was called; if a wheel installed the package, in the caller's folder.
A run is found in the log by the digest of its manifest, which seals all the rest. A name may stand there several times,
because a run can be deleted and made again.

Covered
    A run that was edited or put together elsewhere: the digest of its manifest stands in no line.
    A holdout that was opened: it is counted by its prompts in their plain form, whatever its file's name, ids, order
    and metadata. From then on every file with exactly these prompts is a holdout, even without --split holdout.
    Two commands at one moment: name, line and rename are one step under one lock, which ends with its process.
Not covered
    The owner of the log can edit it: add a line for a run that was never made, or delete a line. The log is a record
    for its owner and proves nothing to others.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import msgspec

from course.datasets.files import HOME, lock_file
from course.datasets.plain import FORM_MARK
from course.errors import UserError, reason
from course.text import clipped

LOG = HOME / "runs" / "log.jsonl"


class LogLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One published run. ``number``: the main number of its summary, under its name in the summary.

    The design of an experiment, registered before its candidate is measured, is a line, too: ``run`` and ``manifest``
    are then the page and its SHA-256, ``change`` and ``expect`` the knob and the number that it expects.
    """

    run: str  #: the folder, from that of runs/ where it lies below it
    manifest: str  #: SHA-256 of manifest.json
    loop: str  #: A, B or C; empty for a design, which is no run
    command: str
    change: str | None
    expect: str | None
    number: dict[str, float | None]
    holdouts: list[str]  #: those that were opened, by their prompts: course.datasets.sources.holdouts_in
    room: str | None = None  #: Loops A and B: ``room_digest`` of the conditions under which two runs can be compared


def read_log(path: Path, must_exist: bool = False) -> list[LogLine]:
    """The lines, oldest first; none if there is no such file. Raises UserError at a line that is not of a log."""
    try:
        data = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError) and not must_exist:
            return []
        raise UserError(f"{path}: cannot read this log of runs: {reason(error)}") from None
    log = []
    for number, line in enumerate(whole_lines(data).split(b"\n")[:-1], 1):
        try:
            log.append(msgspec.json.decode(line, type=LogLine))
        except ValueError as error:  # msgspec's errors are ValueErrors, and so is that of UTF-8
            why = clipped(str(error), 80)
            raise UserError(f"{path}:{number} is not a line of the lab's log: {why}; delete this line") from None
    return log


def read_logs(own: Path, others: Sequence[Path]) -> list[LogLine]:
    """The lines of several logs. A line in two logs counts once, because one log may be a copy of the other."""
    lines: Counter[bytes] = Counter()
    for log in (read_log(own), *(read_log(path, must_exist=True) for path in others)):
        lines |= Counter(map(msgspec.json.encode, log))
    return [msgspec.json.decode(line, type=LogLine) for line in lines.elements()]


def whole_lines(data: bytes) -> bytes:
    """The log without a last line that a kill cut off: its run was never published.

    If an editor removed only the newline at the end of a whole last line, the newline is put back.
    """
    head, end, tail = data.rpartition(b"\n")
    try:
        msgspec.json.decode(tail, type=LogLine)
    except ValueError:
        return head + end
    return data + b"\n"


def holdouts_opened(log: Sequence[LogLine]) -> set[str]:
    """Every holdout that a run opened."""
    return {holdout for line in log for holdout in line.holdouts}


def looks(log: Sequence[LogLine], holdout: str) -> int:
    """How many runs opened this holdout, or a holdout recorded in an older form, which may have been this one."""
    return sum(any(opened == holdout or FORM_MARK not in opened for opened in line.holdouts) for line in log)


@contextmanager
def log_lock(path: Path) -> Iterator[IO[bytes]]:
    """The log, held against every other command of the lab until the end of the block."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise UserError(f"{path}: cannot add to the log of runs: {reason(error)}; nothing was written") from None
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
    """Add a line, which is on the disk when this returns. Returns the size before it, for ``truncate`` to undo it."""
    before = file.seek(0, os.SEEK_END)
    file.write(msgspec.json.encode(line) + b"\n")
    file.flush()
    os.fsync(file.fileno())
    return before
