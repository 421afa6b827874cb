"""Machinery: reading a run strictly, without believing it; ``verification`` says whether a run is what it claims."""

import hashlib
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from course.artifacts import run_log
from course.artifacts.records import (
    MANIFEST,
    RESULTS,
    SCHEMA_VERSION,
    Manifest,
    Result,
    result_type,
)
from course.datasets.files import blocks_of_lines, way_to
from course.errors import UserError, reason
from course.starting import program_name
from course.text import clipped, did_you_mean, visible


class Run(NamedTuple):
    """A run's folder and its manifest, read but not verified. ``digest``: SHA-256 of manifest.json."""

    path: Path
    manifest: Manifest
    digest: str


class Broken(Exception):
    """The run is incomplete or was edited. The message is one sentence: which file, and how."""


def open_run(path: Path) -> Run:
    """Read the manifest. Raises UserError if there is no such folder, Broken if the folder holds no run of this lab."""
    refuse_other_place(path)
    data = read_output(path, MANIFEST)
    try:
        version = msgspec.json.decode(data, type=dict[str, Any]).get("schema_version")
        if version != SCHEMA_VERSION:
            got = clipped(str(version), 20)
            raise Broken(
                f"{MANIFEST} has schema version {got}, but this lab reads {SCHEMA_VERSION}; make the run again"
            )
        manifest = msgspec.json.decode(data, type=Manifest)
    except ValueError as error:
        raise Broken(f"{MANIFEST} is not a manifest of this lab: {clipped(str(error), 80)}") from None
    return Run(path, manifest, hashlib.sha256(data).hexdigest())


def refuse_other_place(path: Path) -> None:
    """Raise UserError if the path is no folder, or a folder that holds several runs; the error says which was meant."""
    if not path.is_dir():
        got = "a file" if path.exists() else "a path that does not exist"
        folders = (run_log.LOG.parent, Path("runs"), path.parent)
        near = {run.name: str(run) for folder in folders for run in runs_in(folder)}
        meant = did_you_mean(path.name, near)
        way = way_to(path)
        if not meant and not way:
            way = f"; {program_name('course.inspect_run')} --log lists the runs"
        raise UserError(f"{meant}{path}: expected the folder of a run, got {got}{way}")
    if (path / MANIFEST).exists():
        return
    runs = runs_in(path)
    if runs:
        got = f"a folder that holds {len(runs):,}"
        raise UserError(f"did you mean {runs[-1]}? {path}: expected the folder of one run, got {got}")


def runs_in(folder: Path) -> list[Path]:
    """The runs that a folder holds, the newest last."""
    manifests = (path for path in folder.glob(f"*/{MANIFEST}") if not path.parent.name.startswith("."))
    return [path.parent for path in sorted(manifests, key=lambda path: path.stat().st_mtime)]


def newest_run() -> Path:
    """The newest run in the log that still exists; a note on stderr says if a newer one is gone."""
    root = run_log.LOG.parents[1]
    log = [line for line in run_log.read_log(run_log.LOG) if line.loop]
    for line in reversed(log):
        path = root / line.run
        if path.is_dir():
            if line is not log[-1]:
                note = f"note: the newest run, {clipped(log[-1].run, 60)}, no longer exists; {line.run} is used instead"
                print(visible(note), file=sys.stderr)
            return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
    raise UserError("last: no run in the log still exists; make one with course.eval")


def read_output(folder: Path, name: str) -> bytes:
    """A file of a run, whole. Raises Broken if the file cannot be read."""
    try:
        return (folder / name).read_bytes()
    except OSError as error:
        raise Broken(f"{name} cannot be read: {reason(error)}") from None


def rows(run: Run, digest: "hashlib._Hash | None" = None) -> Iterator[Result]:
    """The rows of the results, unverified. ``digest`` is fed every byte. Raises Broken at a line that is not a row."""
    return chain.from_iterable(batches(run, digest or hashlib.sha256()))


def batches(run: Run, digest: "hashlib._Hash") -> Iterator[list[Result]]:
    """Yield the rows in batches of about 32 KiB. Raises Broken at a line that is not a row."""
    decode = msgspec.json.Decoder(result_type(run.manifest)).decode
    number = 0
    try:
        for lines in blocks_of_lines(run.path / RESULTS, digest):
            if not lines.endswith(b"\n"):
                raise Broken(f"{RESULTS} is cut off after row {number}")
            batch = []
            for line in lines[:-1].split(b"\n"):
                number += 1
                batch.append(decode(line))
            yield batch
    except ValueError as error:
        raise Broken(f"{RESULTS}:{number} is not a result: {clipped(str(error), 80)}") from None
    except OSError as error:
        raise Broken(f"{RESULTS} cannot be read: {reason(error)}") from None
