"""What is known of a dataset file once it has been read: its fingerprints and its split; and who wrote completions.

An example: a copy of the holdout under another name still says ``split: holdout`` in its records, and stays a
holdout.
"""

import hashlib
import json
from datetime import date
from pathlib import Path

import pytest

from course.datasets.sources import Dataset, provenance
from course.errors import UserError


def dataset(folder: Path, *records: dict[str, object], declared: str | None = None) -> Dataset:
    path = folder / "d.jsonl"
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    read = Dataset(path, declared)
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


@pytest.mark.parametrize(("one", "other"), [("dev", "holdout"), ("holdout", None), (None, "holdout")])
def test_records_that_contradict_each_other_are_refused(tmp_path: Path, one: str | None, other: str | None) -> None:
    records = [record(f"q{i}", metadata={} if said is None else {"split": said}) for i, said in enumerate((one, other))]
    with pytest.raises(UserError, match=f"split of q1: expected the split {one} like the lines before, got {other}"):
        dataset(tmp_path, *records)


def test_completions_without_a_meta_file_were_written_by_nobody_knows_whom(tmp_path: Path) -> None:
    assert provenance(tmp_path / "c.jsonl") is None


def test_the_meta_file_says_who_wrote_completions_and_how(tmp_path: Path) -> None:
    sampling = {"temperature": 0.5, "top_p": 0.9, "seed": 3, "n": 8}
    meta = {"policy": "somebody", "created": "2026-01-31", "sampling": sampling, "note": "by hand"}
    (tmp_path / "c.v2.meta.json").write_text(json.dumps(meta), encoding="utf-8")
    source = provenance(tmp_path / "c.v2.jsonl")
    assert source is not None
    assert source.sampling is not None
    assert (source.policy, source.created, source.note) == ("somebody", date(2026, 1, 31), "by hand")
    found = source.sampling
    assert [found.temperature, found.top_p, found.seed, found.n] == [0.5, 0.9, 3, 8]
