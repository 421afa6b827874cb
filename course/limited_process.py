"""Machinery: a process under limits, ended with all that it started. The check of a hand-in runs in one.

Started as a file, this is also the small program that takes the limits upon itself and then becomes the command. It
imports the standard library only.

Covered
    Wall time, memory, output, the number of processes, and the files in one folder, of a command and all that it
    started together; CPU time, open files and the size of a file, of each process. What it prints is kept and never let
    through. Its process group ends with it. Nobody who holds its pipe open can keep the caller waiting.
Not covered
    Code that means harm. This is no sandbox: the code runs with your rights. It can read, change and delete your files,
    read the environment with the keys in it, and reach the network. Run what you do not trust in a container or on
    another machine. ``teacher.sandbox`` puts bubblewrap in front.
    A process that leaves its group and its parent, as a daemon does, lives on. On Windows all that was started does.
    macOS keeps no limit on memory or processes, and Windows on CPU time and files either. A process that outgrows a
    limit between two checks, a tenth of a second apart, is ended at the next.
"""

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

_MEGABYTE = 1 << 20
_BETWEEN_CHECKS = 0.1  # seconds
_TO_END = 1.0  # seconds for what a process has closed to end, and for what it wrote last to arrive
_CHECKS_PER_SCAN = 5  # of the folder
LINUX = sys.platform == "linux"
_RUNNING: "set[Process]" = set()


class Limits(NamedTuple):
    """What a command may use: all of its processes together, but each of them CPU time, open files and file size.

    ``output_mb``: of each of its two streams. ``files`` and ``disk_mb``: in its folder.
    """

    seconds: float = 600
    cpu_seconds: int = 600
    memory_mb: int = 4096
    output_mb: int = 16
    file_mb: int = 1024
    disk_mb: int = 4096
    files: int = 100_000
    open_files: int = 1024
    processes: int = 64


class LimitReached(Exception):
    """The words say which limit, such as ``5 s``."""


class Process:
    """``with Process(command, limits) as process``: it leads a session of its own, and ends at the end of the block.

    It has nothing to read. ``folder``: where the number and the size of files are limited.
    """

    def __init__(
        self,
        command: Sequence[str],
        limits: Limits,
        *,
        working_folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        line = list(command)
        if os.name == "posix":
            line = [sys.executable, "-I", "-S", __file__, json.dumps(limits._asdict()), *line]
        self._limits = limits
        self._folder = folder
        self._checks = 0
        self._process = subprocess.Popen(
            line,
            cwd=working_folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        _RUNNING.add(self)
        self._end_at = time.monotonic() + limits.seconds
        most = limits.output_mb * _MEGABYTE
        self._output = _Stream(self._process.stdout, most)
        self._errors = _Stream(self._process.stderr, most)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    @property
    def output(self) -> bytes:
        """What came out on standard output, within the limit."""
        return self._output.content()

    @property
    def error_output(self) -> bytes:
        """What came out on standard error, within the limit."""
        return self._errors.content()

    @property
    def status(self) -> int | None:
        """The exit status, 128 and more for a signal; None for a process that still runs."""
        with suppress(subprocess.TimeoutExpired):
            status = self._process.wait(_TO_END)
            return status if status >= 0 else 128 - status
        return None

    def wait(self) -> str:
        """Wait for the end, and return the limit that was reached, in words, or nothing."""
        reached = ""
        try:
            while self._process.poll() is None:
                if time.monotonic() > self._end_at:
                    raise LimitReached(f"{self._limits.seconds:g} s")
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_BETWEEN_CHECKS)
                self._check_limits()
            self._check_limits()
            if self.status == 128 + getattr(signal, "SIGXCPU", 0):
                raise LimitReached(f"{self._limits.cpu_seconds} s of CPU time")
        except LimitReached as limit:
            reached = str(limit)
        finally:
            self.end()
        return reached

    def _check_limits(self) -> None:
        """Raise LimitReached if a limit is reached. If the process has ended, end what it started, too."""
        if self._process.poll() is not None:
            self.end()  # what it started may hold the pipe
        for stream in (self._output, self._errors):
            if stream.is_over_limit:
                raise LimitReached(f"{self._limits.output_mb} MB of output")
        if self._process.poll() is None and LINUX:
            resident = _resident_bytes(self._process.pid)
            if len(resident) > self._limits.processes:
                raise LimitReached(f"{self._limits.processes} processes")
            if sum(resident.values()) > self._limits.memory_mb * _MEGABYTE:
                raise LimitReached(f"{self._limits.memory_mb} MB of memory")
        self._checks += 1
        if self._folder and self._checks % _CHECKS_PER_SCAN == 0:
            self._check_files(self._folder)

    def _check_files(self, folder: Path) -> None:
        count = 0
        size = 0
        waiting = [str(folder)]
        while waiting and count <= self._limits.files:
            try:
                for entry in os.scandir(waiting.pop()):
                    count += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        size += entry.stat(follow_symlinks=False).st_size
            except OSError as error:  # taken away meanwhile; or folders in folders without end
                if error.errno == errno.ENAMETOOLONG:
                    count += self._limits.files
        if count > self._limits.files:
            raise LimitReached(f"{self._limits.files} files")
        if size > self._limits.disk_mb * _MEGABYTE:
            raise LimitReached(f"{self._limits.disk_mb} MB of files")

    def end(self) -> None:
        """End the process, its group and its descendants, and wait for what it wrote. May be called again."""
        self.kill()
        self._process.wait()
        for stream in (self._output, self._errors):
            stream.finish()
        _RUNNING.discard(self)

    def kill(self) -> None:
        """End the process, its group and its descendants, and wait for nothing."""
        if os.name == "posix":
            below = _resident_bytes(self._process.pid) if LINUX and self._process.poll() is None else {}
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            for number in below:  # those that made a group of their own
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(number, signal.SIGKILL)
        else:
            self._process.kill()


def kill_all() -> None:
    """Kill what this process runs. A process that ends without ``Process.end`` calls this first.

    Bubblewrap ends with its caller, but one that is just starting may miss that end and wait for ever.
    """
    for process in [*_RUNNING]:
        process.kill()


class _Stream:
    """What comes through a pipe, read by a thread of its own."""

    def __init__(self, file: IO[bytes] | None, most: int) -> None:
        assert file is not None
        self._file = file
        self._most = most
        self._data = bytearray()
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self.is_over_limit:
            chunk = self._file.read(1 << 16)
            if not chunk:
                break
            self._data += chunk
        self._finished.wait()  # closed before, it would be an error for whoever writes beyond the limit
        self._file.close()

    @property
    def is_over_limit(self) -> bool:
        return len(self._data) > self._most

    def content(self) -> bytes:
        return bytes(self._data[: self._most])

    def finish(self) -> None:
        """Wait for what is on its way. A process that lives on may hold the pipe: it is not waited for."""
        self._finished.set()
        self._thread.join(_TO_END)


def _resident_bytes(root: int) -> dict[int, int]:
    """Process -> its resident memory in bytes: of this one and of all that it started, and those started."""
    resident: dict[int, int] = {}
    children: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            fields = (place / "stat").read_bytes().rpartition(b")")[2].split()  # man 5 proc: from the third
            number = int(place.name)
            resident[number] = int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            children.setdefault(int(fields[1]), []).append(number)
    tree: dict[int, int] = {}
    waiting = [root]
    while waiting:
        number = waiting.pop()
        if number in resident and number not in tree:
            tree[number] = resident[number]
            waiting += children.get(number, [])
    return tree


def set_limits(limits: Mapping[str, Any]) -> None:
    """Of this process and of each that it starts: CPU time, open files, the size of a file; on Linux memory, too."""
    import resource

    wanted = {
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_FSIZE: limits["file_mb"] * _MEGABYTE,
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
    }
    if LINUX:  # macOS takes it and does not keep it
        wanted[resource.RLIMIT_DATA] = limits["memory_mb"] * _MEGABYTE
    for name, value in wanted.items():
        with suppress(ValueError, OSError):  # the caller's own limit is lower
            resource.setrlimit(name, (value, value + 1))  # at the first a signal that says why, at the second SIGKILL


if __name__ == "__main__":
    set_limits(json.loads(sys.argv[1]))
    os.execvp(sys.argv[2], sys.argv[2:])
