"""Machinery: one submission graded: a fresh copy of the lab, the student's files over it, limited processes.

What comes out is a file, bound to the digest of what was handed in and to the digest of what graded it: a second call
finds it and does nothing. The pages of the runs are made first, when none of the student's code has run in the copy.
"""

import hashlib
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from course.datasets.files import open_regular, write_whole
from course.limited_process import Limits
from course.pages.html import HEAD
from course.text import clipped, visible
from teacher.sandbox import Ending, remove, run_limited
from teacher.shared import list_runs
from teacher.submissions import DEVICES, Refused, read_submission

PAGES = "pages"  # in the folder of grades
MOST_PAGES = 60  # of the runs of one submission
_WORDS = 160  # characters of a sentence that came out of a submission
_SECONDS = 60  # of one page
_PAGE_BYTES = 4 << 20


class ExerciseReport(msgspec.Struct):
    """What ``check --json`` says of one exercise."""

    state: str
    short: str = ""
    lines: list[str] = []
    runs: list[str] = []


class Grade(msgspec.Struct):
    """``result``: graded, refused, stopped (a limit), or died. ``why``: one sentence where it is not graded. ``runs``:
    each run that was handed in, and why it has no page; nothing where it has one.
    """

    student: str
    submission: str  # SHA-256 of what was handed in
    grader: str  # SHA-256 of what graded it
    result: str
    why: str = ""
    checks: dict[str, ExerciseReport] = {}
    runs: dict[str, str] = {}


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
        pages = [page_of_run(kept, run) for run, why in before.runs.items() if not why]
        if all(page.exists() for page in pages):
            return before
    if not why:
        _grade_files(grader, grade, files, kept)
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


def page_of_run(kept: Path, run: str) -> Path:
    """Where the page of a run of the student with this file is: in a folder of theirs beside it."""
    return kept.parent / PAGES / "runs" / kept.stem / f"{file_name(run)}.html"


def _grade_files(grader: Grader, grade: Grade, files: Mapping[str, bytes], kept: Path) -> None:
    """Lay the student's files out, make the pages of the runs, run the check, and enter what came into the grade."""
    folder = grader.work / kept.stem
    remove(folder)
    shutil.copytree(grader.copy, folder / "lab")
    try:
        for name, content in files.items():
            path = folder / "lab" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        remove(page_of_run(kept, "").parent)
        for number, run in enumerate(list_runs(files)):
            why = f"only the first {MOST_PAGES} runs have a page"
            if number < MOST_PAGES:
                why = _make_page(grader, run, folder, page_of_run(kept, run))
            grade.runs[run] = why
        ending = run_limited(grader.command, folder, grader.limits, grader.protected)
        grade.result, grade.why, grade.checks = _read_result(_without_place(ending, folder))
    except (FileExistsError, NotADirectoryError, IsADirectoryError) as error:
        grade.why = f"expected files and folders of different names, got: {clipped(str(error.filename), _WORDS)}"
    finally:
        remove(folder)


def _make_page(grader: Grader, run: str, folder: Path, page: Path) -> str:
    """Have the page of a run made under the limits, and keep it. Returns why there is none, or nothing."""
    made = folder / "home" / "page.html"
    command = [sys.executable, "-m", "course.report", run, "--out", str(made)]
    seconds = min(_SECONDS, grader.limits.cpu_seconds)
    limits = grader.limits._replace(seconds=seconds, cpu_seconds=seconds)
    ending = _without_place(run_limited(command, folder, limits, grader.protected), folder)
    if ending.limit:
        return f"its page reached the limit of {ending.limit}"
    if ending.status:
        return _last_line(ending) or f"its page ended with status {ending.status}"
    with open_regular(made) as file:
        content = file.read(_PAGE_BYTES + 1)
    made.unlink()
    if len(content) > _PAGE_BYTES or not content.startswith(HEAD.encode()):
        return f"expected a page of at most {_PAGE_BYTES >> 20} MB"
    page.parent.mkdir(parents=True, exist_ok=True)
    write_whole(page, content)
    return ""


def _without_place(ending: Ending, folder: Path) -> Ending:
    """The same without the way to the copy, which is gone when a teacher reads of it."""
    lab = f"{folder.resolve() / 'lab'}{os.sep}".encode()
    return ending._replace(output=ending.output.replace(lab, b""), errors=ending.errors.replace(lab, b""))


def _read_result(ending: Ending) -> tuple[str, str, dict[str, ExerciseReport]]:
    """How a check ended, why if it is not graded, and a report on each exercise, cut to what a teacher reads."""
    if ending.limit:
        return "stopped", f"its check reached the limit of {ending.limit}", {}
    try:
        reports = msgspec.json.decode(ending.output, type=dict[str, ExerciseReport])
        if ending.status not in (0, 1):
            raise ValueError
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return "died", f"its check ended with status {ending.status}: {_last_line(ending)}".rstrip(": "), {}
    return "graded", "", {clipped(name, 40): _clip_report(report) for name, report in reports.items()}


def _last_line(ending: Ending) -> str:
    """The last line of its errors, fit to print."""
    return clipped(ending.errors[-1000:].decode(errors="replace").strip().rpartition("\n")[2], _WORDS)


def _clip_report(report: ExerciseReport) -> ExerciseReport:
    return ExerciseReport(
        state=clipped(report.state, 40),
        short=clipped(report.short, _WORDS),
        lines=[clipped(line, _WORDS) for line in report.lines[:100]],
        runs=report.runs,
    )
