"""Machinery: the seal of a student's copy, which names the teacher's files that changed in it.

Covered
    Accidents: a file of the course that was edited, deleted or replaced, and then forgotten.
Not covered
    Adversaries. Whoever edits a file can write the seal anew; a teacher grades with fresh files, whatever it says.
    Files that were added.
"""

import hashlib
import json
from pathlib import Path

from course.datasets.files import open_regular

SEAL = "seal.json"
STUDENTS = ("exercises/", "notes/", "runs/", "tests/test_rubric.py")  # what the student writes is under no seal
_BYTES = 1 << 26  # of one file


def write_seal(folder: Path) -> dict[str, str]:
    """Write ``seal.json`` into a student's copy. Returns what it holds: path in the folder -> SHA-256 of the file.

    Hidden files and folders, such as .venv, are left out.
    """
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    digests = {name: _digest(folder / name) for name in names if _is_teachers(name)}
    text = json.dumps(digests, indent=1) + "\n"
    (folder / SEAL).write_text(text, encoding="utf-8", newline="\n")
    return digests


def changed_files(folder: Path) -> list[str]:
    """The sealed files that are gone or have other bytes, in order; none where no seal was written."""
    try:
        with open_regular(folder / SEAL) as file:
            digests = json.loads(file.read(_BYTES))
        return [name for name, digest in digests.items() if _digest(folder / name) != digest]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):  # not as ``write_seal`` leaves it
        return [SEAL]


def _is_teachers(name: str) -> bool:
    hidden = any(part.startswith(".") or part == "__pycache__" for part in name.split("/"))
    return not hidden and name != SEAL and not name.startswith(STUDENTS)


def _digest(path: Path) -> str:
    """Of a file; empty where it cannot be read."""
    try:
        with open_regular(path) as file:
            return hashlib.sha256(file.read(_BYTES)).hexdigest()
    except OSError:
        return ""
