"""Machinery: a command run under limits, and everything that it started ended with it.

Covered
    Wall and CPU time, memory, output, number of processes, size and number of files, of the command and all that it
    starts together. An environment that is written here, so that no secret of the caller's is in it.
Covered, under bubblewrap
    The command sees no file of the caller's but its own, no other process and no network, can write in its own two
    folders only, and ends with all that it started when whoever started it ends.
Not covered
    A fault of the kernel or of bubblewrap.
    What ``missing_limits`` names on this system. A process that outgrows a limit
    between two looks, a tenth of a second apart: it is ended at the next.
"""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, NamedTuple

_LAUNCHER = Path(__file__).with_name("limited.py")
_MEGABYTE = 1 << 20
_BETWEEN_LOOKS = 0.1  # seconds
_LINUX = sys.platform == "linux"


class Limits(NamedTuple):
    """What one submission may use, all of its processes together; CPU time, the size of a file and open files each."""

    seconds: int = 600
    cpu_seconds: int = 600
    memory_mb: int = 2048
    output_mb: int = 8
    file_mb: int = 64
    disk_mb: int = 512
    files: int = 5_000
    open_files: int = 512
    processes: int = 64


class Ended(NamedTuple):
    """``limit``: the one that was reached, or nothing. ``status``: the exit status, 128 and more for a signal."""

    limit: str
    status: int
    output: bytes
    errors: bytes


@cache
def can_protect() -> bool:
    """Whether bubblewrap runs here, found out by running it."""
    if shutil.which("bwrap") is None:
        return False
    with tempfile.TemporaryDirectory() as folder:
        for name in ("home", "lab/exercises"):
            (Path(folder) / name).mkdir(parents=True)
        line = [*_sandbox(Path(folder), []), sys.executable, "-I", "-c", "import numpy"]
        return subprocess.run(line, stderr=subprocess.DEVNULL, check=False).returncode == 0


def missing_limits(protected: bool) -> list[str]:
    """What cannot be kept on this system, in words."""
    missing = []
    if not protected:
        missing += ["your files, your processes and the network out of reach", "an end of every process"]
    if not _LINUX:
        missing += ["memory", "number of processes"]
    if os.name != "posix":
        missing += ["CPU time", "size of one file"]
    return missing


def _sandbox(folder: Path, readable: Sequence[Path]) -> list[str]:
    """The words before a command that let it see the system, the interpreter, ``.venv`` and its own folder only.

    It can write in ``home`` and ``lab/exercises`` of its folder, and in the files that it finds there, nowhere else. It
    has no network and no other process, and it ends with whoever started it. ``readable``: what else it can read.
    """
    words = [str(shutil.which("bwrap")), "--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]
    words += ["--proc", "/proc", "--dev", "/dev", "--size", "4096", "--tmpfs", "/dev/shm"]
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
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", str(lab)]


def run_limited(command: Sequence[str], folder: Path, limits: Limits, protected: bool = True) -> Ended:
    """Run the command in ``lab`` in the folder, to its end or to a limit.

    ``protected``: under bubblewrap, where of the caller's files it can read those alone that the command names.
    ``home`` beside ``lab`` holds what is temporary: a check may keep the tests it judges from opening files of the lab.
    """
    folder = folder.resolve()
    lab = folder / "lab"
    home = folder / "home"
    for place in (home, lab / "exercises"):
        place.mkdir(exist_ok=True)
    line = list(command)
    if protected:
        named = [Path(word) for word in command[1:] if Path(word).is_absolute() and Path(word).exists()]
        line = [*_sandbox(folder, named), *line]
    if os.name == "posix":
        line = [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(limits._asdict()), *line]
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": True, "env": _environment(lab, home)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:  # without a name: nobody else writes there
        process = subprocess.Popen(line, cwd=lab, stdout=out, stderr=err, **how)
        try:
            limit = _watch(process, folder, (out, err), limits)
        finally:
            _end(process)
        texts = []
        for stream in (out, err):
            stream.seek(0)
            texts.append(stream.read(limits.output_mb * _MEGABYTE))
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    if not limit and status == 128 + getattr(signal, "SIGXCPU", 0):
        limit = f"{limits.cpu_seconds} s of CPU time"
    return Ended(limit, status, *texts)


def _watch(process: "subprocess.Popen[bytes]", folder: Path, outputs: Sequence[IO[bytes]], limits: Limits) -> str:
    """Wait until the command ends or a limit is reached. Returns that limit in words, or nothing."""
    end, look = time.monotonic() + limits.seconds, 0
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_BETWEEN_LOOKS)
        if sum(os.fstat(stream.fileno()).st_size for stream in outputs) > limits.output_mb * _MEGABYTE:
            return f"{limits.output_mb} MB of output"
        if process.returncode is not None:
            return ""
        if time.monotonic() > end:
            return f"{limits.seconds} s"
        if _LINUX:
            resident = [*_resident_bytes(process.pid)]
            if len(resident) > limits.processes:
                return f"{limits.processes} processes"
            if sum(resident) > limits.memory_mb * _MEGABYTE:
                return f"{limits.memory_mb} MB of memory"
        look += 1
        if look % 5 == 0 and (reached := _disk(folder, limits)):
            return reached


def _resident_bytes(root: int) -> Iterator[int]:
    """The resident memory of each process that this one started, and those started, in bytes."""
    children: dict[int, list[tuple[int, int]]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (place / "stat").read_bytes().rpartition(b")")[2].split()  # man 5 proc: from the third
            children.setdefault(int(fields[1]), []).append((int(place.name), int(fields[21])))
    page, found = os.sysconf("SC_PAGE_SIZE"), [root]
    while found:
        for pid, pages in children.get(found.pop(), []):
            found.append(pid)
            yield pages * page


def _disk(folder: Path, limits: Limits) -> str:
    """The limit that the folder has outgrown, in words, or nothing."""
    count = size = 0
    waiting = [str(folder)]
    while waiting and count <= limits.files:
        try:
            for entry in os.scandir(waiting.pop()):
                count += 1
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    size += entry.stat(follow_symlinks=False).st_size
        except OSError as error:  # taken away meanwhile; or folders in folders without end
            count += limits.files if error.errno == errno.ENAMETOOLONG else 0
    if count > limits.files:
        return f"{limits.files} files"
    return f"{limits.disk_mb} MB of files" if size > limits.disk_mb * _MEGABYTE else ""


def remove(folder: Path) -> None:
    """Take away what a command left, however deep it is nested and whatever its rights."""
    if os.name == "posix":
        for words in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"]):
            if folder.exists():
                subprocess.run([*words, str(folder)], stderr=subprocess.DEVNULL, check=False)
    else:
        shutil.rmtree(folder, ignore_errors=True)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End the command and what it started: under bubblewrap the kernel ends all of it."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()


def _environment(lab: Path, home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LANG", "LC_ALL") if name in os.environ}
    places = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), str(home))
    return kept | places | {"PATH": os.defpath, "PYTHONPATH": str(lab), "PYTHONDONTWRITEBYTECODE": "1"}
