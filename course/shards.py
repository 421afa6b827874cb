"""Machinery: Loop A in shards. Each is measured here or on a worker; the whole run grows in RUN.partial/.

    begun.json          what the first call was given, which a later one can neither change nor add to
    shards/NAME         a finished shard: an ordinary run of course.eval, but for its line in the log
    shards/.X.partial   one that a worker writes; only the command itself gives it its name

Covered
    A worker or the command that is killed. A finished shard, or a file of it, that changed before the next call: that
    measures it again from its files, and compares. Two commands at one moment, another's folder, ids in two shards.
Not covered
    Whoever changes begun.json and every finished shard to fit.
"""

import hashlib
import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec

from course.artifacts.locked_room import shared_conditions
from course.artifacts.reading import NAME
from course.artifacts.records import BEGUN, MANIFEST, RESULTS, SHARDS, Begun, Manifest, Result, RowId, indented
from course.artifacts.writing import RunWriter
from course.datasets.files import blocks_of_lines
from course.datasets.jsonl import read_json
from course.datasets.records import Provenance
from course.datasets.sources import Dataset
from course.errors import UserError
from course.eval import evaluate_file
from course.publishing import complete
from course.text import clipped, quoted

DATASETS, ROLLOUTS = "datasets", "rollouts"
_IDS = "ids.sqlite"
_HIDDEN = re.compile(r"\.[0-9a-f]{16}\.partial")
_CACHE_KIB = 65_536
_MENDS = {
    "split": "; a shard with prompts of a holdout of the lab is one: take these out, or call all of it --split holdout",
    "policy": f"; each file in {ROLLOUTS}/ has a NAME.meta.json beside it, with its own completions_sha256",
}


class Shard(NamedTuple):
    """What a worker says of a shard. ``place``: where it is to be taken from, if it was not finished before."""

    name: str
    place: Path | None
    manifest: Manifest
    outcomes: dict[str, int]
    firsts: dict[str, Result]
    source: Provenance | None


def shard_names(folder: Path) -> list[str]:
    """The names of the pairs in a folder, sorted. Raises UserError at one without a partner."""
    found = {kind: {path.stem for path in (folder / kind).glob("*.jsonl")} for kind in (DATASETS, ROLLOUTS)}
    names = sorted(set[str]().union(*found.values()))
    for name in names:
        if lacking := [kind for kind in found if name not in found[kind]]:
            raise UserError(f"{folder / lacking[0]}: expected a partner of {quoted(name)}.jsonl, got none")
        if not re.fullmatch(NAME, name) or [one.lower() for one in names].count(name.lower()) > 1:
            expected = "names of ASCII letters, digits, dots, - and _, not alike but for their case"
            raise UserError(f"{folder / DATASETS}: expected {expected}, got {quoted(name)}")
    if not names:
        expected = f"a folder with pairs {DATASETS}/NAME.jsonl and {ROLLOUTS}/NAME.jsonl"
        raise UserError(f"{folder}: expected {expected}, got none")
    return names


def measure_shard(partial: Path, folder: Path, name: str, begun: Begun) -> Shard:
    """Measure a shard, here or on a worker, where both paths lead to the same folders."""
    if not (partial / BEGUN).exists():
        raise UserError(f"{partial}: expected a folder that all machines share, got a machine without it")
    finished = partial / SHARDS / name
    with RunWriter(partial / SHARDS / f".{name}") as run:
        dataset, rollouts = (folder / kind / f"{name}.jsonl" for kind in (DATASETS, ROLLOUTS))
        found = evaluate_file(run, Dataset(dataset, begun.split), rollouts, begun.missing, watched=False)
        conditions, summary, firsts = found
        manifest, digest = complete(run, conditions._replace(change=begun.change, expect=begun.expect), summary)
        again = os.path.lexists(finished)
        for file in {**run.outputs, MANIFEST: digest}.items() if again else ():
            _refuse_changed(finished, *file)
        place = None if again else run.leave()
    return Shard(name, place, manifest, summary["outcomes"], firsts, conditions.source)


def _refuse_changed(finished: Path, name: str, digest: str) -> None:
    try:
        with (finished / name).open("rb") as file:
            same = hashlib.file_digest(file, "sha256").hexdigest() == digest and not (finished / name).is_symlink()
    except OSError:
        same = False
    if not same:
        expected = f"expected what its dataset and rollouts come to, got another {name}"
        raise UserError(f"{finished}: {expected}; one of them was changed since: move this folder away")


class Growing:
    """RUN.partial/ in the hands of one command, with the ids of all its shards in a database."""

    def __init__(self, partial: Path, database: sqlite3.Connection) -> None:
        self._partial = partial
        self._database = database
        self._first: Shard | None = None

    def add(self, shard: Shard) -> None:
        """Give a shard its name. Raises UserError where another has one of its ids, or was measured otherwise."""
        first = self._first = self._first or shard
        theirs, ours = (
            shared_conditions(one.manifest) | {"training": one.source and one.source.training} for one in (first, shard)
        )
        for name in ours:
            if ours[name] != theirs[name]:
                got = f"{first.name}: {clipped(str(theirs[name]), 60)}, {shard.name}: {clipped(str(ours[name]), 60)}"
                raise UserError(f"{self._partial}: expected one {name} in all shards, got {got}{_MENDS.get(name, '')}")
        finished = self._partial / SHARDS / shard.name
        decoder = msgspec.json.Decoder(RowId)
        for lines in blocks_of_lines((shard.place or finished) / RESULTS):
            ids = [(row.id.encode(), shard.name) for row in decoder.decode_lines(lines)]
            before = self._database.total_changes
            self._database.executemany("INSERT OR IGNORE INTO ids VALUES (?, ?)", ids)
            for id_, name in ids if self._database.total_changes - before < len(ids) else ():
                ((other,),) = self._database.execute("SELECT shard FROM ids WHERE id = ?", (id_,))
                if other != name:
                    got = f"{clipped(id_.decode(), 60)} in {other} and in {name}"
                    raise UserError(f"{self._partial}: expected ids that stand in one shard only, got {got}")
        if shard.place is not None:
            shard.place.rename(finished)


@contextmanager
def growing_run(partial: Path, begun: Begun) -> Iterator[tuple[Growing, Begun]]:
    """RUN.partial/, begun or gone on with, and what was said when it began. Where nothing is finished, nothing stays.

    Raises UserError where it was begun otherwise, is another command's, or holds what is not of a sharded run.
    """
    if not os.path.lexists(partial):
        hidden = partial.with_name(f".{os.urandom(8).hex()}.partial")
        (hidden / SHARDS).mkdir(parents=True)
        (hidden / BEGUN).write_bytes(indented(begun))
        hidden.rename(partial)
    if partial.is_symlink() or not (partial / BEGUN).is_file():
        raise UserError(f"{partial}: expected a run that course.eval_shards began, got something else; move it away")
    before = read_json(partial / BEGUN, Begun)
    if unlike := sorted({*begun.shards} ^ {*before.shards}):
        raise UserError(
            f"{partial}: expected the shards that it was begun with, got one more or one less, "
            f"{quoted(unlike[0])}; move this folder away to begin anew"
        )
    for name, given in msgspec.structs.asdict(begun).items():
        if given not in (None, recorded := getattr(before, name)):
            expected = f"expected {name} as when this run began, {clipped(str(recorded), 60)}"
            raise UserError(f"{partial}: {expected}, got {clipped(str(given), 60)}; move it away to begin anew")
    for path in (*partial.iterdir(), *(partial / SHARDS).iterdir()):
        ours = path.name in (SHARDS, *before.shards) or _HIDDEN.fullmatch(path.name)
        if path.is_symlink() or (path.is_dir() and not ours):
            raise UserError(f"{path}: expected what course.eval_shards writes, got something else; move it away")
    try:
        database = sqlite3.connect(partial / _IDS, timeout=0, isolation_level=None)
        try:  # one transaction, never committed: it keeps other commands out, and a kill leaves an empty database
            for line in ("PRAGMA synchronous = OFF", f"PRAGMA cache_size = -{_CACHE_KIB}", "BEGIN EXCLUSIVE"):
                database.execute(line)
            database.execute("CREATE TABLE ids (id BLOB PRIMARY KEY, shard TEXT) WITHOUT ROWID")
            (partial / MANIFEST).unlink(missing_ok=True)  # of a call that was killed before it published
            remove_hidden(partial)
            try:
                yield Growing(partial, database), before
            finally:
                remove_hidden(partial)  # of a worker that was killed, too
                if not any((partial / SHARDS).iterdir()):
                    shutil.rmtree(partial, ignore_errors=True)
        finally:
            database.close()
    except sqlite3.Error as error:
        got = "another command at work" if "locked" in str(error) else quoted(str(error))
        raise UserError(f"{partial / _IDS}: expected a place for the ids of all shards, got {got}") from None
    (partial / _IDS).unlink()


def remove_hidden(partial: Path) -> None:
    """Take away what is not finished: a worker that is still at it notices, and ends."""
    for path in (partial / SHARDS).glob(".*.partial"):
        if _HIDDEN.fullmatch(path.name):
            shutil.rmtree(path, ignore_errors=True)
