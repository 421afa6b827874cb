"""For tests of ``--cluster``: a real Dask cluster of processes on this machine, on the loopback address."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any


@contextmanager
def cluster(folder: Path, path: dict[str, str], *, workers: int = 2) -> Iterator[str]:
    """Its address. ``folder``: for what it writes. ``path``: the environment in which the workers find the lab."""
    file = folder / "scheduler.json"
    host = ["--no-dashboard", "--scheduler-file", str(file), "--host", "127.0.0.1"]
    scheduler = started("dask_scheduler", *host, "--port", "0", folder=folder)
    workers_of: list[subprocess.Popen[bytes]] = []
    try:
        wait_for(file.exists)
        many = ["--nworkers", str(workers), "--nthreads", "1", "--local-directory", str(folder)]
        if workers:
            workers_of.append(started("dask_worker", *host, *many, folder=folder, env=path))
        address: str = json.loads(file.read_text(encoding="utf-8"))["address"]
        wait_for_workers(address, workers)
        yield address
    finally:
        for process in (*workers_of, scheduler):
            process.terminate()
        for process in (*workers_of, scheduler):
            process.wait(timeout=30)


def started(tool: str, *words: str, folder: Path, env: dict[str, str] | None = None) -> "subprocess.Popen[bytes]":
    line = [sys.executable, "-m", f"distributed.cli.{tool}", *words]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    return subprocess.Popen(line, cwd=folder, env=os.environ | (env or {}), **quiet)


@contextmanager
def watching(address: str) -> Iterator[Any]:
    """A client of the test's own, to see who is at work."""
    from distributed import Client

    with Client(address, timeout=20, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        yield client


def wait_for_workers(address: str, number: int) -> None:
    with watching(address) as client:
        wait_for(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == number)


def wait_for(what: Any, seconds: float = 300) -> None:
    until = monotonic() + seconds
    while not what():
        assert monotonic() < until, "it has not come"
        sleep(0.02)
