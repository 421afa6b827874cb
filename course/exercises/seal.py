"""Machinery: the seal of a student's copy, which names the teacher's files that changed in it.

Covered
    Accidents: a file of the course that was edited, deleted or replaced, and then forgotten.
Not covered
    Adversaries: who edits a file can write the seal anew, so a teacher grades with fresh ones. Files that were added.
"""

import json
import re
from pathlib import Path

from course.datasets.files import open_regular, sha256_of

SEAL = "seal.json"
STUDENTS = ("exercises/", "notes/", "runs/", "tests/test_rubric.py")  # what the student writes is under no seal


def files_in(folder: Path) -> dict[str, Path]:
    """Path in the folder -> file or link, in order. Hidden ones, those in hidden folders, and caches are left out."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*")}
    known = {name: path for name, path in sorted(found.items()) if path.is_file() or path.is_symlink()}
    return {name: path for name, path in known.items() if not re.search(r"(^|/)(\.|__pycache__/)", name)}


def write_seal(folder: Path) -> dict[str, str]:
    """Write ``seal.json`` into a student's copy. Returns what it holds: path in the folder -> SHA-256 of the file."""
    names = [name for name in files_in(folder) if name != SEAL and not name.startswith(STUDENTS)]
    digests = {name: sha256_of(folder / name) for name in names}
    (folder / SEAL).write_text(json.dumps(digests, indent=1) + "\n", encoding="utf-8", newline="\n")
    return digests


def changed_files(folder: Path) -> list[str]:
    """The sealed files that are gone or have other bytes, in order; none where no seal was written."""
    try:
        with open_regular(folder / SEAL) as file:
            digests = json.loads(file.read(1 << 26))
        return [name for name, digest in digests.items() if sha256_of(folder / name) != digest]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):  # not as ``write_seal`` leaves it
        return [SEAL]
