"""Machinery: the small program that takes limits upon itself, then becomes the command it was given.

``teacher.running`` starts it as a file with two arguments or more: the limits as JSON, then the command. Standard
library only. Without arguments it says by its exit status whether this system can shut a process in.

Covered, on Linux
    The command and all that it starts see no process but themselves, no network, and none of the hidden folders, and
    can write in the folders that they were given only. They cannot take that back. When the command ends, or whoever
    started this program, the kernel ends all of them.
Covered, on Linux and macOS
    CPU time and file size; on Linux memory as well. Each process has the whole of each: ``running`` adds them up.
Not covered
    The command can read whatever else its user can read.
"""

import ctypes
import json
import os
import signal
import struct
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

# From Linux: sched.h (user, mounts, processes, network, shared memory), mount.h (read-only, nosuid, nodev, noexec),
# fcntl.h, prctl.h. Python 3.12 has os.unshare; the rest has no name in Python.
_NAMESPACES = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000
_LOCKED_MOUNT, _BIND = 1 | 2 | 4 | 8, 4096
_MOUNT_SETATTR, _HERE, _RECURSIVE = 442, -100, 0x8000
_SET_DEATH_SIGNAL, _DROP_CAPABILITY, _NO_NEW_PRIVILEGES = 1, 24, 38


def set_limits(limits: dict[str, Any]) -> None:
    import resource

    megabyte = 1 << 20
    wanted = {
        resource.RLIMIT_CPU: limits["cpu_seconds"],
        resource.RLIMIT_FSIZE: limits["file_mb"] * megabyte,
        resource.RLIMIT_NOFILE: limits["open_files"],
        resource.RLIMIT_CORE: 0,
    }
    if sys.platform == "linux":  # macOS takes it and does not keep it
        wanted[resource.RLIMIT_AS] = limits["memory_mb"] * megabyte
    for name, value in wanted.items():
        with suppress(ValueError, OSError):  # the teacher's own limit is lower
            resource.setrlimit(name, (value, value + 1))  # at the first a signal that says why, at the second SIGKILL


def shut_in(writable: Sequence[str], hidden: Sequence[str]) -> bool:
    """Let what this process starts from here on live in namespaces of their own. False where the system refuses.

    ``writable``: folders in which it may write; ``hidden``: folders that it finds empty.
    """
    libc = ctypes.CDLL(None)
    user, group = os.getuid(), os.getgid()
    if libc.unshare(_NAMESPACES):
        return False
    for name, line in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(line)
    own, here = [os.fsencode(folder) for folder in writable], os.getcwd()  # noqa: PTH109
    failed = [libc.mount(one, one, None, _BIND, None) for one in own]  # a mount of its own, which stays writable
    for path, how, added, removed in ((b"/", _RECURSIVE, 1, 0), *((one, 0, 0, 1) for one in own)):  # 1: read-only
        attributes = struct.pack("4Q", added, removed, 0, 0)
        failed.append(libc.syscall(_MOUNT_SETATTR, _HERE, path, how, attributes, len(attributes)))
    failed += [libc.mount(b"none", os.fsencode(one), b"tmpfs", _LOCKED_MOUNT, b"size=4k,mode=555") for one in hidden]
    os.chdir(here)
    for capability in range(64):  # with one of them it could take the empty folder away again
        libc.prctl(_DROP_CAPABILITY, capability, 0, 0, 0)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return not any(failed)


def end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)


def run_as_first(command: list[str]) -> int:
    """Run the command below a first process, whose end is the end of all that the command started."""
    if first := os.fork():
        signal.signal(signal.SIGTERM, lambda *_: os.kill(first, signal.SIGKILL))
        return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])  # returns when the kernel has ended all of them
    end_with_parent()
    if (child := os.fork()) == 0:
        os.execv(command[0], command)
    while True:  # also those whose own parent is gone
        ended, status = os.wait()
        if ended == child:
            code = os.waitstatus_to_exitcode(status)
            os._exit(code if code >= 0 else 128 - code)


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(sys.platform != "linux" or not shut_in([sys.prefix], ["/proc"]))
    limits, command = json.loads(sys.argv[1]), sys.argv[2:]
    set_limits(limits)
    if sys.platform == "linux":
        end_with_parent()
        if limits["shut_in"]:
            sys.exit(run_as_first(command) if shut_in(*limits["shut_in"]) else "error: expected namespaces, got none")
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
