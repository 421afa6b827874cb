"""Machinery: the small program that takes limits upon itself, then becomes the command it was given.

``teacher.running`` starts it as a file: the limits as JSON, then the command. Standard library only.

Covered, on Linux and macOS
    CPU time and file size; on Linux memory as well. Each process has the whole of each: ``running`` adds them up.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from typing import Any


def set_limits(limits: dict[str, Any]) -> None:
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


def main() -> None:
    set_limits(json.loads(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
