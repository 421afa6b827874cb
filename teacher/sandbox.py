"""Machinery: a submission's check, run under the limits of ``course.limited_process`` and, where it can be, bubblewrap.

Covered
    What ``course.limited_process`` covers. An environment that is written here, so that it holds no secret of the
    caller's.
Covered, under bubblewrap
    The command sees no file of the caller's but its own, no other process and no network, can write in its own two
    folders only, and ends with all that it started when whoever started it ends.
Not covered
    A fault of the kernel or of bubblewrap. What ``list_missing_limits`` names on this system.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from course.limited_process import LINUX, Limits, Process
from course.text import clipped

LIMITS = Limits(memory_mb=2048, output_mb=8, file_mb=64, disk_mb=512, files=5_000, open_files=512)


class Ending(NamedTuple):
    """``limit``: the one that was reached, or nothing. ``status``: the exit status, 128 and more for a signal."""

    limit: str
    status: int
    output: bytes
    errors: bytes


def can_protect() -> bool:
    """Whether bubblewrap runs here."""
    return not fault_of_bubblewrap()


@cache
def fault_of_bubblewrap() -> str:
    """Why bubblewrap does not run here, found out by running it; nothing where it does."""
    if shutil.which("bwrap") is None:
        return "is not installed"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("home", "lab/exercises"):
            (Path(folder) / name).mkdir(parents=True)
        line = [*_sandbox_words(Path(folder), []), sys.executable, "-I", "-c", "import numpy"]
        done = subprocess.run(line, stderr=subprocess.PIPE, check=False)
    if done.returncode == 0:
        return ""
    last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2] or f"status {done.returncode}"
    return f"is installed and did not start: {clipped(last, 160)}"


def list_missing_limits(protected: bool) -> list[str]:
    """What cannot be kept on this system, in words."""
    missing = []
    if not protected:
        missing += ["your files, your processes and the network out of reach", "an end of every process"]
    if not LINUX:
        missing += ["memory", "number of processes"]
    if os.name != "posix":
        missing += ["CPU time", "size of one file"]
    return missing


def _sandbox_words(folder: Path, readable: Sequence[Path]) -> list[str]:
    """The words before a command that let it see the system, the interpreter, ``.venv`` and its own folder only.

    It can write in ``home`` and ``lab/exercises`` of its folder, and in the files that it finds there, nowhere else. It
    has no network and no other process, and it ends with whoever started it. ``readable``: what else it can read.
    """
    words = [str(shutil.which("bwrap"))]
    words += ["--unshare-all", "--die-with-parent", "--new-session"]
    words += ["--cap-drop", "ALL"]
    words += ["--proc", "/proc"]
    words += ["--dev", "/dev"]
    words += ["--size", "4096", "--tmpfs", "/dev/shm"]
    for name in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"):
        place = Path(name)
        if place.is_symlink():
            words += ["--symlink", str(place.readlink()), name]
        elif place.is_dir():
            words += ["--ro-bind", name, name]
    lab = folder / "lab"
    for place in (Path(sys.base_prefix), Path(sys.prefix), lab, *readable):
        words += ["--ro-bind", str(place), str(place)]
    for place in (folder / "home", lab / "exercises"):
        words += ["--bind", str(place), str(place)]
    words += ["--remount-ro", "/dev"]
    words += ["--remount-ro", "/"]
    words += ["--chdir", str(lab)]
    return words


def run_limited(command: Sequence[str], folder: Path, limits: Limits, protected: bool = True) -> Ending:
    """Run the command in ``lab`` in the folder, to its end or to a limit.

    ``protected``: under bubblewrap, where of the caller's files it can read those alone that the command names.
    ``home`` beside ``lab`` holds what is temporary.
    """
    folder = folder.resolve()
    lab = folder / "lab"
    home = folder / "home"
    for place in (home, lab / "exercises"):
        place.mkdir(exist_ok=True)
    prefix: list[str] = []
    if protected:
        named = [Path(word) for word in command[1:] if Path(word).is_absolute() and Path(word).exists()]
        prefix = _sandbox_words(folder, named)
    environment = _environment(lab, home)
    with Process([*prefix, *command], limits, working_folder=lab, environment=environment, folder=folder) as process:
        limit = process.wait()
    status = process.status
    assert status is not None
    return Ending(limit, status, process.output, process.error_output)


def remove(folder: Path) -> None:
    """Take away what a command left, however deep it is nested and whatever its rights."""
    if os.name == "posix":
        for words in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            if folder.exists():
                subprocess.run([*words, str(folder)], stderr=subprocess.DEVNULL, check=False)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _environment(lab: Path, home: Path) -> dict[str, str]:
    environment = {
        "PATH": os.defpath,
        "PYTHONPATH": str(lab),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"):
        environment[name] = str(home)
    for name in ("SYSTEMROOT", "LANG", "LC_ALL"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return environment
