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
from collections.abc import Sequence
from io import BytesIO
from itertools import count
from pathlib import Path

from course.artifacts import run_log
from course.artifacts.reading import runs_in
from course.datasets.files import open_regular, sha256_of, write_whole
from course.errors import UserError, reason
from course.text import did_you_mean, quote

CHECKSUMS = "checksums.json"
STUDENTS = ("exercises/", "notes/", "runs/", "tests/test_rubric.py")  # what the student writes has no checksum
_ZIP_BYTES = 1 << 26  # of all files
_FILES = 2_000


def files_in(folder: Path) -> dict[str, Path]:
    """Path in the folder -> file or link, in order. Hidden ones, those in hidden folders, and caches are left out."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    known = {name: path for name, path in sorted(found.items()) if path.is_file() or path.is_symlink()}
    return {name: path for name, path in known.items() if not re.search(r"(^|/)(\.|__pycache__/)", name)}


def write_checksums(folder: Path) -> dict[str, str]:
    """Write ``checksums.json`` into a student's copy. Returns its content: path in the folder -> SHA-256."""
    names = [name for name in files_in(folder) if name != CHECKSUMS and not name.startswith(STUDENTS)]
    digests = {name: sha256_of(folder / name) for name in names}
    (folder / CHECKSUMS).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8", newline="\n")
    return digests


def changed_files(folder: Path) -> list[str]:
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
    inside = [run.name for run in (*named, *counted) if run.is_dir() and run.parent.resolve() == home.resolve()]
    if strange := next((run for run in named if run.name not in inside), None):
        mend = did_you_mean(strange.name, {one.name: f"--run {home.name}/{one.name}" for one in runs_in(home)})
        raise UserError(f"{mend}--run: expected a run in {home.name}/, got {quote(str(strange))}")
    paths = {name: path for name in ("log.jsonl", "predictions.json") if (path := home / name).is_file()}
    paths |= {f"{run}/{name}": path for run in inside for name, path in files_in(home / run).items()}
    paths = {f"runs/{name}": path for name, path in paths.items()}
    for folder in ("exercises", "notes"):
        paths |= {f"{folder}/{name}": path for name, path in files_in(Path(folder)).items()}
    paths |= {name: Path(name) for name in ("tests/test_rubric.py",) if Path(name).exists()}
    data = _zipped({name: paths[name] for name in sorted(paths)})
    place = next(path for number in count(1) if not (path := Path(f"submission_{number:03}.zip")).exists())
    try:
        write_whole(place, data)
    except OSError as error:
        raise UserError(f"{place}: cannot write the hand-in: {reason(error)}; nothing was written") from None
    return place, sorted(paths)


def _zipped(paths: dict[str, Path]) -> bytes:
    out, room = BytesIO(), _ZIP_BYTES
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (name, path) in enumerate(paths.items()):
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
            except (OSError, UnicodeEncodeError) as error:
                got = reason(error) if isinstance(error, OSError) else "a name that is no text"
                raise UserError(f"{quote(name)}: expected a file to hand in, got {got}; take it away") from None
    return out.getvalue()
