"""Machinery: the hand-in, one zip of what the student wrote and measured. The same files give the same bytes.

Hidden files and caches are left out. Links are refused by name: what they point at is not the student's work.
"""

import re
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from course.artifacts import run_log
from course.artifacts.reading import runs_in
from course.datasets.files import write_whole
from course.errors import UserError, reason
from course.text import did_you_mean, quote

TEST_FILES = ("tests/test_rubric.py", "tests/test_pick_best.py", "tests/test_reinforce.py")


def submit(named: Sequence[Path], counted: Sequence[Path]) -> tuple[Path, list[str]]:
    """Write ``submission_001.zip``, or the next free number, into the working folder. Returns it and its names.

    ``named``: folders of runs, refused where they lie outside ``runs/``; ``counted``: those that a check counts.
    """
    home = run_log.LOG.parent
    for run in named:
        if not is_run_of(home, run):
            mend = did_you_mean(run.name, {other.name: f"--run {home.name}/{other.name}" for other in runs_in(home)})
            raise UserError(f"{mend}--run: expected a run in {home.name}/, got {quote(str(run))}")
    files = {name: Path(name) for name in TEST_FILES}
    files["runs/log.jsonl"] = run_log.LOG
    for folder in ("exercises", "notes"):
        files |= {f"{folder}/{name}": path for name, path in files_in(Path(folder)).items()}
    for run in (*named, *counted):
        if is_run_of(home, run):
            files |= {f"runs/{run.name}/{name}": path for name, path in files_in(run).items()}
    files = {name: path for name, path in sorted(files.items()) if path.exists() or path.is_symlink()}
    place = find_free_name()
    try:
        write_whole(place, zip_files(files))
    except OSError as error:
        raise UserError(f"{place}: cannot write the hand-in: {reason(error)}; nothing was written") from None
    return place, list(files)


def files_in(folder: Path) -> dict[str, Path]:
    """Path in the folder -> file or link. Hidden ones, those in hidden folders, and caches are left out."""
    files = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        is_hidden = re.search(r"(^|/)(\.|__pycache__/)", name)
        if not is_hidden and (path.is_file() or path.is_symlink()):
            files[name] = path
    return files


def is_run_of(home: Path, run: Path) -> bool:
    return run.is_dir() and run.parent.resolve() == home.resolve()


def find_free_name() -> Path:
    number = 1
    while Path(f"submission_{number:03}.zip").exists():
        number += 1
    return Path(f"submission_{number:03}.zip")


def zip_files(files: Mapping[str, Path]) -> bytes:
    """One zip of all files, without a clock: each is of the year 1980. Raises UserError at a link."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, path in files.items():
            if path.is_symlink():
                raise UserError(f"{quote(name)}: expected a file to hand in, got a link; take it away")
            info = zipfile.ZipInfo(name)
            info.create_system = 3  # Unix
            info.external_attr = 0o644 << 16
            archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return out.getvalue()
