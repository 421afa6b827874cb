"""Machinery: what is known of the files a measurement starts from: fingerprints, the split, who wrote completions."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import UNSET

from course.datasets.jsonl import read_batches, read_json
from course.datasets.records import Example, Provenance
from course.errors import UserError
from course.text import visible

SPLITS = ("dev", "holdout")


class Dataset:
    """A dataset file, read once: iterate it, then ask for its fingerprints and its split.

    The split is what the records themselves say (``metadata.split``), or else ``declared``, or else ``dev``. Records
    that contradict each other or the declaration are refused: a copy of the holdout under another name stays one.
    """

    def __init__(self, path: Path, declared: str | None) -> None:
        self.path = path
        self.declared = declared
        self._bytes = hashlib.sha256()
        self._prompts = hashlib.sha256()
        self._splits: list[object] = []  # what the records say of it, each thing once

    def __iter__(self) -> Iterator[Example]:
        encoder = msgspec.json.Encoder()
        for batch in read_batches(self.path, Example, self._bytes):
            self._prompts.update(encoder.encode_lines([(example.id, example.prompt) for example in batch]))
            for example in batch:
                said = None if example.metadata is UNSET else example.metadata.get("split")
                if said not in self._splits:
                    self._note_split(said, example.id)
            yield from batch

    @property
    def fingerprint(self) -> str:
        return self._bytes.hexdigest()

    @property
    def prompts_fingerprint(self) -> str:
        return self._prompts.hexdigest()

    @property
    def split(self) -> str:
        said = self._splits[0]
        return said if isinstance(said, str) else self.declared or SPLITS[0]

    def _note_split(self, said: object, id_: str) -> None:
        where = f"{self.path}: $.metadata.split of {visible(id_[:60])}"
        if said is not None and said not in SPLITS:
            raise UserError(f"{where}: expected {' or '.join(SPLITS)}, got {visible(str(said)[:60])}")
        if said is not None and self.declared not in (None, said):
            raise UserError(f"{where}: expected {self.declared}, as --split says, got {said}; leave --split away")
        self._splits.append(said)
        if len(self._splits) > 1:
            raise UserError(f"{where}: expected the split {self._splits[0]} like the lines before, got {said}")


def provenance(completions: Path) -> Provenance | None:
    """Who generated a file of completions: what ``NAME.meta.json`` beside it says; None where there is none."""
    path = completions.parent / f"{completions.stem}.meta.json"
    return read_json(path, Provenance) if path.exists() else None
