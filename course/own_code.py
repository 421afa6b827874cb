"""Machinery: one digest of a person's own code that ran: the named file, and the person's own modules it imported.

Covered
    Modules from the folder of that file and from the working folder, whenever they were imported.
Not covered
    A data file that the code reads. A change to a module between its import and its digest.
"""

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from course.datasets.files import open_regular
from course.errors import UserError, reason


def read_code(path: Path) -> bytes:
    try:
        with open_regular(path) as file:
            return file.read()
    except OSError as error:
        raise UserError(f"{path}: cannot read this Python file: {reason(error)}") from None


def digest_of_code(path: Path, source: bytes, module_files: Iterable[str]) -> str:
    """The SHA-256 of ``source``, the bytes that ran as ``path``.

    If that file imported modules of the person's own, the digest is the SHA-256 of a list of all these files: a sorted
    line for each, with its SHA-256 and its path relative to the working folder. ``module_files``: the files of all
    modules that are loaded.
    """
    digests = {path: hashlib.sha256(source).hexdigest()}
    for file in find_own_files(path, module_files):
        digests[file] = hashlib.sha256(read_code(file)).hexdigest()
    if len(digests) == 1:
        return digests[path]
    lines = [f"{sha256} {relative_path(file)}" for file, sha256 in digests.items()]
    return hashlib.sha256("\n".join(sorted(lines)).encode("utf-8", "surrogateescape")).hexdigest()


def relative_path(file: Path) -> str:
    return Path(os.path.relpath(file.resolve())).as_posix()


def find_own_files(path: Path, module_files: Iterable[str]) -> set[Path]:
    """The module files, other than ``path``, that are the person's own: see ``is_own_file``."""
    folders = [path.parent.resolve(), Path.cwd()]
    files = {Path(file).resolve() for file in module_files if is_file(file)} - {path.resolve()}
    return {file for file in files if is_own_file(file, folders)}


def is_own_file(file: Path, folders: Iterable[Path]) -> bool:
    """Whether a file lies in one of ``folders``, and is no file of the course, of Python or of an installed package."""
    course = Path(__file__).resolve().parent
    python = Path(os.__file__).resolve().parent
    if file.is_relative_to(course) or file.is_relative_to(python):
        return False
    if "site-packages" in file.parts or "dist-packages" in file.parts:
        return False
    return any(file.is_relative_to(folder) for folder in folders)


def is_file(name: str) -> bool:
    """Whether a module's ``__file__`` names a file. Code may have written anything there."""
    try:
        return Path(name).is_file()
    except ValueError:  # a null byte
        return False
