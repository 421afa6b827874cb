"""Machinery: what is known about the files of a measurement: fingerprints, the split, who wrote the completions."""

import hashlib
from collections.abc import Iterator, Sequence, Set
from functools import cache, cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import UNSET

from course.datasets.files import LAB, open_regular
from course.datasets.jsonl import read_batches, read_json, read_records, unreadable
from course.datasets.plain import FORM_MARK, plain_prompt
from course.datasets.records import Example, Provenance, SampleGroup, Training, prompt_digest
from course.errors import UserError
from course.text import clipped

HOLDOUT = "holdout"
SPLITS = ("dev", HOLDOUT)
_READ_BYTES = 1 << 20


class DescribedExamples(NamedTuple):
    """What some examples add to the fingerprints and the split of their dataset. A worker can send it."""

    ids: list[str]
    prompts: bytes  # a line ["id","prompt"] for each example
    examples: bytes  # a line ["id","prompt",expected_answer] for each
    splits: dict[str | None, str]  # a value of ``metadata.split`` -> the id of the first example with this value
    prompt_numbers: list[int]  # a number for each prompt, the same for equal prompts: eight bytes of its digest
    shipped: Set[str]  # the plain prompts that also stand in a holdout of the lab


def describe_examples(path: Path, examples: Sequence[Example], holdout_prompts: Set[str]) -> DescribedExamples:
    """``holdout_prompts``: of the lab. Raises UserError if the metadata name a split that does not exist."""
    splits: dict[str | None, str] = {}
    for example in examples:
        split = None if example.metadata is UNSET else example.metadata.get("split")
        if split is not None and split not in SPLITS:
            expected = f"expected {' or '.join(SPLITS)}, got {clipped(str(split), 60)}"
            raise UserError(f"{path}: $.metadata.split of {clipped(example.id, 60)}: {expected}")
        if split not in splits:
            splits[split] = example.id
    encoder = msgspec.json.Encoder()
    plain_prompts = [plain_prompt(example.prompt) for example in examples]
    return DescribedExamples(
        ids=[example.id for example in examples],
        prompts=encoder.encode_lines([(example.id, example.prompt) for example in examples]),
        examples=encoder.encode_lines([(e.id, e.prompt, e.expected_answer) for e in examples]),
        splits=splits,
        prompt_numbers=[number_of_text(prompt) for prompt in plain_prompts],
        shipped=holdout_prompts & set(plain_prompts),
    )


def number_of_text(text: str) -> int:
    """Eight bytes of a digest: equal for equal texts in any process, different for different texts except by chance."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8"), digest_size=8).digest())


class FilesDigest:
    """SHA-256 over the bytes of several files in order, as if the files were joined. ``add`` each file, then ask.

    ``read_again``: read the bytes of each file that is added. One file that this process measured itself need not be
    read again, because its own SHA-256 is the digest of all.
    """

    def __init__(self, *, read_again: bool) -> None:
        self._read_again = read_again
        self._joined = hashlib.sha256()
        self._only = ""

    def add(self, path: Path, sha256: str) -> None:
        """``sha256``: of the bytes that were measured. Raises UserError if the file now holds different bytes."""
        if not self._read_again:
            self._only = sha256
            return
        own = hashlib.sha256()
        try:
            with open_regular(path) as file:
                while block := file.read(_READ_BYTES):
                    own.update(block)
                    self._joined.update(block)
        except OSError as error:
            raise unreadable(path, error) from None
        if own.hexdigest() != sha256:
            raise UserError(f"{path}: this file changed while it was measured; measure again")

    def hexdigest(self) -> str:
        return self._joined.hexdigest() if self._read_again else self._only


class Dataset:
    """A dataset in one file or in several: iterate it once, then ask for its fingerprints and its split.

    The split is the ``metadata.split`` of the records, or else ``declared``, or else ``dev``. Records that contradict
    each other or the declaration are refused. A dataset with prompts of a holdout that the lab ships is a holdout,
    whatever its name and metadata say. So is a dataset with exactly the prompts of a holdout that the log knows
    (``known_holdouts``: digests as ``holdouts_in`` makes them). An id is unique over all files.

    If the files are read elsewhere, ``add`` the descriptions made there, in order, then ``end_file`` after each.
    ``read_again``: a different process read the files, so their bytes are read here once more.
    """

    def __init__(
        self,
        *paths: Path,
        declared: str | None = None,
        read_again: bool = False,
        known_holdouts: Set[str] = frozenset(),
    ) -> None:
        self.paths = paths
        self.path = paths[0]
        self.declared = declared
        self._known_holdouts = known_holdouts
        self._is_known_holdout = False
        self._unread = len(paths)
        self._bytes = FilesDigest(read_again=read_again or len(paths) > 1)
        self._prompts_in_order = hashlib.sha256()
        self._examples = hashlib.sha256()
        self._file_of_id: dict[str, Path] = {}  # of several files
        self._n = 0
        self._prompt_numbers: set[int] = set()
        self._splits: list[str | None] = []  # the values of ``metadata.split``, each once
        self._shipped: set[str] = set()  # the prompts that it shares with holdouts of the lab

    def __iter__(self) -> Iterator[Example]:
        for path in self.paths:
            digest = hashlib.sha256()
            for batch in read_batches(path, Example, digest):
                self.add(path, describe_examples(path, batch, shipped_prompts()))
                yield from batch
            self.end_file(path, digest.hexdigest())

    def add(self, path: Path, described: DescribedExamples) -> None:
        """The next examples of a file. Raises UserError if they contradict what was added before."""
        if len(self.paths) > 1:
            self._add_ids(path, described.ids)
        self._prompts_in_order.update(described.prompts)
        self._examples.update(described.examples)
        self._n += len(described.ids)
        self._prompt_numbers.update(described.prompt_numbers)
        self._shipped |= described.shipped
        for split, id_ in described.splits.items():
            if split not in self._splits:
                self._add_split(path, split, id_)

    def end_file(self, path: Path, sha256: str) -> None:
        """All examples of a file were added. ``sha256``: of its bytes, as they were read."""
        if self.split != HOLDOUT and (opened := shipped_in(self._shipped)):
            name, holdout = next(iter(opened.items()))
            shared = len(holdout & self._shipped)
            raise UserError(
                f"{path}: the split is {self.split}, but {shared} of the prompts are from {name}; "
                f"delete these prompts, or let --split or metadata.split say {HOLDOUT}"
            )
        self._bytes.add(path, sha256)
        self._unread -= 1
        if not self._unread and self._known_holdouts and self.split != HOLDOUT:
            self._is_known_holdout = not self._known_holdouts.isdisjoint(holdouts_in(self.prompts))
        if self._is_known_holdout and self.split != HOLDOUT:
            raise UserError(
                f"{path}: the split is {self.split}, but the log of runs knows these prompts as a holdout; "
                f"let --split or metadata.split say {HOLDOUT}, or name no split"
            )

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, or of the files joined."""
        return self._bytes.hexdigest()

    @property
    def prompts_fingerprint(self) -> str:
        """SHA-256 over id and prompt of each example in order."""
        return self._prompts_in_order.hexdigest()

    @property
    def examples_fingerprint(self) -> str:
        """SHA-256 over id, prompt and expected answer of each example in order."""
        return self._examples.hexdigest()

    @property
    def split(self) -> str:
        undeclared = HOLDOUT if self._shipped or self._is_known_holdout else SPLITS[0]
        return self._splits[0] or self.declared or undeclared

    @cached_property
    def prompts(self) -> set[str]:
        """The distinct plain prompts. The files are read again, because a million prompts need much room.

        Raises UserError if the files now hold different bytes.
        """
        digest = hashlib.sha256()
        prompts: set[str] = set()
        for path in self.paths:
            prompts.update(plain_prompt(example.prompt) for example in read_records(path, Example, digest))
        if digest.hexdigest() != self.fingerprint:
            names = " ".join(map(str, self.paths))
            raise UserError(f"{names}: a file changed while it was measured; measure again")
        return prompts

    def ids_with_one_prompt(self) -> tuple[str, str] | None:
        """The first two ids with the same prompt; None if each prompt stands once.

        Ask when all examples were read. The files are read again only if a prompt stands twice.
        """
        if len(self._prompt_numbers) == self._n:
            return None
        id_of_prompt: dict[str, str] = {}
        for path in self.paths:
            for example in read_records(path, Example):
                first = id_of_prompt.setdefault(plain_prompt(example.prompt), example.id)
                if first != example.id:
                    return first, example.id
        return None

    def _add_ids(self, path: Path, ids: list[str]) -> None:
        if not self._file_of_id.keys().isdisjoint(ids):
            repeated = next(id_ for id_ in ids if id_ in self._file_of_id)
            got = f'"{clipped(repeated, 60)}", which is also in {self._file_of_id[repeated]}'
            raise UserError(f"{path}: expected ids that are unique over all files, got {got}")
        self._file_of_id.update(dict.fromkeys(ids, path))

    def _add_split(self, path: Path, split: str | None, id_: str) -> None:
        where = f"{path}: $.metadata.split of {clipped(id_, 60)}"
        if split is not None and self.declared not in (None, split):
            raise UserError(f"{where}: expected {self.declared}, as --split says, got {split}; leave --split out")
        self._splits.append(split)
        if len(self._splits) > 1:
            expected = f"expected {_split_text(self._splits[0])}, as in the examples before it"
            raise UserError(f"{where}: {expected}, got {_split_text(split)}")


@cache
def shipped_holdouts(folder: Path = LAB / "data" / "datasets") -> dict[str, frozenset[str]]:
    """The lab's own holdouts: file name -> plain prompts. Empty if the package stands without the lab."""
    paths = sorted(folder.glob(f"*_{HOLDOUT}.jsonl"))
    return {
        path.name: frozenset(plain_prompt(example.prompt) for example in read_records(path, Example)) for path in paths
    }


def note_on_holdouts() -> str | None:
    """A note that the lab's holdouts are not known; None if the lab's folder is here."""
    if shipped_holdouts():
        return None
    return "the lab's folder is not here, so its holdouts are not known, and no prompt was compared with them"


@cache
def shipped_prompts() -> frozenset[str]:
    """The plain prompts of all the lab's own holdouts."""
    return frozenset().union(*shipped_holdouts().values())


def prompts_trained_on(prompts: Set[str], training: Training) -> int | None:
    """How many of these prompts a policy was trained on; None if its training does not list them in today's form."""
    if not training.prompts_known:
        return None
    return len({prompt_digest(prompt) for prompt in prompts}.intersection(training.prompts))


def shipped_in(prompts: Set[str]) -> dict[str, frozenset[str]]:
    """The holdouts of the lab that share a prompt with these prompts."""
    return {name: holdout for name, holdout in shipped_holdouts().items() if not holdout.isdisjoint(prompts)}


def holdouts_in(prompts: Set[str]) -> list[str]:
    """The digests of the holdouts that these prompts open: each of the lab's that shares a prompt, else these."""
    opened: list[Set[str]] = [*shipped_in(prompts).values()] or [prompts]
    return [holdout_digest(holdout) for holdout in opened]


def holdout_digest(prompts: Set[str]) -> str:
    """The SHA-256 over the distinct prompts, sorted, and the number of their form.

    A holdout stays the same in a different order, under different ids or in a different file.
    """
    lines = msgspec.json.Encoder().encode_lines(sorted(prompts))
    return f"{hashlib.sha256(lines).hexdigest()}{FORM_MARK}"


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
        """What to write into that file: JSON with the known facts, and the others to be filled in."""
        return f"""{{"policy": "",
 "created": "",
 "sampling": {{"temperature": null, "top_p": null, "seed": null, "n": {self.n}}},
 "template": "",
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
                others = f"{self._size} samples in the first and {got} in {clipped(group.id, 60)}"
                raise UserError(f"{self.path}: expected groups of the same size, got {others}")
            if self.n > got:
                most = f"{got}, the number of samples of each prompt in {self.path}"
                raise UserError(f"--n: expected at most {most}, got {self.n}")
            yield group.id, group.samples

    @property
    def completions(self) -> CompletionsFile:
        return CompletionsFile(self.path, self._bytes.hexdigest(), self._size)


def provenance(completions: CompletionsFile) -> Provenance | None:
    """Who generated a file of completions, as its ``.meta.json`` says; None if there is no such file.

    Raises UserError if the description is of different bytes or of a different number of completions.
    """
    path = completions.meta_path
    if not path.exists():
        return None
    try:
        source, described = read_json(path, Provenance), completions.path.name
    except UserError as error:
        whole = " ".join(completions.meta_template.split())
        raise UserError(f"{error}; a complete file to fill in (seed may stay null): {whole}") from None
    if source.completions_sha256 not in (None, completions.sha256):
        raise UserError(
            f"{path} $.completions_sha256: expected the SHA-256 of {described}, got the SHA-256 of different bytes; if "
            f'this description is of {described}, write "completions_sha256": "{completions.sha256}"'
        )
    if source.sampling.n != completions.n:
        expected = f"{completions.n}, the number of completions of each prompt in {described}"
        raise UserError(f"{path} $.sampling.n: expected {expected}, got {source.sampling.n}")
    return source


class Completions:
    """Files with one completion of each prompt: ``add`` each as it was read, then ask for fingerprint and source."""

    def __init__(self, *, read_again: bool) -> None:
        self._bytes = FilesDigest(read_again=read_again)
        self._described: list[tuple[CompletionsFile, Provenance | None]] = []

    def add(self, path: Path, sha256: str) -> None:
        """The next file. Raises UserError if its policy or its settings differ from those of the first file."""
        file = CompletionsFile(path, sha256, 1)
        source = provenance(file)
        if self._described:
            refuse_other_source(*self._described[0], file, source)
        self._bytes.add(path, sha256)
        self._described.append((file, source))

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the file, or of the files joined."""
        return self._bytes.hexdigest()

    @property
    def first(self) -> CompletionsFile:
        return self._described[0][0]

    @property
    def source(self) -> Provenance | None:
        """Who generated all of them; None if that is not known. Seeds that differ become a list, in order."""
        source = self._described[0][1]
        if source is None:
            return None
        seeds = [described.sampling.seed for _, described in self._described if described]
        seed = seeds[0]
        if any(other != seed for other in seeds):
            seed = list(chain.from_iterable(one if isinstance(one, list) else [one] for one in seeds))
        return msgspec.structs.replace(source, sampling=msgspec.structs.replace(source.sampling, seed=seed))


def refuse_other_source(
    first: CompletionsFile, first_source: Provenance | None, file: CompletionsFile, source: Provenance | None
) -> None:
    """Raise UserError unless two files of completions were generated under the same conditions, seeds aside."""
    refuse_less_known(first, first_source, file, source)
    refuse_less_known(file, source, first, first_source)
    if first_source is None or source is None:
        return
    before, now = shared_conditions(first_source), shared_conditions(source)
    for name, value in now.items():
        if value != before[name]:
            expected = f"expected {_json_text(before[name])} as in {first.meta_path}"
            raise UserError(f"{file.meta_path} $.{name}: {expected}, got {_json_text(value)}")


def _split_text(split: str | None) -> str:
    return "no split" if split is None else f"the split {split}"


def _json_text(value: object) -> str:
    """A value as its file has it, cut to 60 characters."""
    return clipped(msgspec.json.encode(value).decode("utf-8"), 60)


def refuse_less_known(
    file: CompletionsFile, source: Provenance | None, other: CompletionsFile, other_source: Provenance | None
) -> None:
    """Raise UserError if only the other file is described, or if only the other description has a digest."""
    if other_source is None:
        return
    if source is None:
        mend = f"write one for {file.path.name}, like {other.meta_path}"
        raise UserError(f"{file.meta_path}: this file is missing; {mend}")
    if other_source.completions_sha256 is not None and source.completions_sha256 is None:
        expected = f"expected the SHA-256 of {file.path.name}, because {other.meta_path} has one too, got none"
        mend = f'write "completions_sha256": "{file.sha256}"'
        raise UserError(f"{file.meta_path} $.completions_sha256: {expected}; {mend}")


def shared_conditions(source: Provenance) -> dict[str, object]:
    """The conditions that files measured as one must share, each under its name in ``.meta.json``."""
    training = source.training
    return {
        "policy": source.policy,
        "sampling.temperature": source.sampling.temperature,
        "sampling.top_p": source.sampling.top_p,
        "template": source.template,
        "training.rubric": training.rubric if training else None,
        "training.prompts": training.prompts if training else None,
    }
