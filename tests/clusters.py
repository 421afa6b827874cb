"""A real Dask cluster on this machine, for a test: scheduler and workers as processes, on the loopback address."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

DASK = [sys.executable, "-m", "distributed.cli"]


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
        workers_of.append(started("dask_worker", *host, *many, folder=folder, env=path))
        with watching(file) as client:
            wait_for(lambda: len(client.scheduler_info(n_workers=-1)["workers"]) == workers)
            address: str = client.scheduler.address
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
def watching(scheduler: Path | str) -> Iterator[Any]:
    """A client of the test's own, to see who is at work."""
    from distributed import Client

    where = {"scheduler_file": str(scheduler)} if isinstance(scheduler, Path) else {"address": scheduler}
    with Client(**where, timeout=20, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        yield client


def wait_for(what: Any, seconds: float = 60) -> None:
    until = monotonic() + seconds
    while not what():
        assert monotonic() < until, "it has not come"
        sleep(0.02)
