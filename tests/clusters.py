"""For tests of work that splits: pairs of shards, and a real Dask cluster of processes, on the loopback address."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from conftest import SAMPLING, Lab


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


def wait_for(what: Any, seconds: float = 60) -> None:
    until = monotonic() + seconds
    while not what():
        assert monotonic() < until, "it has not come"
        sleep(0.02)


def shard(lab: Lab, name: str, right: list[bool], *, first: int = 0, **said: Any) -> None:
    """A pair of files: example NAME-i is answered as ``right`` says. ``said``: policy, training, split, sampling."""
    split = {"metadata": {"split": said["split"]}} if "split" in said else {}
    numbers = range(first, first + len(right))
    prompts = [said.get("prompt", f"{name}, {number}?") for number in numbers]
    examples = [
        {"id": f"{name}-{number}", "prompt": prompt, "expected_answer": number} | split
        for number, prompt in zip(numbers, prompts, strict=True)
    ]
    texts = [f"Final: {number + (not ok)}" for number, ok in zip(numbers, right, strict=True)]
    lab.write(f"in/datasets/{name}.jsonl", examples)
    rows = [{"id": f"{name}-{number}", "completion": text} for number, text in zip(numbers, texts, strict=True)]
    lab.write(f"in/rollouts/{name}.jsonl", rows)
    about = {"policy": said.get("policy", "a hand"), "sampling": SAMPLING | said.get("sampling", {})}
    lab.meta(f"in/rollouts/{name}", **about, training=said.get("training"))


def measure(lab: Lab, *more: object, run: str = "run") -> str:
    """The digest of the run."""
    done = lab("eval_shards", "in", "--outdir", run, *more)
    assert (done.status, done.err) == (0, ""), done.err
    return done.out.partition("digest: ")[2].split()[0]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def large(lab: Lab, shards: int, rows: int) -> None:
    for number in range(shards):
        shard(lab, f"part-{number:02}", [True] * rows, first=number * rows)
