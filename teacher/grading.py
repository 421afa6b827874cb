"""Machinery: one submission graded: a fresh copy of the lab, the student's files over it, one limited process.

What comes out is a file, bound to the digest of what was handed in and to the digest of what graded it: a second call
finds it and does nothing.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from course.datasets.files import write_whole
from course.execution import Limits
from course.text import clipped, visible
from teacher.running import Ended, remove, run_limited
from teacher.submissions import DEVICES, Refused, read_submission

_WORDS = 160  # characters of a sentence that came out of a submission


class Found(msgspec.Struct):
    """What ``check --json`` says of one exercise."""

    state: str
    short: str = ""
    lines: list[str] = []
    numbers: dict[str, Any] = {}


class Grade(msgspec.Struct):
    """``result``: graded, refused, stopped (a limit), or died. ``why``: one sentence where it is not graded."""

    student: str
    submission: str  # SHA-256 of what was handed in
    grader: str  # SHA-256 of what graded it
    result: str
    why: str = ""
    checks: dict[str, Found] = {}


class Grader(NamedTuple):
    """``copy``: a students' copy to start from, and ``work``: where others are made of it. ``grades``: a file for each
    student. ``command``: of the check. ``protected``: whether it runs under bubblewrap.
    """

    copy: Path
    work: Path
    grades: Path
    command: Sequence[str]
    limits: Limits
    protected: bool
    digest: str


def file_name(student: str) -> str:
    """A name for the student's file that every system takes, and no other student's has."""
    plain = re.sub("[^a-z0-9]+", "-", student.lower()).strip("-")[:40]
    if plain == student and plain not in DEVICES:
        return plain
    return f"{plain or 'student'}-{hashlib.sha256(student.encode(errors='replace')).hexdigest()[:8]}"


def grade_one(grader: Grader, student: str, path: Path) -> Grade:
    """The student's grade, taken from its file where that still holds, else made and written."""
    kept = grader.grades / f"{file_name(student)}.json"
    why, files = "", dict[str, bytes]()
    try:
        files = read_submission(path)
        if not files:
            why = "expected files in exercises/, notes/, runs/ or tests/test_rubric.py, got none of them"
    except Refused as error:
        why = str(error)
    submission = hashlib.sha256(why.encode())
    for name, content in sorted(files.items()):
        submission.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    grade = Grade(visible(student), submission.hexdigest(), grader.digest, "refused", why)
    if (before := _read(kept)) and (before.submission, before.grader) == (grade.submission, grade.grader):
        return before
    if not why:
        _judge(grader, grade, files, grader.work / kept.stem)
    write_whole(kept, msgspec.json.format(msgspec.json.encode(grade), indent=1) + b"\n")
    return grade


def _read(path: Path) -> Grade | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Grade)
    except (OSError, msgspec.MsgspecError):  # not there, or not whole
        return None


def _judge(grader: Grader, grade: Grade, files: Mapping[str, bytes], folder: Path) -> None:
    """Run the check on the student's files, and enter what it found."""
    remove(folder)
    shutil.copytree(grader.copy, folder / "lab")
    try:
        for name, content in files.items():
            path = folder / "lab" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        ended = run_limited(grader.command, folder, grader.limits, grader.protected)
        grade.result, grade.why, grade.checks = _result(ended)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        grade.why = f"expected files and folders of different names, got: {clipped(str(error.filename), _WORDS)}"
    finally:
        remove(folder)


def _result(ended: Ended) -> tuple[str, str, dict[str, Found]]:
    if ended.limit:
        return "stopped", f"its check reached the limit of {ended.limit}", {}
    try:
        found = msgspec.json.decode(ended.output, type=dict[str, Found])
        if ended.status not in (0, 1):
            raise ValueError
    except (msgspec.MsgspecError, ValueError, RecursionError):
        last = ended.errors[-1000:].decode(errors="replace").strip().rpartition("\n")[2]
        return "died", f"its check ended with status {ended.status}: {clipped(last, _WORDS)}".rstrip(": "), {}
    for check in found.values():
        check.state, check.short = clipped(check.state, 40), clipped(check.short, _WORDS)
        check.lines = [clipped(line, _WORDS) for line in check.lines[:100]]
        check.numbers = {clipped(name, 40): value for name, value in check.numbers.items()}
    return "graded", "", {clipped(name, 40): check for name, check in found.items()}
