"""Machinery: a class graded: a file for each student, a gradebook as CSV and as pages, and what the class got wrong.

    python3 -m teacher.grade --submissions handed-in --out gradebook.csv --jobs 2

Covered
    Each submission in a process of its own, under limits, on a fresh copy of the lab: one that hangs, dies or means
    harm costs only itself. Called again, it goes on where it was, and grades anew what changed. Under bubblewrap a
    submission sees the system, the interpreter, ``.venv`` and its own copy of the lab, and writes in its own folders.
    Which hand-ins share an answer, a file or a run, or equal a solution that the course shows: ``teacher.shared``.
Not covered
    ``--unprotected``: code that means harm then runs with your rights, reads and writes what you can, and reaches the
    network. Within its own copy a submission can read what grades it, such as the verifiers. A fault of the kernel.
"""

import csv
import hashlib
import io
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from shutil import get_terminal_size

from check.result import FINISHED, NOT_STARTED
from course.command import Parser, positive_int, run_command
from course.datasets.files import LAB, lock_file
from course.errors import UserError, reason
from course.jobs import map_in_order, processes
from course.show.terminal import fold_lines, show
from course.text import clipped, visible_path
from teacher import grading
from teacher.cells import defuse, state_words, student_cell
from teacher.grading import ExerciseReport, Grade, Grader, grade_submission, submission_digest
from teacher.pages import HandedIn, write_pages
from teacher.release import read_committed_files, write_copy
from teacher.sandbox import LIMITS, can_protect, fault_of_bubblewrap, list_missing_limits, remove
from teacher.shared import SOLUTION, Shared, Work, count_text, find_shared, read_course, read_solution, read_work
from teacher.sheets import list_sheets
from teacher.submissions import Refused, find_submissions, read_submission

CHECK = (sys.executable, "-m", "check", "--json")
# Lines of a check that say how far a student is, and name no fault, begin so.
_NO_FAULT = (
    "our answer to ",
    "shown: ",
    "held out: ",
    "right: ",
    "unfinished: ",
    "look again: ",
    "blank: ",
)
_MOST_FAULTS = 3  # of an exercise, in the class's text
_MOST_PAIRS = 12  # that share something, in the class's text; the page has all


def main() -> int:
    parser = Parser("teacher.grade", "Grade what a class handed in: a file for each student, and a gradebook.")
    parser.add_argument("--submissions", type=Path, required=True, help="a folder: a folder or .zip for each student")
    parser.add_argument("--out", type=Path, required=True, help="the gradebook; grades/ beside it has a file for each")
    parser.add_jobs_options()
    parser.add_argument("--seconds", type=positive_int, default=600, help="of each student at most (default: 600)")
    help_ = "run submissions without bubblewrap: they can read and write your files and use the network, as you can"
    parser.add_argument("--unprotected", action="store_true", help=help_)
    args = parser.parse_args()
    submissions = find_submissions(args.submissions.absolute())
    folder = args.out.resolve().parent
    if folder.is_relative_to(args.submissions.resolve()) or folder.is_relative_to(LAB / "teacher"):
        raise UserError(
            f"{visible_path(args.out)}: expected a gradebook outside the submissions and teacher/, got one inside"
        )
    if not (args.unprotected or can_protect()):
        raise UserError(
            "cannot grade: bubblewrap (bwrap), which keeps a submission from your files and the network, "
            f"{fault_of_bubblewrap()}; mend this, or give --unprotected, which lets every submission run with all your "
            "rights"
        )
    missing = list_missing_limits(not args.unprotected)
    if missing:
        note = f"note: this system cannot keep these limits: {', '.join(missing)}"
        print(fold_lines(note, get_terminal_size().columns), file=sys.stderr)
    try:
        grades = grade_class(args, submissions)
        shared, page = compare_class(args.out.absolute(), grades, submissions)
        args.out.write_text(gradebook(grades, shared), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise UserError(f"{visible_path(args.out)}: expected to write grades, got: {reason(error)}") from None
    show(class_text(grades))
    show(shared_text(shared))
    print(f"gradebook: {visible_path(args.out)}")
    print(f"to read and to give points: {visible_path(page)}")
    return 0


def grade_class(args: Namespace, submissions: dict[str, Path], command: Sequence[str] = CHECK) -> list[Grade]:
    """Grade all submissions; in the order of their names, however many at a time."""
    folder = args.out.absolute().parent
    work = folder / "grades.partial"
    kept = folder / "grades"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("ab") as lock:
        lock_file(lock)  # another call waits here, and then finds what this one did
        remove(work)  # of a call that was killed
        work.mkdir()
        try:
            return _grade_all(make_grader(args, command, work, kept), submissions, args.jobs)
        finally:
            remove(work)


def make_grader(args: Namespace, command: Sequence[str], work: Path, kept: Path) -> Grader:
    """What every submission is graded by, with the digest of all that decides a grade."""
    copy = work / "copy"
    write_copy(copy)
    deciding = [path for path in sorted(copy.rglob("*")) if path.is_file()]
    protected = not args.unprotected
    limits = LIMITS._replace(seconds=args.seconds, cpu_seconds=args.seconds)
    digest = hashlib.sha256(repr((command[1:], limits, protected, sys.version)).encode())
    digest.update(Path(grading.__file__).read_bytes())  # which also makes the pages of the runs
    for path in deciding:
        digest.update(f"{path.relative_to(work)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return Grader(copy, work, kept, command, limits, protected, digest.hexdigest())


def _grade_all(grader: Grader, submissions: dict[str, Path], jobs: int) -> list[Grade]:
    grades = []
    tasks = [(grader, student, path) for student, path in submissions.items()]
    with processes(jobs) as executor:
        for grade in map_in_order(executor, grade_submission, tasks):
            grades.append(grade)
            print(f"{len(grades)} of {len(tasks)}: {clipped(grade.student, 30)}: {grade.result}", file=sys.stderr)
    return grades


def compare_class(out: Path, grades: Sequence[Grade], submissions: Mapping[str, Path]) -> tuple[list[Shared], Path]:
    """What hand-ins share, and the page of the class, written beside the gradebook with all that it leads to."""
    shipped = read_committed_files(None)
    sheets = list_sheets(shipped)
    course = read_course(shipped)
    works: dict[str, Work] = {}
    handed_in = []
    for grade, (student, path) in zip(grades, submissions.items(), strict=True):
        files: dict[str, bytes] = {}
        with suppress(Refused):
            files = read_submission(path)
        if grade.student in (*works, SOLUTION):
            raise UserError(f"{grade.student}: expected each student's name once, got a second; rename the hand-in")
        if files:
            works[grade.student] = read_work(files, sheets, course, submission_digest(files, ""))
        handed_in.append(HandedIn(student, grade, files, sheets))
    works[SOLUTION] = read_solution(sheets, course)
    shared = find_shared(works)
    return shared, write_pages(out, handed_in, sheets, shared)


def gradebook(grades: Sequence[Grade], shared: Sequence[Shared] = ()) -> str:
    """A row for each student: how it ended, what is shared with whom, then each exercise's state."""
    rows = []
    for grade in grades:
        row = {
            "student": student_cell(grade.student),
            "result": grade.result,
            "why": grade.why,
            "shared with": "; ".join(f"{other}: {what}" for other, what in shared_with(grade.student, shared)),
        }
        for exercise, report in grade.checks.items():
            row[exercise] = state_words(report.state)
        rows.append(row)
    header = [*dict.fromkeys(column for row in rows for column in row)]
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(map(defuse, header))
    for row in rows:
        writer.writerow(defuse(row.get(column, "")) for column in header)
    return file.getvalue()


def class_text(grades: Sequence[Grade]) -> str:
    """How many ended how; for each exercise the states; what most often stood in the way, and what survived."""
    results = Counter(grade.result for grade in grades)
    lines = [", ".join(f"{count} {result}" for result, count in results.most_common())]
    lines += [f"  {clipped(grade.student, 20)}: {grade.why}" for grade in grades if grade.why]
    exercises = dict.fromkeys(name for grade in grades for name in grade.checks)
    for name in exercises:
        lines += exercise_lines(name, [grade.checks[name] for grade in grades if name in grade.checks])
    return "\n".join(lines)


def shared_with(student: str, shared: Sequence[Shared]) -> list[tuple[str, str]]:
    """With whom a student shares what, in a few words."""
    found = []
    for pair in shared:
        if student == pair.first:
            found.append((pair.second, count_text(pair)))
        elif student == pair.second:
            found.append((pair.first, count_text(pair)))
    return found


def shared_text(shared: Sequence[Shared]) -> str:
    """The pairs that share most, a line each, and what to do with it."""
    if not shared:
        return "shared: no two hand-ins share an answer, a file or a run, and none equals a shown solution"
    lines = ["shared, to be looked at and asked about:"]
    lines += [
        f"  {clipped(pair.first, 20)} and {clipped(pair.second, 20)}: {count_text(pair)}"
        for pair in shared[:_MOST_PAIRS]
    ]
    if len(shared) > _MOST_PAIRS:
        lines.append(f"  and {len(shared) - _MOST_PAIRS} more pairs, which the page lists")
    return "\n".join(lines)


def exercise_lines(name: str, reports: Sequence[ExerciseReport]) -> list[str]:
    """One exercise in the class: its states and its most frequent faults.

    Faults that some student meets first come first: one hand-in with many faults hides none of another.
    """
    states = Counter(state_words(report.state) for report in reports)
    lines = [f"{name}: {', '.join(f'{count} {state}' for state, count in states.most_common())}"]
    first: Counter[str] = Counter()
    all_: Counter[str] = Counter()
    for report in reports:
        if report.state not in (*FINISHED, NOT_STARTED):
            faults = [line for line in dict.fromkeys(report.lines) if is_fault(line)]
            first.update(faults[:1])
            all_.update(faults)
    ranked = sorted(all_, key=lambda line: (-first[line], -all_[line]))
    lines += [f"  {all_[line]} x {line}" for line in ranked[:_MOST_FAULTS]]
    return lines


def is_fault(line: str) -> bool:
    """Whether a line of a check names a fault."""
    return not line.startswith(_NO_FAULT)


if __name__ == "__main__":
    run_command(main)
