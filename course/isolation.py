"""Machinery: what a process does to itself before it runs a stranger's code. Standard library only.

Covered
    Looks into the lab: its files can neither be opened, imported, linked to nor moved, and no program is started that
    could. No folder is opened, for a path within it would not be known: ``shutil.rmtree`` cannot be used.
    A process that outlives its parent, as a loop of a student's would: it ends within half a second.
Not covered
    Code that means harm and goes round Python.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO

_LAB = Path(__file__).resolve().parents[1]
_PACKAGES = Path(sys.prefix).resolve()
_PROGRAMS = ("subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "os.spawn", "os.startfile")
_PATHS = ("open", "os.link", "os.symlink", "os.rename")  # what an audit event of these names is about, comes first


def take_pipe(streams: int) -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output, which the student's code then finds empty: of this many streams, from the first.

    From here on the process ends with its parent. (On Windows it would end by itself.)
    """
    end_with_parent()
    pipe = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in range(streams):
        os.dup2(nowhere, stream)
    return pipe


def end_with_parent() -> None:
    """From here on this process ends within half a second of its parent."""
    threading.Thread(target=_end_without, args=(os.getppid(),), daemon=True).start()


def _end_without(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)


def forget_packages(names: Iterable[str]) -> None:
    """Unload these packages, so that a stranger's import of one has to open its file."""
    tops = set(names)
    for name in list(sys.modules):
        if name.partition(".")[0] in tops:
            del sys.modules[name]


def keep_out(why: str, names: Iterable[str]) -> Callable[[str, tuple[Any, ...]], None]:
    """An audit hook, which nothing takes away again once it is added. It raises IsADirectoryError where os.open is
    given a folder, and PermissionError where a program is started, or a file is opened, linked to or moved that stands
    below one of these names in the lab; the packages are spared.
    """
    paths = [Path(os.path.realpath(_LAB / name)) for name in names]
    closed = [path for path in paths if not _PACKAGES.is_relative_to(path)]

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event.startswith(_PROGRAMS):
            raise PermissionError(f"{why}, not {event}")
        if event not in _PATHS or isinstance(arguments[0], int):
            return
        path = Path(os.fsdecode(arguments[0]))
        if event == "os.symlink":  # what it says is relative to the link
            path = Path(os.fsdecode(arguments[1])).parent / path
        path = Path(os.path.realpath(path))
        if event == "open" and arguments[1] is None and path.is_dir():  # by os.open, which alone gives a descriptor
            raise IsADirectoryError(f"{why}, not the folder {path}")  # tempfile then goes another way
        opens = event == "open"
        if any(path.is_relative_to(one) or (not opens and one.is_relative_to(path)) for one in closed):
            raise PermissionError(f"{why}, not {path.relative_to(_LAB) if path.is_relative_to(_LAB) else path}")

    return hook


def message_of(error: BaseException) -> str:
    """What an exception says; it may be anything's, so that even to ask it may raise."""
    try:
        return str(error)[:200]
    except Exception:
        return "an exception without words"
