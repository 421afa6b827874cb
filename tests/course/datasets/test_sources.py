"""What is known of a dataset file once it has been read: its fingerprints and its split; and who wrote completions.

An example: a copy of the lab's holdout under another name, with other ids and without metadata, is a holdout still:
it is known by its prompts.
"""

import hashlib
import json
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from conftest import ROOT, lines_of

from course.datasets.plain import FORM, plain_prompt
from course.datasets.records import Training
from course.datasets.sources import CompletionsFile, Dataset, SelectionPack, holdouts_in, prompts_trained_on, provenance
from course.errors import UserError


def dataset(folder: Path, *records: dict[str, object], declared: str | None = None) -> Dataset:
    path = folder / "d.jsonl"
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    read = Dataset(path, declared=declared)
    assert [example.id for example in read] == [record["id"] for record in records]
    return read


def record(id_: str = "q1", prompt: str = "p", answer: int = 1, **more: object) -> dict[str, object]:
    return {"id": id_, "prompt": prompt, "expected_answer": answer, **more}


def test_the_fingerprint_is_the_sha256_of_the_file(tmp_path: Path) -> None:
    read = dataset(tmp_path, record(), record("q2"))
    assert read.fingerprint == hashlib.sha256((tmp_path / "d.jsonl").read_bytes()).hexdigest()


def test_the_prompts_fingerprint_is_over_ids_and_prompts_in_order(tmp_path: Path) -> None:
    said = dataset(tmp_path, record("q1", "a"), record("q2", "ü")).prompts_fingerprint
    assert said == hashlib.sha256('["q1","a"]\n["q2","ü"]\n'.encode()).hexdigest()


def test_the_prompts_fingerprint_stays_when_only_answers_and_metadata_change(tmp_path: Path) -> None:
    one = dataset(tmp_path, record(answer=1))
    other = dataset(tmp_path, record(answer=2, metadata={"kind": "sum"}))
    assert one.prompts_fingerprint == other.prompts_fingerprint
    assert one.fingerprint != other.fingerprint


def test_the_prompts_fingerprint_changes_with_an_id_a_prompt_and_their_order(tmp_path: Path) -> None:
    one, two = record("q1", "a"), record("q2", "b")
    files = [[one, two], [two, one], [one], [one, record("q2", "B")], [one, record("Q2", "b")]]
    assert len({dataset(tmp_path, *records).prompts_fingerprint for records in files}) == len(files)


def test_a_file_longer_than_a_block_is_fingerprinted_whole(tmp_path: Path) -> None:
    records = [record(f"q{i}", "p" * 100) for i in range(5_000)]
    read = dataset(tmp_path, *records)
    prompts = "".join(f'["q{i}","{"p" * 100}"]\n' for i in range(5_000))
    assert read.fingerprint == hashlib.sha256((tmp_path / "d.jsonl").read_bytes()).hexdigest()
    assert read.prompts_fingerprint == hashlib.sha256(prompts.encode()).hexdigest()


@pytest.mark.parametrize(
    ("said", "declared", "split"),
    [
        (None, None, "dev"),
        (None, "dev", "dev"),
        (None, "holdout", "holdout"),
        ("dev", None, "dev"),
        ("holdout", None, "holdout"),
        ("holdout", "holdout", "holdout"),
    ],
)
def test_the_split_is_what_the_records_say_or_else_what_is_declared(
    tmp_path: Path, said: str | None, declared: str | None, split: str
) -> None:
    metadata = {"kind": "sum"} if said is None else {"split": said}
    records = record("q1", metadata=metadata), record("q2", metadata=metadata)
    assert dataset(tmp_path, *records, declared=declared).split == split


@pytest.mark.parametrize(("said", "declared"), [("holdout", "dev"), ("dev", "holdout")])
def test_a_declaration_that_contradicts_the_records_is_refused(tmp_path: Path, said: str, declared: str) -> None:
    with pytest.raises(UserError, match=rf"split of q1: expected {declared}, as --split says, got {said}"):
        dataset(tmp_path, record(metadata={"split": said}), declared=declared)


@pytest.mark.parametrize("said", ["test", "", "Dev", 1, ["dev"], {"of": "dev"}])
def test_a_split_there_is_not_is_refused(tmp_path: Path, said: object) -> None:
    with pytest.raises(UserError, match=r"d\.jsonl: \$\.metadata\.split of q1: expected dev or holdout, got"):
        dataset(tmp_path, record(metadata={"split": said}))


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("dev", "holdout", "expected the split dev, as in the examples before it, got the split holdout"),
        ("holdout", None, "expected the split holdout, as in the examples before it, got no split"),
        (None, "holdout", "expected no split, as in the examples before it, got the split holdout"),
    ],
)
def test_records_that_contradict_each_other_are_refused(
    tmp_path: Path, one: str | None, other: str | None, said: str
) -> None:
    records = [record(f"q{i}", metadata={"split": split} if split else {}) for i, split in enumerate((one, other))]
    with pytest.raises(UserError, match=f"split of q1: {said}"):
        dataset(tmp_path, *records)


def test_the_examples_fingerprint_is_over_ids_prompts_and_answers_in_order(tmp_path: Path) -> None:
    said = dataset(tmp_path, record("q1", "a", -7), record("q2", "ü", 10**30, metadata={"kind": "sum"}))
    lines = f'["q1","a",-7]\n["q2","ü",{10**30}]\n'
    assert said.examples_fingerprint == hashlib.sha256(lines.encode()).hexdigest()


def test_the_examples_fingerprint_changes_with_an_answer_and_not_with_metadata(tmp_path: Path) -> None:
    one, same, other = (
        dataset(tmp_path, row).examples_fingerprint
        for row in (record(), record(metadata={"kind": "sum"}), record(answer=2))
    )
    assert one == same != other


SHIPPED = sorted((ROOT / "data" / "datasets").glob("*_holdout.jsonl"))
shipped = pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.name)


def disguised(path: Path, *, every: int = 1) -> list[dict[str, object]]:
    """Prompts of a holdout, under other ids, in another order, with other answers, and saying nothing of a split."""
    rows = lines_of(path)[::-every]
    return [record(f"mine-{i}", row["prompt"], row["expected_answer"] + 1) for i, row in enumerate(rows)]


def test_the_lab_ships_holdouts() -> None:
    assert len(SHIPPED) >= 2


@shipped
def test_a_copy_of_a_shipped_holdout_is_a_holdout_under_any_name(tmp_path: Path, path: Path) -> None:
    assert dataset(tmp_path, *disguised(path)).split == "holdout"
    assert dataset(tmp_path, *disguised(path), declared="holdout").split == "holdout"


@shipped
def test_one_prompt_of_a_shipped_holdout_is_enough(tmp_path: Path, path: Path) -> None:
    (*_, last) = disguised(path)
    assert dataset(tmp_path, *(record(f"q{i}", f"mine {i}") for i in range(99)), last).split == "holdout"


@shipped
@pytest.mark.parametrize("metadata", [None, {"split": "dev"}])
def test_a_copy_of_a_shipped_holdout_that_is_called_dev_is_refused(
    tmp_path: Path, path: Path, metadata: dict[str, str] | None
) -> None:
    rows = disguised(path, every=2)
    declared = None if metadata else "dev"
    if metadata:
        rows = [row | {"metadata": metadata} for row in rows]
    with pytest.raises(UserError) as refused:
        dataset(tmp_path, *rows, declared=declared)
    where = tmp_path / "d.jsonl"
    assert str(refused.value).startswith(
        f"{where}: the split is dev, but {len(rows)} of the prompts are from {path.name}"
    )


def test_the_dev_sets_that_are_shipped_are_no_holdouts() -> None:
    for path in (ROOT / "data" / "datasets").glob("*_dev.jsonl"):
        read = Dataset(path)
        assert sum(1 for _ in read) == len(lines_of(path))
        assert read.split == "dev"


def test_a_holdout_is_the_same_in_another_order_under_other_ids_and_in_another_file(tmp_path: Path) -> None:
    """Its digest is over the sorted distinct prompts, each a line of JSON."""
    rows = [record("q1", "b"), record("q2", "ä"), record("q3", "a")]
    others = [record("x", "ä", 5), record("y", "a", 6), record("z", "b", 7), record("again", "b", 8)]
    digest = hashlib.sha256('"a"\n"b"\n"ä"\n'.encode()).hexdigest() + " form 2"
    for records in (rows, others):
        assert holdouts_in(dataset(tmp_path, *records, declared="holdout").prompts) == [digest]
    assert holdouts_in({"a", "b"}) != [digest]


def test_prompts_are_those_that_were_measured(tmp_path: Path) -> None:
    """They are read again when somebody asks: a file that has become another one in between is refused."""
    read = dataset(tmp_path, record("q1", " a  b"), record("q2", "a b"), record("q3", "c"))
    assert read.prompts == {"a b", "c"}
    read = dataset(tmp_path, record("q1", "a"))
    read.path.write_bytes(read.path.read_bytes().replace(b'"a"', b'"b"'))
    with pytest.raises(UserError, match=r"d\.jsonl: a file changed while it was measured"):
        read.prompts  # noqa: B018


@shipped
def test_a_part_of_a_shipped_holdout_opens_the_whole(tmp_path: Path, path: Path) -> None:
    prompts = sorted({plain_prompt(row["prompt"]) for row in lines_of(path)})
    lines = "".join(json.dumps(prompt, ensure_ascii=False) + "\n" for prompt in prompts)
    whole = [f"{hashlib.sha256(lines.encode()).hexdigest()} form 2"]
    assert holdouts_in(set(prompts)) == whole
    assert holdouts_in(dataset(tmp_path, *disguised(path, every=3)).prompts) == whole


DISGUISES = [
    lambda prompt: f"\t{prompt.replace(' ', '  ')}\r\n",
    str.lower,
    str.upper,
    lambda prompt: prompt.replace(" ", "\u200b "),
    lambda prompt: f'"{prompt}"',
]


@shipped
@pytest.mark.parametrize("disguise", DISGUISES)
def test_a_shipped_holdout_written_otherwise_is_that_holdout(
    tmp_path: Path, path: Path, disguise: Callable[[str], str]
) -> None:
    rows = [row | {"prompt": disguise(str(row["prompt"]))} for row in disguised(path)]
    spaced = dataset(tmp_path, *rows)
    assert spaced.split == "holdout"
    assert holdouts_in(spaced.prompts) == holdouts_in({plain_prompt(row["prompt"]) for row in lines_of(path)})
    with pytest.raises(UserError, match=f"of the prompts are from {path.name}"):
        dataset(tmp_path, *rows, declared="dev")


def test_of_two_holdouts_both_are_opened() -> None:
    one, two = (plain_prompt(lines_of(path)[0]["prompt"]) for path in SHIPPED[:2])
    assert holdouts_in({one, two}) == [*holdouts_in({one}), *holdouts_in({two})]
    assert len(set(holdouts_in({one, two}))) == 2


def test_trained_on_counts_distinct_prompts_of_the_training(tmp_path: Path) -> None:
    digests = sorted(hashlib.sha256(prompt.encode()).hexdigest()[:16] for prompt in ("a", "ü", "elsewhere"))
    read = dataset(tmp_path, record("q1", "a"), record("q2", "ü"), record("q3", "a"), record("q4", "unseen"))
    assert prompts_trained_on(read.prompts, Training("score", digests, FORM)) == 2
    spaced = dataset(tmp_path, record("q1", " a\n"), record("q2", "ü"), record("q3", "a\t"), record("q4", "unseen"))
    assert prompts_trained_on(spaced.prompts, Training("score", digests, FORM)) == 2
    assert prompts_trained_on(read.prompts, Training(None, [], FORM)) == 0
    assert prompts_trained_on(read.prompts, Training("score", digests)) is None
    assert prompts_trained_on(read.prompts, Training("score", [], FORM)) is None


BYTES = b'{"id":"q1","completion":"Final: 1"}\n'
DIGEST = hashlib.sha256(BYTES).hexdigest()
META = {
    "policy": "somebody",
    "created": "2026-01-31",
    "sampling": {"temperature": 0.5, "top_p": 0.9, "seed": 3, "n": 8},
    "note": "by hand",
}


def described(folder: Path, n: int = 8, **said: object) -> CompletionsFile:
    """A file of completions, n a prompt, and what is said of it in the file beside it."""
    (folder / "c.v2.meta.json").write_text(json.dumps(META | said), encoding="utf-8")
    return CompletionsFile(folder / "c.v2.jsonl", DIGEST, n)


def test_completions_without_a_meta_file_were_written_by_nobody_knows_whom(tmp_path: Path) -> None:
    assert provenance(CompletionsFile(tmp_path / "c.jsonl", DIGEST, 1)) is None


@pytest.mark.parametrize("said", [{}, {"completions_sha256": DIGEST}])
def test_the_meta_file_says_who_wrote_completions_and_how(tmp_path: Path, said: dict[str, str]) -> None:
    source = provenance(described(tmp_path, 8, **said))
    assert source is not None
    assert (source.policy, source.created, source.note) == ("somebody", date(2026, 1, 31), "by hand")
    found = source.sampling
    assert [found.temperature, found.top_p, found.seed, found.n] == [0.5, 0.9, 3, 8]
    assert source.completions_sha256 == said.get("completions_sha256")


def test_a_meta_file_in_part_is_refused_with_a_whole_one_to_fill_in(tmp_path: Path) -> None:
    completions = CompletionsFile(tmp_path / "c.jsonl", DIGEST, 8)
    completions.meta_path.write_text('{"policy": "somebody"}', encoding="utf-8")
    with pytest.raises(UserError) as refused:
        provenance(completions)
    complaint, whole = str(refused.value).split("; a complete file to fill in (seed may stay null): ")
    missing = "expected the keys policy, created, sampling, got a record without created, sampling"
    assert complaint == f"{completions.meta_path} $: {missing}"
    assert json.loads(whole) == json.loads(completions.meta_template)
    filled = json.loads(whole) | {"policy": "somebody", "created": "2026-01-31", "template": "{prompt}"}
    filled["sampling"] |= {"temperature": 1.0, "top_p": 1.0}
    completions.meta_path.write_text(json.dumps(filled), encoding="utf-8")
    source = provenance(completions)
    assert source is not None
    assert (source.sampling.seed, source.completions_sha256) == (None, DIGEST)


def test_a_meta_file_of_other_bytes_is_refused_with_the_line_that_mends_it(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        provenance(described(tmp_path, completions_sha256="0" * 64))
    complaint, line = str(refused.value).split("write ")
    assert complaint.startswith(
        f"{tmp_path / 'c.v2.meta.json'} $.completions_sha256: "
        "expected the SHA-256 of c.v2.jsonl, got the SHA-256 of different bytes; "
    )
    mended = provenance(described(tmp_path, **json.loads("{" + line + "}")))
    assert mended is not None
    assert mended.completions_sha256 == DIGEST


@pytest.mark.parametrize("n", [1, 4, 9])
def test_a_meta_file_of_another_number_of_completions_is_refused(tmp_path: Path, n: int) -> None:
    with pytest.raises(UserError) as refused:
        provenance(described(tmp_path, n, completions_sha256=DIGEST))
    assert str(refused.value) == (
        f"{tmp_path / 'c.v2.meta.json'} $.sampling.n: expected {n}, "
        "the number of completions of each prompt in c.v2.jsonl, got 8"
    )


def test_a_pack_says_its_digest_and_the_size_of_its_groups(tmp_path: Path) -> None:
    path = tmp_path / "pack.jsonl"
    path.write_bytes(b'{"id":"a","samples":["1","2","3"]}\n{"id":"b","samples":["4","5","6"]}\n')
    pack = SelectionPack(path, 2)
    assert list(pack) == [("a", ["1", "2", "3"]), ("b", ["4", "5", "6"])]
    assert pack.completions == (path, hashlib.sha256(path.read_bytes()).hexdigest(), 3)


def test_a_pack_is_read_group_by_group(tmp_path: Path) -> None:
    """The first groups are there before the odd one is read: a million need no more room than one batch."""
    path = tmp_path / "pack.jsonl"
    path.write_bytes(
        b"".join(b'{"id":"%d","samples":["x"]}\n' % i for i in range(50_000)) + b'{"id":"x","samples":["a","b"]}\n'
    )
    groups = iter(SelectionPack(path, 1))
    assert [next(groups)[0] for _ in range(3)] == ["0", "1", "2"]
    with pytest.raises(UserError, match="expected groups of the same size, got 1 samples in the first and 2 in x"):
        list(groups)
