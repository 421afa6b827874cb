"""Machinery: writing a run, in a hidden folder beside its place, synced, then renamed. A killed command leaves none.

Covered
    An error, Ctrl-C or SIGTERM on the way removes the hidden folder. A kill -9 or a power cut leaves it behind, under
    a name that ends in ``.partial``, and it can be deleted. A full disk shows before the rename.
Not covered
    Two commands that are given the same ``--outdir`` at the same moment: one of them fails with a clear error, but
    which one is up to the system. Disks that say they have synced and have not.
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

from course.artifacts.environment import environment
from course.artifacts.holdout import count_look
from course.artifacts.records import ENVIRONMENT_FILE, MANIFEST, README, Manifest
from course.errors import UserError, reason

RUNS = Path("runs")
_ROWS_AT_ONCE = 2_000


class RunWriter:
    """``with RunWriter(outdir) as run``: write the files, then ``commit``. Without ``commit`` nothing remains.

    ``outdir`` None takes the next free ``runs/run_001``. An existing one is refused before any work is done. Raises
    UserError where the disk does not let it write.
    """

    def __init__(self, outdir: Path | None) -> None:
        self._wanted = outdir
        self._committed = False
        self.path = outdir or _next_free()
        self.outputs: dict[str, str] = {}  # name -> SHA-256
        self._growing: dict[str, hashlib._Hash] = {}  # the same of what is written row by row
        if os.path.lexists(self.path):
            raise UserError(f"{self.path}: expected a new folder, got one that exists; choose another --outdir")

    def __enter__(self) -> Self:
        parent = self.path.parent
        self._made = [folder for folder in (parent, *parent.parents) if not folder.exists()]
        self._temporary = parent / f".{self.path.name}.{os.urandom(4).hex()}.partial"
        try:
            self._temporary.mkdir(parents=True)
        except OSError as error:
            self._clean_up()
            raise self._refused(error) from None
        return self

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None) -> None:
        self._clean_up()
        if isinstance(error, OSError) and not self._committed and not isinstance(error, BrokenPipeError):
            raise self._refused(error) from None

    def write_rows(self, name: str, rows: Iterable[msgspec.Struct]) -> None:
        """Write JSONL as the rows come, and keep its digest. A name may have one folder in front of it."""
        encoder, digest = msgspec.json.Encoder(), hashlib.sha256()
        rows = iter(rows)
        with self._place(name).open("wb") as file:
            while batch := list(islice(rows, _ROWS_AT_ONCE)):
                lines = encoder.encode_lines(batch)
                digest.update(lines)
                file.write(lines)
            _sync(file)
        self.outputs[name] = digest.hexdigest()

    def append(self, name: str, *rows: msgspec.Struct) -> None:
        """Add rows to a JSONL file at once: a kill in the midst of a long run leaves whole rows behind."""
        lines = msgspec.json.Encoder().encode_lines(rows)
        with (self._temporary / name).open("ab", buffering=0) as file:
            file.write(lines)
        self._growing.setdefault(name, hashlib.sha256()).update(lines)
        self.outputs[name] = self._growing[name].hexdigest()

    def write_bytes(self, name: str, data: bytes) -> None:
        """Write a file as it is, a figure say, and keep its digest."""
        self._write_whole(name, data)
        self.outputs[name] = hashlib.sha256(data).hexdigest()

    def write_json(self, name: str, value: Any) -> None:
        """Write a small JSON file, indented for a person, and keep its digest."""
        self.write_bytes(name, _indented(value))

    def commit(self, manifest: Manifest, readme: str, holdout: str | None = None) -> Path:
        """Seal the run and rename it to its place. Returns the place.

        ``holdout``: the fingerprint of a holdout that this run measured; one look at it is counted.
        """
        self._write_whole(MANIFEST, _indented(manifest))
        self._write_whole(ENVIRONMENT_FILE, _indented(environment()))
        self._write_whole(README, readme.encode("utf-8"))
        for folder in {(self._temporary / name).parent for name in self.outputs} | {self._temporary}:
            _sync_folder(folder)
        if holdout is not None:  # before the rename: a look too many is counted rather than one too few
            count_look(RUNS, self.path, manifest, holdout)
        while not self._renamed():
            self.path = _next_free()
        _sync_folder(self.path.parent)
        return self.path

    def _renamed(self) -> bool:
        try:
            self._temporary.rename(self.path)
        except OSError:
            if self._wanted is None and os.path.lexists(self.path):
                return False  # another command took the number meanwhile
            raise
        self._made = []
        self._committed = True
        return True

    def _write_whole(self, name: str, data: bytes) -> None:
        """Write a file whole or not at all: a kill leaves no half file under its real name."""
        place = self._place(name)
        part = place.with_name(f"{place.name}.part")
        with part.open("wb") as file:
            file.write(data)
            _sync(file)
        part.replace(place)

    def _place(self, name: str) -> Path:
        place = self._temporary / name
        place.parent.mkdir(exist_ok=True)
        return place

    def _clean_up(self) -> None:
        shutil.rmtree(self._temporary, ignore_errors=True)
        for folder in self._made:  # innermost first; one that is in use by now stays
            try:
                folder.rmdir()
            except OSError:
                break

    def _refused(self, error: OSError) -> UserError:
        expected = "expected a place where a run can be written"
        return UserError(f"{self.path}: {expected}, got: {reason(error)}; nothing was written")


def _next_free() -> Path:
    return next(path for number in count(1) if not os.path.lexists(path := RUNS / f"run_{number:03}"))


def _indented(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=2) + b"\n"


def _sync(file: IO[bytes]) -> None:
    file.flush()
    os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name != "nt":  # Windows has no handle on a folder to sync
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
