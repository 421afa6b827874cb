"""Machinery: naming and writing a run, in a hidden folder beside its place, synced, then renamed.

A killed command leaves no run.

Covered
    An error or Ctrl-C on the way removes the hidden folder. SIGTERM, kill -9 or a power cut leaves the folder behind,
    under a name that ends in ``.partial``; it can be deleted. A full disk shows before the rename.
    Commands that end at the same moment take their names one after the other, each with its line in the log.
Not covered
    A disk that reports a sync it has not done. A kill between the line in the log and the rename leaves the line.
"""

import hashlib
import os
import shutil
from collections.abc import Iterable
from itertools import count, islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

import msgspec

from course.artifacts import run_log
from course.artifacts.environment import environment
from course.artifacts.records import ENVIRONMENT_FILE, MANIFEST, README, RESULTS, Manifest, Result, indent_json
from course.artifacts.run_log import LogLine, append, read_log
from course.artifacts.summary import ROWS_AT_ONCE
from course.datasets.files import HOME, open_regular, write_whole
from course.errors import UserError, reason
from course.text import visible

RUNS = HOME / "runs"


class RunWriter:
    """``with RunWriter(outdir) as run``: write the files and the manifest, then ``publish``; else nothing remains.

    ``outdir`` None takes the next free ``run_001`` of ``runs/``. A folder that exists, or that lies inside a run,
    is refused before any work is done. Raises UserError if nothing can be written there.
    """

    def __init__(self, outdir: Path | None) -> None:
        self._wanted = outdir
        self._committed = False
        self.path = outdir or _next_free()
        self.outputs: dict[str, str] = {}  # name -> SHA-256
        self.examples: dict[bool, Result] = {}  # the last that passed by the strict scorer, and the last that did not
        self._digests: dict[str, hashlib._Hash] = {}  # name -> running SHA-256 of what is written row by row
        read_log(run_log.LOG)  # fail now on a broken log, not after an hour of work
        if outdir is not None:  # a free name may be taken by the end: publish looks for one again
            self._refuse_taken()
        for folder in self.path.resolve().parents:
            if (folder / MANIFEST).exists() and (folder / RESULTS).exists():
                raise UserError(f"{self.path}: expected a folder outside of every run, got a folder inside {folder}")

    def __enter__(self) -> Self:
        parent = self.path.parent
        self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        self._temporary = parent / f".{os.urandom(8).hex()}.partial"
        try:
            self._temporary.mkdir(parents=True)
        except BaseException as error:
            self._clean_up()
            if isinstance(error, OSError):
                raise self._refusal(error) from None
            raise
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        self._clean_up()
        if isinstance(error, OSError) and not self._committed and not isinstance(error, BrokenPipeError):
            raise self._refusal(error) from None

    def write_rows(self, name: str, rows: Iterable[msgspec.Struct]) -> None:
        """Write JSONL as the rows come, and keep its digest. A name may have one folder in front of it."""
        rows = iter(rows)
        self.append(name)  # a file without rows is a file, too
        while batch := list(islice(rows, ROWS_AT_ONCE)):
            self.append(name, *batch)

    def append(self, name: str, *rows: msgspec.Struct) -> None:
        """Add rows to a JSONL file in one write: a kill during a long run leaves whole rows behind."""
        self.examples |= {row.details.outcome == "ok": row for row in rows if isinstance(row, Result)}
        self.append_lines(name, msgspec.json.Encoder().encode_lines(rows))

    def append_lines(self, name: str, lines: bytes) -> None:
        """Add rows that are encoded already."""
        with self._place(name).open("ab", buffering=0) as file:
            file.write(lines)
        self._digests.setdefault(name, hashlib.sha256()).update(lines)
        self.outputs[name] = self._digests[name].hexdigest()

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file as it is, a figure say, and keep its digest."""
        self._write_whole(name, data)
        self.outputs[name] = hashlib.sha256(data).hexdigest()

    def write_json(self, name: str, value: Any) -> None:
        """Write a small JSON file, indented for a person, and keep its digest."""
        self.write_bytes(name, indent_json(value))

    def write_manifest(self, manifest: Manifest) -> str:
        """Write the manifest and the environment. Returns the digest of the manifest, which seals all the rest."""
        data = indent_json(manifest)
        self._write_whole(MANIFEST, data)
        self._write_whole(ENVIRONMENT_FILE, indent_json(environment()))
        return hashlib.sha256(data).hexdigest()

    def publish(self, log: IO[bytes], line: LogLine, readme: str) -> Path:
        """Write the page, add ``line`` to the log, which is locked, and rename the run to its place. Returns it.

        The line comes first, so that a look at a holdout is counted once too often rather than not at all.
        """
        self._write_whole(README, readme.encode("utf-8"))
        self._sync([*self.outputs, MANIFEST, ENVIRONMENT_FILE, README])
        self.path = self._wanted or _next_free()
        self._refuse_taken()
        before = append(log, msgspec.structs.replace(line, run=_name_in_log(self.path)))
        try:
            self._temporary.rename(self.path)
        except OSError:
            log.truncate(before)
            raise
        self._made = []
        self._committed = True
        _sync_folder(self.path.parent)
        return self.path

    def _sync(self, names: Iterable[str]) -> None:
        places = [self._temporary / name for name in names]
        for place in places:
            with place.open("r+b") as file:
                os.fsync(file.fileno())
        for folder in {place.parent for place in places}:
            _sync_folder(folder)

    def _refuse_taken(self) -> None:
        try:
            self.path.lstat()
        except FileNotFoundError:
            return
        except OSError as error:  # a name that is too long, a file where a folder should be
            raise self._refusal(error) from None
        raise UserError(f"{self.path}: expected a new folder, got a folder that exists; choose a different --outdir")

    def _write_whole(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all: a kill leaves no half file under its real name."""
        write_whole(self._place(name), data)

    def _place(self, name: str) -> Path:
        place = self._temporary / name
        place.parent.mkdir(parents=True, exist_ok=True)
        return place

    def _clean_up(self) -> None:
        if not self._committed:
            shutil.rmtree(self._temporary, ignore_errors=True)
        for folder in self._made:  # innermost first; one that is in use by now stays
            try:
                folder.rmdir()
            except OSError:
                break

    def _refusal(self, error: OSError) -> UserError:
        return UserError(f"{self.path}: cannot write a run here: {reason(error)}; nothing was written")


def write_page(place: Path, page: str, head: str) -> Path:
    """Write a page that is derived from runs, whole or not at all. Returns its place.

    Raises UserError if the page cannot be written there, or if a file exists there that does not begin with ``head``,
    as every page does.
    """
    try:
        if os.path.lexists(place):
            with open_regular(place) as file:
                if place.is_symlink() or file.read(len(head)) != head.encode():
                    raise UserError(f"{place}: this file is not a page of the lab, so it is not replaced; move it away")
        write_whole(place, page.encode())
    except OSError as error:
        mend = "course.report --out FILE writes the page elsewhere"
        raise UserError(f"{place}: cannot write a page here: {reason(error)}; {mend}") from None
    return place


def _next_free() -> Path:
    """The first free name; relative to the caller's folder if it lies below that folder."""
    for number in count(1):
        path = RUNS / f"run_{number:03}"
        if not os.path.lexists(path):
            break
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _name_in_log(path: Path) -> str:
    """The path; relative to the folder of ``runs/`` if it lies below, because that folder can be moved."""
    whole, home = path.resolve(), HOME.resolve()
    return visible((whole.relative_to(home) if whole.is_relative_to(home) else whole).as_posix())


def _sync_folder(folder: Path) -> None:
    if os.name != "nt":  # Windows has no handle on a folder to sync
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
