"""What the tests of grading share: submissions laid out, and the processes that they leave."""

import sys
import time
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import pytest

from teacher.running import can_protect

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


def left_behind(folder: Path) -> list[str]:
    """The processes that have this folder in their command line, as forks have that of their parent, after a while:
    where a group is killed and nothing else, the system ends its processes a little later.
    """
    found: list[str] = []
    end = time.monotonic() + 10
    while time.monotonic() < end:
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                found.append((process / "cmdline").read_text(encoding="utf-8", errors="replace"))
        found = [line for line in found if str(folder) in line]
        if not found:
            break
        time.sleep(0.05)
    return found
