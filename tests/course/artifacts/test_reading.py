"""Reading a run strictly: what is no manifest of this lab, or no row, is named in one line.

An example: a manifest that an older version of the lab wrote. Its schema version is named, and no row is read.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Lab, manifest_edited

from course.artifacts.reading import Broken, open_run, rows

Tamper = Callable[[Path], object]


@pytest.fixture
def run(lab: Lab) -> Path:
    return lab.measured("a", [True, False, True])


def without(name: str) -> Tamper:
    return lambda run: (run / name).unlink()


def unlike_text(name: str, text: bytes) -> Tamper:
    return lambda run: (run / name).write_bytes(text)


def manifest_of(**changes: object) -> Tamper:
    return lambda run: manifest_edited(run, **changes)


BREAKAGES: dict[str, tuple[Tamper, str]] = {
    "no manifest": (without("manifest.json"), "manifest.json cannot be read"),
    "half a manifest": (unlike_text("manifest.json", b'{"loop":'), "manifest.json is not a manifest of this lab"),
    "no UTF-8": (unlike_text("manifest.json", b'{"loop":"\xff"}'), "manifest.json is not a manifest of this lab"),
    "an extra key": (manifest_of(extra=1), "unknown field `extra`"),
    "a field of another type": (manifest_of(golden=True), "$.golden"),
    "another schema": (manifest_of(schema_version=1), "manifest.json has schema version 1, but this lab reads 3"),
}


@pytest.mark.parametrize("kind", BREAKAGES)
def test_a_run_without_a_whole_manifest_is_not_opened(lab: Lab, run: Path, kind: str) -> None:
    tamper, said = BREAKAGES[kind]
    tamper(run)
    with pytest.raises(Broken) as refusal:
        open_run(run)
    assert said in str(refusal.value)
    line = lab.refused("inspect_run", "--run", run, "--only-fails")
    assert f"a: this run is broken: {refusal.value}" in line
    verified = lab("inspect_run", "--run", run, "--verify")
    assert verified.status == 1
    assert " ".join(verified.out.split()) == f"a: NOT verified - {refusal.value}"
    assert verified.out.startswith("a: NOT verified\n  - ")


def test_what_is_no_folder_is_the_callers_mistake(lab: Lab) -> None:
    lab.write("file", "mine")
    for path, got in (("file", "a file"), ("nowhere", "a path that does not exist")):
        assert f"{path}: expected the folder of a run, got {got}" in lab.refused("inspect_run", "--run", path)


def test_rows_come_as_they_stand_and_feed_the_digest(run: Path) -> None:
    digest = hashlib.sha256()
    assert [(row.id, row.reward) for row in rows(open_run(run), digest)] == [("q1", 1.0), ("q2", 0.0), ("q3", 1.0)]
    assert digest.hexdigest() == hashlib.sha256((run / "results.jsonl").read_bytes()).hexdigest()
    assert open_run(run).digest == hashlib.sha256((run / "manifest.json").read_bytes()).hexdigest()


@pytest.mark.parametrize("number", [1, 2, 2_999, 3_000])
def test_a_broken_row_is_named_by_its_own_number_however_late(lab: Lab, number: int) -> None:
    """3,000 rows are read in several blocks."""
    run = lab.measured("long", [True] * 3_000)
    lines = (run / "results.jsonl").read_bytes().split(b"\n")
    assert sum(map(len, lines)) > 1 << 18
    for bad in (b'{"id":3}', b""):
        (run / "results.jsonl").write_bytes(b"\n".join([*lines[: number - 1], bad, *lines[number:]]))
        with pytest.raises(Broken, match=f"^results.jsonl:{number} is not a result: "):
            list(rows(open_run(run)))
