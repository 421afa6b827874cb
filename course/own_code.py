"""Machinery: which of a person's own files ran, as one digest: the file that was named, and what it imported.

Covered
    Modules from the folder of that file and from the working folder, whenever they were imported.
Not covered
    A data file that the code reads. A module that was changed after it was imported and before its digest is taken.
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
        raise UserError(f"{path}: expected a file of Python, got: {reason(error)}") from None


def digest_of_code(path: Path, source: bytes, module_files: Iterable[str]) -> str:
    """The SHA-256 of ``source``, which ran as ``path``.

    If modules of the person's own were imported, it is the SHA-256 over all of these files: one line for each, in
    order, of its SHA-256 and its path relative to the working folder. ``module_files``: of the modules that are loaded.
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
    """Those from the folder of ``path`` or the working folder, but ``path``, the course's and the packages'."""
    inside = [path.parent.resolve(), Path.cwd()]
    outside = [Path(__file__).resolve().parent, Path(os.__file__).resolve().parent]  # the course; Python's own
    places = {Path(file).resolve() for file in module_files if is_file(file)} - {path.resolve()}
    return {
        place
        for place in places
        if any(place.is_relative_to(folder) for folder in inside)
        and not any(place.is_relative_to(folder) for folder in outside)
        and not {"site-packages", "dist-packages"} & {*place.parts}
    }


def is_file(name: str) -> bool:
    """Whether a module's ``__file__`` names a file. Code may have written anything there."""
    try:
        return Path(name).is_file()
    except ValueError:  # a null byte
        return False
