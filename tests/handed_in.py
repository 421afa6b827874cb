"""What the tests of grading share: submissions laid out, and the processes that they leave."""

import os
import signal
import sys
import time
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from teacher.sandbox import can_protect

linux = pytest.mark.skipif(sys.platform != "linux", reason="the limits of Linux")
protected = pytest.mark.skipif(not can_protect(), reason="bubblewrap does not run here")


def zipped(path: Path, members: Sequence[tuple[str | zipfile.ZipInfo, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def laid_out(folder: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def processes_of(folder: Path) -> dict[int, str]:
    """Process -> its command line, of those that have this folder in it, as forks have that of their parent."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            line = (process / "cmdline").read_text(encoding="utf-8", errors="replace")
            if str(folder) in line:
                found[int(process.name)] = line
    return found


def left_behind(folder: Path) -> list[str]:
    """The command lines of what still runs after a while: where a group is killed, the system ends its processes a
    little later.
    """
    end = time.monotonic() + 10
    while processes_of(folder) and time.monotonic() < end:
        time.sleep(0.05)
    return [*processes_of(folder).values()]


def end_left_behind(folder: Path) -> None:
    """End what left its group and its parent, which nothing but bubblewrap ends."""
    for number in processes_of(folder):
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGKILL)
