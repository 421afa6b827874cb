"""Machinery: what a student handed in, a folder or a zip, read whole and believed in nothing.

Covered
    Names that lead out of the folder, links, device names, two names that are one on some systems, names that cannot be
    seen; archives that are broken, encrypted, of another kind, or larger unpacked than they say. Each is refused in one
    line. Only the student's own folders are taken; nothing is written here.
Not covered
    A folder that changes while it is read.
"""

import os
import stat
import struct
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import IO

from check.submission import TEST_FILES
from course.datasets.files import open_regular
from course.errors import UserError
from course.text import describe_error, quote

FOLDERS = ("exercises", "notes", "runs")  # the student's; of tests/ some files are
FILES = 4_000  # of one submission
BYTES = 200 << 20  # of one submission
_END_BYTES = 22  # of the record that ends a zip, without its comment
_LONGEST_COMMENT = 1 << 16
_DIRECTORY_BYTES = 4 << 20  # of a zip's list of its files: some 40,000 names, which is a whole lab with its .venv
DEVICES = {"con", "prn", "aux", "nul"} | {f"{name}{number}" for name in ("com", "lpt") for number in range(10)}

Member = tuple[str, Callable[[], IO[bytes]]]


class Refused(Exception):
    """A submission that is not graded: one sentence that says why, safe to print."""


def find_submissions(folder: Path) -> dict[str, Path]:
    """Student's name -> what they handed in: each entry of the folder, but for those that begin with a dot."""
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
    except OSError as error:
        raise UserError(f"{folder}: expected a folder of submissions, got: {error.strerror}") from None
    if not entries:
        raise UserError(f"{folder}: expected a folder or a .zip for each student, got an empty folder")
    submissions: dict[str, Path] = {}
    for entry in entries:
        student = entry.name
        if student.lower().endswith(".zip"):
            student = student[: -len(".zip")]
        if student in submissions:
            got = f"{quote(submissions[student].name)} and {quote(entry.name)}"
            raise UserError(f"{folder}: expected one submission of each student, got {got}; take one away")
        submissions[student] = entry
    return submissions


def read_submission(path: Path) -> dict[str, bytes]:
    """The student's files: path from the lab's root -> content. Raises Refused."""
    try:
        if path.is_symlink():
            raise Refused("expected a folder or a .zip, got a link")
        if path.is_dir():
            return _read_members(_members_of_folder(path))
        if path.suffix.lower() != ".zip":
            raise Refused(f"expected a folder or a .zip, got {quote(path.name)}")
        with open_regular(path) as file:
            _check_directory(file)
            with zipfile.ZipFile(file) as archive:
                return _read_members(_members_of_zip(archive))
    except Refused:
        raise
    except Exception as error:  # a crafted archive makes zipfile raise almost anything
        raise Refused(f"expected files that can be read, got {describe_error(error)}") from None


def _check_directory(file: IO[bytes]) -> None:
    """Refuse a list of files that would take too much memory: zipfile reads all of it at once."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _LONGEST_COMMENT - _END_BYTES))
    tail = file.read()
    end = tail.rfind(b"PK\5\6")
    is_large = b"PK\6\7" in tail[max(0, end - 20) : end]  # in the format for 4 GB and more
    if end < 0 or is_large or len(tail) < end + _END_BYTES:
        raise Refused("expected a zip of less than 4 GB, got none")
    (directory_bytes,) = struct.unpack_from("<I", tail, end + 12)
    if directory_bytes > _DIRECTORY_BYTES:
        raise Refused("expected a zip of exercises/, notes/, runs/ and your tests, got one of too many files")


def _members_of_zip(archive: zipfile.ZipFile) -> Iterator[Member]:
    infos = [info for info in archive.infolist() if not info.is_dir()]
    for info in infos:
        parts = info.filename.replace("\\", "/").split("/")
        if ".." in parts or parts[0] == "" or ":" in parts[0]:
            raise Refused(f"expected names inside the zip's folder, got {quote(info.filename)}")
    names = [info.filename.replace("\\", "/") for info in infos]
    start = _surrounding_folder([name.partition("/")[0] for name in names if "/" in name])
    for name, info in zip(names, infos, strict=True):
        inner = name.removeprefix(start)
        if name.startswith(start) and _is_wanted(inner):
            if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
                raise Refused(f"expected files, got a link or a device: {quote(inner)}")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise Refused(f"expected an ordinary zip, got one packed in a rare way: {quote(inner)}")
            yield inner, partial(archive.open, info)


def _members_of_folder(folder: Path) -> Iterator[Member]:
    folders = [entry.name for entry in folder.iterdir() if entry.is_dir() and not entry.is_symlink()]
    root = folder / _surrounding_folder(folders)
    for top in (*FOLDERS, "tests"):
        if (root / top).is_symlink():
            raise Refused(f"expected a folder, got a link: {top}")
        for place, subfolders, names in os.walk(root / top):
            for name in (*subfolders, *names):
                path = Path(place, name)
                inner = path.relative_to(root).as_posix()
                mode = path.lstat().st_mode
                if not _is_wanted(inner) or stat.S_ISDIR(mode):
                    continue
                if not stat.S_ISREG(mode):
                    raise Refused(f"expected files, got a link or a device: {quote(inner)}")
                yield inner, partial(open_regular, path)


def _surrounding_folder(tops: list[str]) -> str:
    """The one folder around the student's folders, as many programs pack it; else nothing."""
    names = {name for name in tops if name != "__MACOSX"}
    if len(names) != 1 or not names.isdisjoint((*FOLDERS, "tests")):
        return ""
    return f"{names.pop()}/"


def _is_wanted(name: str) -> bool:
    return name in TEST_FILES or (name.partition("/")[0] in FOLDERS and "__pycache__" not in name.split("/"))


def _read_members(members: Iterator[Member]) -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    seen: set[str] = set()
    room = BYTES
    for name, open_ in members:
        if not all(map(_suits_every_system, name.split("/"))):
            raise Refused(f"expected names that every system takes, got {quote(name)}")
        if not name.isprintable() or len(name) > 200:
            raise Refused(f"expected names of up to 200 characters that can be seen, got {quote(name)}")
        key = unicodedata.normalize("NFC", name).casefold()
        if key in seen:
            raise Refused(f"expected each name once, got another of the same name: {quote(name)}")
        seen.add(key)
        with open_() as file:
            files[name] = file.read(room + 1)
        room -= len(files[name])
        if room < 0 or len(files) > FILES:
            raise Refused(f"expected at most {FILES} files and {BYTES >> 20} MB unpacked, got more")
    return files


def _suits_every_system(part: str) -> bool:
    """Whether every system can have a file or folder of this name."""
    if part in ("", ".", "..") or part.endswith((".", " ")):
        return False
    if part.partition(".")[0].rstrip(" ").lower() in DEVICES:
        return False
    return not any(char in '<>:"|?*\\' for char in part)
