"""Machinery: the hand-in, and what changed in a student's copy.

The hand-in is one zip of what the student wrote and measured; the same files give the same bytes. The checksums of a
copy say which of the teacher's files changed in it.

Covered
    A file of the course that was edited, deleted or replaced by accident, and then forgotten. Links and files that are
    too large to be handed in are refused by name; hidden files and caches are left out.
Not covered
    Adversaries: whoever edits a file can edit its checksum, so a teacher grades on a fresh copy. Files that were added.
    Whether anything in it is right, which the check says and grading asks again.
"""

import json
import re
import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path

from course.artifacts import run_log
from course.artifacts.reading import runs_in
from course.datasets.files import open_regular, sha256_of, write_whole
from course.errors import UserError, reason
from course.text import did_you_mean, quote

CHECKSUMS = "checksums.json"
TEST_FILES = ("tests/test_rubric.py", "tests/test_pick_best.py", "tests/test_reinforce.py")
STUDENTS = ("exercises/", "notes/", "runs/", *TEST_FILES)  # what the student writes has no checksum
_ZIP_BYTES = 1 << 26  # of all files
_FILES = 2_000


def files_in(folder: Path) -> dict[str, Path]:
    """Path in the folder -> file or link, in order. Hidden ones, those in hidden folders, and caches are left out."""
    files = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        is_hidden = re.search(r"(^|/)(\.|__pycache__/)", name)
        if not is_hidden and (path.is_file() or path.is_symlink()):
            files[name] = path
    return dict(sorted(files.items()))


def write_checksums(folder: Path) -> dict[str, str]:
    """Write ``checksums.json`` into a student's copy. Returns its content: path in the folder -> SHA-256."""
    names = [name for name in files_in(folder) if name != CHECKSUMS and not name.startswith(STUDENTS)]
    digests = {name: sha256_of(folder / name) for name in names}
    (folder / CHECKSUMS).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8", newline="\n")
    return digests


def find_changed_files(folder: Path) -> list[str]:
    """The files that are gone or have other bytes than their checksum says, in order; none without checksums."""
    try:
        with open_regular(folder / CHECKSUMS) as file:
            digests = json.loads(file.read(1 << 26))
        return [name for name, digest in digests.items() if sha256_of(folder / name) != digest]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):  # not as ``write_checksums`` leaves it
        return [CHECKSUMS]


def submit(named: Sequence[Path], counted: Sequence[Path]) -> tuple[Path, list[str]]:
    """Write ``submission_001.zip``, or the next free number, into the working folder. Returns it and its names.

    ``named``: folders of runs, refused where they lie outside ``runs/``; ``counted``: those that a check counts.
    """
    home = run_log.LOG.parent
    for run in named:
        if not is_run_of(home, run):
            mend = did_you_mean(run.name, {other.name: f"--run {home.name}/{other.name}" for other in runs_in(home)})
            raise UserError(f"{mend}--run: expected a run in {home.name}/, got {quote(str(run))}")
    files = {}
    if run_log.LOG.is_file():
        files["runs/log.jsonl"] = run_log.LOG
    for run in (*named, *counted):
        if is_run_of(home, run):
            files |= {f"runs/{run.name}/{name}": path for name, path in files_in(home / run.name).items()}
    for folder in ("exercises", "notes"):
        files |= {f"{folder}/{name}": path for name, path in files_in(Path(folder)).items()}
    files |= {name: Path(name) for name in TEST_FILES if Path(name).exists()}
    files = dict(sorted(files.items()))
    data = zip_files(files)
    place = find_free_name()
    try:
        write_whole(place, data)
    except OSError as error:
        raise UserError(f"{place}: cannot write the hand-in: {reason(error)}; nothing was written") from None
    return place, list(files)


def is_run_of(home: Path, run: Path) -> bool:
    return run.is_dir() and run.parent.resolve() == home.resolve()


def find_free_name() -> Path:
    number = 1
    while Path(f"submission_{number:03}.zip").exists():
        number += 1
    return Path(f"submission_{number:03}.zip")


def zip_files(files: Mapping[str, Path]) -> bytes:
    """One zip of all files. Raises UserError at the first that cannot be handed in."""
    out = BytesIO()
    room = _ZIP_BYTES
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, path) in enumerate(files.items()):
            try:
                if path.is_symlink():
                    raise OSError("a link")
                with open_regular(path) as file:
                    data = file.read(room + 1)
                room -= len(data)
                if room < 0 or number == _FILES:
                    raise OSError(f"more than {_ZIP_BYTES >> 20} MB or {_FILES:,} files in all")
                info = zipfile.ZipInfo(name)  # of the year 1980: no clock
                info.create_system = 3  # Unix
                info.external_attr = 0o644 << 16
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, data)
            except OSError as error:
                raise refuse_file(name, reason(error)) from None
            except UnicodeEncodeError:
                raise refuse_file(name, "a name that is no text") from None
    return out.getvalue()


def refuse_file(name: str, got: str) -> UserError:
    return UserError(f"{quote(name)}: expected a file to hand in, got {got}; take it away")
