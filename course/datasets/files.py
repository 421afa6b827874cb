"""Machinery: opening a file that a person named. What would block or never end is refused, as a missing file is."""

import os
import stat
from pathlib import Path
from typing import BinaryIO


def open_regular(path: Path) -> BinaryIO:
    """The file, open for reading in bytes. Raises OSError where it cannot be, or is a pipe, a device or a folder."""
    return open(path, "rb", opener=_opener)


def _opener(name: str, flags: int) -> int:
    descriptor = os.open(name, flags | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "not a regular file", name)
    return descriptor
