"""Machinery: a command run under limits, and everything that it started ended with it.

Covered
    Wall and CPU time, memory, output, number of processes, size and number of files, of the command and all that it
    starts together. An environment that is written here, so that no secret of the caller's is in it.
Not covered
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
def can_shut_in() -> bool:
    """Whether this system gives a command namespaces of its own: its processes, its network, its view of folders."""
    return _LINUX and subprocess.run([sys.executable, "-I", "-S", _LAUNCHER], check=False).returncode == 0


def missing_limits() -> list[str]:
    """What cannot be kept on this system, in words."""
    missing = [] if can_shut_in() else ["keys, network and other folders out of reach", "an end of every process"]
    missing += [] if _LINUX else ["memory", "number of processes"]
    return missing + ([] if os.name == "posix" else ["CPU time", "size of one file"])


def run_limited(command: Sequence[str], folder: Path, limits: Limits, hidden: Sequence[Path] = ()) -> Ended:
    """Run the command in ``lab`` in the folder, to its end or to a limit. ``hidden``: what it finds empty, on Linux.

    ``home`` beside it holds what is temporary: a check may keep the tests it judges from opening files of the lab. In
    that and in ``lab/exercises`` it may write; what judges it stays as it is.
    """
    lab, home = folder / "lab", folder / "home"
    for place in (home, lab / "exercises"):
        place.mkdir(exist_ok=True)
    line = list(command)
    if os.name == "posix":
        shown = [str(home), str(lab / "exercises")]
        view = [shown, [*(str(one) for one in hidden if one.is_dir()), "/proc"]] if can_shut_in() else None
        line = [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(limits._asdict() | {"shut_in": view}), *command]
    how: dict[str, Any] = {"stdin": subprocess.DEVNULL, "start_new_session": True, "env": _environment(lab, home)}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:  # without a name: nobody else writes there
        process = subprocess.Popen(line, cwd=lab, stdout=out, stderr=err, **how)
        try:
            limit = _watch(process, folder, (out, err), limits)
        finally:
            _end(process)
        texts = [(stream.seek(0), stream.read(limits.output_mb * _MEGABYTE))[1] for stream in (out, err)]
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
    """End the command and what it started: where it is shut in, the kernel does, before the launcher ends."""
    if process.poll() is None:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
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
