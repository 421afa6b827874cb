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
from course.limited_process import Limits
from course.text import clipped, visible
from teacher.sandbox import Ending, remove, run_limited
from teacher.submissions import DEVICES, Refused, read_submission

_WORDS = 160  # characters of a sentence that came out of a submission


class ExerciseReport(msgspec.Struct):
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
    checks: dict[str, ExerciseReport] = {}


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
    digest = hashlib.sha256(student.encode(errors="replace")).hexdigest()
    return f"{plain or 'student'}-{digest[:8]}"


def grade_submission(grader: Grader, student: str, path: Path) -> Grade:
    """The student's grade, taken from its file where that still holds, else made and written."""
    kept = grader.grades / f"{file_name(student)}.json"
    files: dict[str, bytes] = {}
    why = ""
    try:
        files = read_submission(path)
        if not files:
            why = "expected files in exercises/, notes/, runs/ or tests/, got none of them"
    except Refused as error:
        why = str(error)
    grade = Grade(visible(student), submission_digest(files, why), grader.digest, "refused", why)
    before = _read_grade(kept)
    if before is not None and (before.submission, before.grader) == (grade.submission, grade.grader):
        return before
    if not why:
        _run_check(grader, grade, files, grader.work / kept.stem)
    write_whole(kept, msgspec.json.format(msgspec.json.encode(grade), indent=1) + b"\n")
    return grade


def submission_digest(files: Mapping[str, bytes], why: str) -> str:
    """SHA-256 of what was handed in, or of why it was refused."""
    digest = hashlib.sha256(why.encode())
    for name, content in sorted(files.items()):
        digest.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()


def _read_grade(path: Path) -> Grade | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Grade)
    except (OSError, msgspec.MsgspecError):  # not there, or not whole
        return None


def _run_check(grader: Grader, grade: Grade, files: Mapping[str, bytes], folder: Path) -> None:
    """Run the check on the student's files, and enter its result into the grade."""
    remove(folder)
    shutil.copytree(grader.copy, folder / "lab")
    try:
        for name, content in files.items():
            path = folder / "lab" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        ending = run_limited(grader.command, folder, grader.limits, grader.protected)
        grade.result, grade.why, grade.checks = _read_result(ending)
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        grade.why = f"expected files and folders of different names, got: {clipped(str(error.filename), _WORDS)}"
    finally:
        remove(folder)


def _read_result(ending: Ending) -> tuple[str, str, dict[str, ExerciseReport]]:
    """How a check ended, why if it is not graded, and a report on each exercise, cut to what a teacher reads."""
    if ending.limit:
        return "stopped", f"its check reached the limit of {ending.limit}", {}
    try:
        reports = msgspec.json.decode(ending.output, type=dict[str, ExerciseReport])
        if ending.status not in (0, 1):
            raise ValueError
    except (msgspec.MsgspecError, ValueError, RecursionError):
        last = ending.errors[-1000:].decode(errors="replace").strip().rpartition("\n")[2]
        return "died", f"its check ended with status {ending.status}: {clipped(last, _WORDS)}".rstrip(": "), {}
    return "graded", "", {clipped(name, 40): _clip_report(report) for name, report in reports.items()}


def _clip_report(report: ExerciseReport) -> ExerciseReport:
    return ExerciseReport(
        state=clipped(report.state, 40),
        short=clipped(report.short, _WORDS),
        lines=[clipped(line, _WORDS) for line in report.lines[:100]],
        numbers={clipped(name, 40): value for name, value in report.numbers.items()},
    )
