"""Machinery: reading files, writing a file whole or not at all, and locking a file that several processes use.

Only regular files are read, because a pipe could wait for ever and /dev/zero never ends.
"""

import errno
import hashlib
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, BinaryIO

from course.text import shell_word

LAB = Path(__file__).parents[2]  # the lab's root; if a wheel installed the package, this folder is no lab
HAS_LAB = (LAB / "data" / "datasets").is_dir()
HOME = LAB if HAS_LAB else Path()  # of runs/ and its log: the lab, else the caller's folder
_READ_BYTES = 1 << 15  # what a batch of rows is made of stays in the processor's cache
_LINE_BYTES = 1 << 26  # Python can make fifty times as much of a line
_LOCK_AT = 1 << 30  # Windows locks a range of bytes, and refuses others to read it: one that no log reaches
_OTHER_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read its bytes. Raises OSError if it is no regular file; the error says what is there instead."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        error.strerror = f"{error.strerror}{way_to(path)}"
        raise
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, f"{_OTHER_KINDS.get(stat.S_IFMT(mode), 'a device')}, not a file", str(path))
    return path.open("rb")


def write_whole(path: Path, data: bytes) -> None:
    """Write a file beside its place, then rename it: a kill or a full disk leaves no half file under its name.

    Raises OSError, and then leaves nothing. After a kill, ``.….part`` may be left, which can be deleted.
    """
    part = path.parent / f".{os.urandom(8).hex()}.part"  # "." and "/" have a parent, and no name
    try:
        part.write_bytes(data)
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def lock_file(file: IO[bytes]) -> None:
    """Wait until no other process holds the file. The system unlocks it when this process ends, however it ends."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(_LOCK_AT)
        held = False
        while not held:
            try:
                msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
                held = True
            except OSError as error:
                if error.errno != errno.EDEADLOCK:  # what it says when it has waited for ten seconds
                    raise
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)


def way_to(path: Path) -> str:
    """What to type if a path exists only when it is read from the lab's folder; else nothing."""
    if path.is_absolute() or path.exists() or not HAS_LAB or not (LAB / path).exists():
        return ""
    return f"; this path exists in the lab's folder: cd {shell_word(LAB)}"


def blocks_of_lines(path: Path, digest: "hashlib._Hash | None" = None) -> Iterator[bytes]:
    """Whole lines, some 32 KiB at a time, and last the rest after the last line feed. ``digest`` is fed every byte.

    Raises OSError, also at a line of more than 64 MB.
    """
    rest: list[bytes] = []  # of a line that goes on in the next block
    with open_regular(path) as file:
        while block := file.read(_READ_BYTES):
            if digest is not None:
                digest.update(block)
            lines, newline, end = block.rpartition(b"\n")  # in bytes, only a line feed ends a line
            if newline:
                yield b"".join([*rest, lines, newline])
                rest = []
            rest.append(end)
            if sum(map(len, rest)) > _LINE_BYTES:
                raise OSError(errno.EFBIG, f"a line of more than {_LINE_BYTES >> 20} MB", str(path))
    if tail := b"".join(rest):
        yield tail


def sha256_of(path: Path) -> str:
    """SHA-256 of a file in hexadecimal; empty if the file cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
    except OSError:
        return ""
