"""The hand-in: what is in it, byte for byte the same each time, and nothing that a student did not mean to hand in.

An example: of ``exercises/`` with one file, a hidden one and a cache, the one file is in the zip.

The checksums tell what changed of the teacher's files, and nothing that a student may change. Of five files one is the
course's, and only that one has a checksum. The SHA-256 of ``abc`` is the one in FIPS 180-2.
"""

import errno
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import Lab

from check import submission
from check.submission import find_changed_files, submit, write_checksums
from course.artifacts import run_log
from course.errors import UserError


@pytest.fixture
def work(lab: Lab) -> Lab:
    for name in ("exercises/a.py", "exercises/.hidden", "exercises/__pycache__/a.pyc", "notes/sub/n.md", "course/x.py"):
        lab.write(name, name)
    for name in ("run_1/manifest.json", "run_2/rollouts/a.jsonl", "log.jsonl", "check.json"):
        (run_log.LOG.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (run_log.LOG.parent / name).write_text(name, encoding="utf-8")
    return lab


def test_it_holds_what_a_student_wrote_and_the_runs_that_were_named_or_count(work: Lab) -> None:
    home = run_log.LOG.parent
    path, names = submit([home / "run_2"], [home / "run_1", home / "run_2", home / "gone", Path("course")])
    assert path == Path("submission_001.zip")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == names
        assert {name: archive.read(name).decode() for name in names} == {
            "exercises/a.py": "exercises/a.py",
            "notes/sub/n.md": "notes/sub/n.md",
            "runs/log.jsonl": "log.jsonl",
            "runs/run_1/manifest.json": "run_1/manifest.json",
            "runs/run_2/rollouts/a.jsonl": "run_2/rollouts/a.jsonl",
        }
    work.write("tests/test_rubric.py", "assert True")
    assert "tests/test_rubric.py" in submit([], [])[1]


def test_the_same_files_give_the_same_bytes_under_the_next_number(work: Lab) -> None:
    first = submit([], [])[0].read_bytes()
    os.utime(work.folder / "exercises" / "a.py", (1e9, 1e9))
    (work.folder / "exercises" / "a.py").chmod(0o700)
    path, _ = submit([], [])
    assert path == Path("submission_002.zip")
    assert path.read_bytes() == first


def test_a_full_disk_leaves_no_half_zip_and_the_error_names_it(work: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Path.write_bytes

    def write_half(path: Path, data: bytes) -> int:
        whole(path, data[: len(data) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", write_half)
    with pytest.raises(UserError, match=r"^submission_001\.zip: cannot write the hand-in: no space left on device"):
        submit([], [])
    assert not [path for path in work.folder.iterdir() if path.is_file()]


def test_a_kill_leaves_no_half_zip_under_its_name(work: Lab) -> None:
    code = """
import os
from pathlib import Path
from check.submission import submit
whole = Path.write_bytes
def write_half(path, data):
    whole(path, data[: len(data) // 2])
    os._exit(9)
Path.write_bytes = write_half
submit([], [])
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=work.folder, env=os.environ | work.path())
    assert done.returncode == 9
    assert not list(work.folder.glob("*.zip"))


@pytest.mark.parametrize("run", ["exercises", "gone", "run_1", "."])
def test_a_named_run_that_is_not_in_runs_is_refused(work: Lab, run: str) -> None:
    with pytest.raises(UserError, match=r"--run: expected a run in runs/, got ") as caught:
        submit([Path(run)], [])
    assert ("did you mean --run runs/run_1? " in str(caught.value)) == (run == "run_1")
    assert not list(work.folder.glob("*.zip"))


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
@pytest.mark.parametrize("target", ["/etc/passwd", "..", "nowhere"])
def test_a_link_is_refused_by_its_name(work: Lab, target: str) -> None:
    (work.folder / "exercises" / "link").symlink_to(target)
    with pytest.raises(UserError, match=r"^exercises/link: expected a file to hand in, got a link; take it away"):
        submit([], [])
    assert not list(work.folder.glob("*.zip"))


def test_what_is_too_large_or_too_many_is_refused(work: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    work.write("notes/z.md", "x" * 50)
    monkeypatch.setattr(submission, "_ZIP_BYTES", 70)
    with pytest.raises(UserError, match=r"^notes/z.md: .* more than 0 MB or 2,000 files in all"):
        submit([], [])
    monkeypatch.setattr(submission, "_ZIP_BYTES", 1 << 20)
    monkeypatch.setattr(submission, "_FILES", 3)
    with pytest.raises(UserError, match=r"more than 1 MB or 3 files in all"):
        submit([], [])


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="names there are text")
def test_a_name_that_is_no_text_is_refused(work: Lab) -> None:
    Path(os.fsdecode(os.fsencode(work.folder) + b"/notes/\xff")).write_bytes(b"")
    with pytest.raises(UserError, match="got a name that is no text"):
        submit([], [])


ABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
STUDENTS = ("exercises/a.py", "notes/b.md", "runs/log.jsonl", "tests/test_rubric.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in (*STUDENTS, "course/score.py", ".venv/x", "course/__pycache__/score.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"abc")
    assert write_checksums(tmp_path) == {"course/score.py": ABC}
    return tmp_path


def test_what_a_student_writes_changes_nothing(copy: Path) -> None:
    for name in STUDENTS:
        (copy / name).write_bytes(b"another")
    (copy / "course" / "mine.py").write_bytes(b"added")
    assert find_changed_files(copy) == []
    assert write_checksums(copy) == {
        "course/mine.py": json.loads((copy / "checksums.json").read_bytes())["course/mine.py"]
    } | {"course/score.py": ABC}


def test_an_edited_and_a_lost_file_are_named(copy: Path) -> None:
    (copy / "course" / "score.py").write_bytes(b"abd")
    assert find_changed_files(copy) == ["course/score.py"]
    (copy / "course" / "score.py").unlink()
    assert find_changed_files(copy) == ["course/score.py"]
    (copy / "course" / "score.py").mkdir()
    assert find_changed_files(copy) == ["course/score.py"]


@pytest.mark.parametrize("edited", [b"", b"[1]", b"{", b"\xff", b'{"a\\u0000": 1}', b"[" * 100_000, b"3", b'{"/": {}}'])
def test_edited_checksums_are_what_changed_or_name_it(copy: Path, edited: bytes) -> None:
    (copy / "checksums.json").write_bytes(edited)
    assert find_changed_files(copy) in (["checksums.json"], ["/"])


def test_without_checksums_nothing_is_known_to_have_changed(tmp_path: Path) -> None:
    assert find_changed_files(tmp_path) == []
