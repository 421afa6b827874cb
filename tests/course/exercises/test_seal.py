"""The seal of a student's copy names what changed of the teacher's files, and nothing that a student may change.

The worked example: of five files one is the course's, and only that one stands in the seal. The SHA-256 of ``abc`` is
the one in FIPS 180-2.
"""

import json
from pathlib import Path

import pytest

from course.exercises.seal import changed_files, write_seal

ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
STUDENTS = ("exercises/a.py", "notes/b.md", "runs/log.jsonl", "tests/test_rubric.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in (*STUDENTS, "course/score.py", ".venv/x", "course/__pycache__/score.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"abc")
    assert write_seal(tmp_path) == {"course/score.py": ABC}
    return tmp_path


def test_what_a_student_writes_changes_nothing(copy: Path) -> None:
    for name in STUDENTS:
        (copy / name).write_bytes(b"another")
    (copy / "course" / "mine.py").write_bytes(b"added")
    assert changed_files(copy) == []
    assert write_seal(copy) == {"course/mine.py": json.loads((copy / "seal.json").read_bytes())["course/mine.py"]} | {
        "course/score.py": ABC
    }


def test_an_edited_and_a_lost_file_are_named(copy: Path) -> None:
    (copy / "course" / "score.py").write_bytes(b"abd")
    assert changed_files(copy) == ["course/score.py"]
    (copy / "course" / "score.py").unlink()
    assert changed_files(copy) == ["course/score.py"]
    (copy / "course" / "score.py").mkdir()
    assert changed_files(copy) == ["course/score.py"]


@pytest.mark.parametrize("seal", [b"", b"[1]", b"{", b"\xff", b'{"a\\u0000": 1}', b"[" * 100_000, b"3", b'{"/": {}}'])
def test_a_seal_that_was_edited_is_what_changed_or_names_it(copy: Path, seal: bytes) -> None:
    (copy / "seal.json").write_bytes(seal)
    assert changed_files(copy) in (["seal.json"], ["/"])


def test_without_a_seal_nothing_is_known_to_have_changed(tmp_path: Path) -> None:
    assert changed_files(tmp_path) == []
