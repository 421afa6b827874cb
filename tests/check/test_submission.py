"""The hand-in: what is in it, under the next free number.

An example: of ``exercises/`` with one file, a hidden one and a cache, the one file is in the zip.
"""

import zipfile
from pathlib import Path

from conftest import Lab

from check.submission import submit
from course.artifacts import run_log


def test_it_holds_what_a_student_wrote_and_the_runs_that_count(lab: Lab) -> None:
    wanted = [
        "exercises/a.py",
        "notes/sub/n.md",
        "runs/log.jsonl",
        "runs/mine/run 2/rollouts/a.jsonl",
        "tests/test_rubric.py",
    ]
    others = ["exercises/.hidden", "exercises/__pycache__/a.pyc", "course/x.py", "runs/run_1/manifest.json"]
    for name in (*wanted, *others, "runs/check.json"):
        path = run_log.LOG.parent.parent / name if name.startswith("runs/") else lab.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
    path, names = submit(["runs/mine/run 2"])
    assert (path, names) == (Path("submission_001.zip"), wanted)
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == names
        assert all(archive.read(name).decode() == name for name in names)
    assert submit([])[0] == Path("submission_002.zip")
