"""Machinery: the hand-in, one zip of what the student wrote and measured.

Hidden files and caches are left out.
"""

import re
import zipfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path

from course.artifacts import run_log
from course.datasets.files import write_whole

TEST_FILES = ("tests/test_rubric.py", "tests/test_pick_best.py", "tests/test_reinforce.py")


def submit(runs: Iterable[str]) -> tuple[Path, list[str]]:
    """Write ``submission_001.zip``, or the next free number, into the working folder. Returns it and its names.

    ``runs``: those that belong into it, as the log names them; all lie in runs/.
    """
    files = {name: Path(name) for name in TEST_FILES if Path(name).is_file()}
    if run_log.LOG.is_file():
        files["runs/log.jsonl"] = run_log.LOG
    folders = {"exercises": Path("exercises"), "notes": Path("notes")}
    folders |= {run: run_log.LOG.parent.parent / run for run in runs}
    for name, folder in folders.items():
        for path in folder.rglob("*"):
            inside = path.relative_to(folder).as_posix()
            is_hidden = re.search(r"(^|/)(\.|__pycache__/)", inside)
            if path.is_file() and not is_hidden:
                files[f"{name}/{inside}"] = path
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, path in sorted(files.items()):
            archive.writestr(name, path.read_bytes())
    place = find_free_name()
    write_whole(place, out.getvalue())
    return place, sorted(files)


def find_free_name() -> Path:
    number = 1
    while Path(f"submission_{number:03}.zip").exists():
        number += 1
    return Path(f"submission_{number:03}.zip")
