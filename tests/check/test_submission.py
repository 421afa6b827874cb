"""The hand-in: what is in it, byte for byte the same each time, and nothing that a student did not mean to hand in.

An example: of ``exercises/`` with one file, a hidden one and a cache, the one file is in the zip.
"""

import errno
import os
import zipfile
from pathlib import Path

import pytest
from conftest import Lab

from check.submission import submit
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
