"""Machinery: a file that goes in is opened. A pipe would wait for ever, and a device such as /dev/zero never ends."""

import errno
import stat
from pathlib import Path
from typing import BinaryIO

_OTHER_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read its bytes. Raises OSError, which says what is there instead, where it is no regular file."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"{_OTHER_KINDS.get(stat.S_IFMT(mode), 'a device')}, not a file", str(path))
    return path.open("rb")
