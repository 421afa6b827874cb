"""Machinery: what is known of the files a measurement starts from: fingerprints, the split, who wrote completions."""

import hashlib
from collections.abc import Iterator, Set
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from course.datasets.files import LAB
from course.datasets.jsonl import read_batches, read_json, read_records
from course.datasets.records import Example, Provenance, SampleGroup, Training, plain_prompt, prompt_digest
from course.errors import UserError
from course.text import clipped

HOLDOUT = "holdout"
SPLITS = ("dev", HOLDOUT)


class Dataset:
    """A dataset file: iterate it once, then ask for its fingerprints and its split.

    The split is what the records themselves say (``metadata.split``), or else ``declared``, or else ``dev``. Records
    that contradict each other or the declaration are refused. A dataset with prompts of a holdout that the lab ships
    is a holdout, whatever its name and its metadata.
    """

    def __init__(self, path: Path, declared: str | None) -> None:
        self.path = path
        self.declared = declared
        self._shipped: set[str] = set()  # the prompts that it shares with holdouts of the lab
        self._bytes = hashlib.sha256()
        self._prompts_in_order = hashlib.sha256()
        self._examples = hashlib.sha256()
        self._splits: list[object] = []  # what the records say of it, each thing once

    def __iter__(self) -> Iterator[Example]:
        encoder = msgspec.json.Encoder()
        for batch in read_batches(self.path, Example, self._bytes):
            self._prompts_in_order.update(encoder.encode_lines([(example.id, example.prompt) for example in batch]))
            self._examples.update(encoder.encode_lines([(e.id, e.prompt, e.expected_answer) for e in batch]))
            prompts = {plain_prompt(example.prompt) for example in batch}
            self._shipped.update(*(prompts & holdout for holdout in shipped_holdouts().values()))
            for example in batch:
                said = None if example.metadata is UNSET else example.metadata.get("split")
                if said not in self._splits:
                    self._note_split(said, example.id)
            yield from batch
        if self.split != HOLDOUT and (opened := shipped_in(self._shipped)):
            name, holdout = next(iter(opened.items()))
            got = len(holdout & self._shipped)
            raise UserError(
                f"{self.path}: expected a dataset without prompts of {name}, got {got} of them; "
                f"take them out, or call it --split {HOLDOUT}"
            )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file."""
        return self._bytes.hexdigest()

    @property
    def prompts_fingerprint(self) -> str:
        """SHA-256 over id and prompt of each example in order."""
        return self._prompts_in_order.hexdigest()

    @property
    def examples_fingerprint(self) -> str:
        """The same over id, prompt and expected answer."""
        return self._examples.hexdigest()

    @property
    def split(self) -> str:
        said = self._splits[0]
        undeclared = HOLDOUT if self._shipped else SPLITS[0]
        return said if isinstance(said, str) else self.declared or undeclared

    @cached_property
    def prompts(self) -> set[str]:
        """The distinct plain prompts, for which the file is read again: few runs ask, and a million take much room."""
        return prompts_in(self.path, self.fingerprint)

    def _note_split(self, said: object, id_: str) -> None:
        where = f"{self.path}: $.metadata.split of {clipped(id_, 60)}"
        if said is not None and said not in SPLITS:
            raise UserError(f"{where}: expected {' or '.join(SPLITS)}, got {clipped(str(said), 60)}")
        if said is not None and self.declared not in (None, said):
            raise UserError(f"{where}: expected {self.declared}, as --split says, got {said}; leave --split away")
        self._splits.append(said)
        if len(self._splits) > 1:
            raise UserError(f"{where}: expected the split {self._splits[0]} like the lines before, got {said}")


class ShardedDataset(NamedTuple):
    """What a run has of the datasets of all its shards. ``prompts``: none where nobody asks for them."""

    split: str
    prompts: Set[str]
    fingerprint: str
    prompts_fingerprint: str
    examples_fingerprint: str


def prompts_in(path: Path, fingerprint: str | None) -> set[str]:
    """The distinct plain prompts of a dataset file. Raises UserError where its SHA-256 is known, and another by now."""
    digest = hashlib.sha256()
    prompts = {plain_prompt(example.prompt) for example in read_records(path, Example, digest)}
    if fingerprint not in (None, digest.hexdigest()):
        raise UserError(f"{path}: expected a file that stays as it is while it is measured, got other bytes")
    return prompts


@cache
def shipped_holdouts(folder: Path = LAB / "data" / "datasets") -> dict[str, frozenset[str]]:
    """The lab's own holdouts: file name -> plain prompts. Empty where the package stands without its data."""
    paths = sorted(folder.glob(f"*_{HOLDOUT}.jsonl"))
    return {
        path.name: frozenset(plain_prompt(example.prompt) for example in read_records(path, Example)) for path in paths
    }


def prompts_trained_on(prompts: Set[str], training: Training) -> int:
    """How many of these prompts a policy was trained on."""
    return len({prompt_digest(prompt) for prompt in prompts}.intersection(training.prompts))


def shipped_in(prompts: Set[str]) -> dict[str, frozenset[str]]:
    """Of the lab's holdouts, those that share a prompt with these."""
    return {name: holdout for name, holdout in shipped_holdouts().items() if not holdout.isdisjoint(prompts)}


def holdouts_in(prompts: Set[str]) -> list[str]:
    """The digests of the holdouts that these prompts open: every one of the lab that shares a prompt, else these.

    A holdout is known by the SHA-256 over its distinct prompts, sorted: in another order, under other ids or in
    another file it is the same.
    """
    encode = msgspec.json.Encoder().encode_lines
    opened: list[Set[str]] = [*shipped_in(prompts).values()] or [prompts]
    return [hashlib.sha256(encode(sorted(holdout))).hexdigest() for holdout in opened]


class CompletionsFile(NamedTuple):
    """A file of completions as it was read: the SHA-256 of its bytes, and how many completions of a prompt it has."""

    path: Path
    sha256: str
    n: int

    @property
    def meta_path(self) -> Path:
        """Where it is described: ``NAME.meta.json`` beside ``NAME.jsonl``."""
        return self.path.with_name(f"{self.path.stem}.meta.json")

    @property
    def meta_template(self) -> str:
        """What to write there: JSON with what is known, and the rest to be filled in."""
        return f"""{{"policy": "",
 "created": "",
 "sampling": {{"temperature": null, "top_p": null, "seed": null, "n": {self.n}}},
 "completions_sha256":
  "{self.sha256}"}}"""


class SelectionPack:
    """A file of samples, read once: iterate it for each id with its samples, then ask what it was.

    All groups have one size, and that is at least ``n``.
    """

    def __init__(self, path: Path, n: int) -> None:
        self.path = path
        self.n = n
        self._size = 0
        self._bytes = hashlib.sha256()

    def __iter__(self) -> Iterator[tuple[str, list[str]]]:
        for group in read_records(self.path, SampleGroup, self._bytes):
            got = len(group.samples)
            self._size = self._size or got
            if got != self._size:
                in_ = f"{got} in {clipped(group.id, 60)}"
                raise UserError(f"{self.path}: expected groups of one size, got {self._size} samples first and {in_}")
            if self.n > got:
                most = f"{got}, the samples a prompt in {self.path}"
                raise UserError(f"--n {self.n}: expected at most {most}, got {self.n}")
            yield group.id, group.samples

    @property
    def completions(self) -> CompletionsFile:
        return CompletionsFile(self.path, self._bytes.hexdigest(), self._size)


def provenance(completions: CompletionsFile) -> Provenance | None:
    """Who generated a file of completions, by the file that describes it; None where there is none.

    Raises UserError where that describes other bytes or another number of completions.
    """
    path = completions.meta_path
    if not path.exists():
        return None
    try:
        source, described = read_json(path, Provenance), completions.path.name
    except UserError as error:
        whole = " ".join(completions.meta_template.split())
        raise UserError(f"{error}; a whole one, to fill in (seed may stay null): {whole}") from None
    if source.completions_sha256 not in (None, completions.sha256):
        raise UserError(
            f"{path} $.completions_sha256: expected the SHA-256 of {described}, got that of other bytes; if it does "
            f'describe this file, write "completions_sha256": "{completions.sha256}"'
        )
    if source.sampling.n != completions.n:
        expected = f"{completions.n}, the completions a prompt in {described}"
        raise UserError(f"{path} $.sampling.n: expected {expected}, got {source.sampling.n}")
    return source
