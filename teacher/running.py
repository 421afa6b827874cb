"""Machinery: a command run under limits, and everything that it started ended with it.

Covered
    Wall and CPU time, memory, output, number of processes, size and number of files, of the command and all that it
    starts together. An environment that is written here, so that no secret of the caller's is in it.
Not covered
    What ``missing_limits`` names on this system. Files outside the command's folder. A process that outgrows a limit
    between two looks, a tenth of a second apart: it is ended at the next.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

_LAUNCHER = Path(__file__).with_name("limited.py")
_MEGABYTE = 1 << 20
_BETWEEN_LOOKS = 0.1  # seconds
_LINUX = sys.platform == "linux"


class Limits(NamedTuple):
    """What one submission may use, all of its processes together. CPU time: as many seconds for each process."""

    seconds: int = 600
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
    missing = [] if can_shut_in() else ["a view without keys, network and other processes", "an end of every process"]
    missing += [] if _LINUX else ["memory", "number of processes"]
    return missing + ([] if os.name == "posix" else ["CPU time", "size of one file"])


def run_limited(command: Sequence[str], folder: Path, limits: Limits, hidden: Sequence[Path] = ()) -> Ended:
    """Run the command in the folder, to its end or to a limit. ``hidden``: folders that it finds empty, on Linux."""
    outputs = [folder.with_name(f"{folder.name}.{name}") for name in ("out", "err")]
    home = folder / "home"
    home.mkdir(exist_ok=True)
    line = list(command)
    if os.name == "posix":
        more = {"hidden": [*map(str, hidden), "/proc"], "shut_in": can_shut_in()}
        line = [sys.executable, "-I", "-S", str(_LAUNCHER), json.dumps(limits._asdict() | more), *command]
    with outputs[0].open("wb") as out, outputs[1].open("wb") as err:
        process = subprocess.Popen(
            line,
            cwd=folder,
            env=_environment(folder, home),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            limit = _watch(process, folder, outputs, limits)
        finally:
            _end(process)
    texts = []
    for path in outputs:
        with path.open("rb") as file:
            texts.append(file.read(limits.output_mb * _MEGABYTE))
        path.unlink()
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    if not limit and status == 128 + getattr(signal, "SIGXCPU", 0):
        limit = f"{limits.seconds} s of CPU time"
    return Ended(limit, status, *texts)


def _watch(process: "subprocess.Popen[bytes]", folder: Path, outputs: Sequence[Path], limits: Limits) -> str:
    """Wait until the command ends or a limit is reached. Returns that limit in words, or nothing."""
    end, look = time.monotonic() + limits.seconds, 0
    while True:
        with suppress(subprocess.TimeoutExpired):
            process.wait(_BETWEEN_LOOKS)
        if sum(path.stat().st_size for path in outputs) > limits.output_mb * _MEGABYTE:
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
    for path, _, names in os.walk(folder):
        count += len(names)
        for name in names:
            with suppress(OSError):
                size += os.lstat(f"{path}/{name}").st_size
        if count > limits.files or size > limits.disk_mb * _MEGABYTE:
            return f"{limits.files} files" if count > limits.files else f"{limits.disk_mb} MB of files"
    return ""


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


def _environment(folder: Path, home: Path) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("SYSTEMROOT", "LANG", "LC_ALL") if name in os.environ}
    places = dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP"), str(home))
    return kept | places | {"PATH": os.defpath, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
