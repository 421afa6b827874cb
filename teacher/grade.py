"""Machinery: a class graded: a file for each student, a gradebook, and what the class as a whole got wrong.

    python3 -m teacher.grade --submissions handed-in --out gradebook.csv --jobs 2

Covered
    Each submission in a process of its own, under limits, on a fresh copy of the lab: one that hangs, dies or means
    harm costs only itself. Called again, it goes on where it was, and grades anew what changed. Under bubblewrap a
    submission sees the system, the interpreter, ``.venv`` and its own copy of the lab, and writes in its own folders.
Not covered
    ``--unprotected``: code that means harm then runs with your rights, reads and writes what you can, and reaches the
    network. Within its own copy a submission can read what grades it, such as the verifiers. A fault of the kernel.
"""

import csv
import hashlib
import io
import secrets
import shutil
import sys
from argparse import Namespace
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

from check.result import FINISHED
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.files import LAB, lock_file
from course.errors import UserError, reason
from course.jobs import map_in_order, processes
from course.show.terminal import show
from course.text import clipped, visible_path
from teacher.grading import Grade, Grader, grade_one
from teacher.release import write_copy
from teacher.running import LIMITS, can_protect, missing_limits, remove
from teacher.submissions import find_submissions

CHECK = (sys.executable, "-m", "check", "--json")
HELD_OUT = LAB / "teacher" / "verifiers.jsonl"
_NO_FAULT = ("The event", "Next: ", "#", "shown: ", "held out: ", "the teacher's: ")  # lines that say how far one is
_STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\uff1d", "\uff0b", "\uff0d", "\uff20")


def main() -> int:
    parser = Parser("teacher.grade", "Grade what a class handed in: a file for each student, and a gradebook.")
    parser.add_argument("--submissions", type=Path, required=True, help="a folder: a folder or .zip for each student")
    parser.add_argument("--out", type=Path, required=True, help="the gradebook; grades/ beside it has a file for each")
    parser.add_jobs_options()
    parser.add_argument("--seconds", type=positive_int, default=600, help="of each student at most (default: 600)")
    help_ = "of what the checks draw (default: one that nobody has seen, kept in grades/)"
    parser.add_argument("--seed", type=non_negative_int, help=help_)
    help_ = "run submissions without bubblewrap: they can read and write your files and use the network, as you can"
    parser.add_argument("--unprotected", action="store_true", help=help_)
    args = parser.parse_args()
    found = find_submissions(args.submissions.absolute())
    inside = args.out.resolve().parent
    if inside.is_relative_to(args.submissions.resolve()) or inside.is_relative_to(LAB / "teacher"):
        raise UserError(
            f"{visible_path(args.out)}: expected a gradebook outside the submissions and teacher/, got one inside"
        )
    if not (args.unprotected or can_protect()):
        raise UserError(
            "cannot grade: bubblewrap (bwrap), which keeps a submission from your files and the network, does not run "
            "here; install it, or give --unprotected, which lets every submission run with all your rights"
        )
    missing = missing_limits(not args.unprotected)
    if missing:
        print(f"note: this system cannot keep these limits: {', '.join(missing)}", file=sys.stderr)
    try:
        grades = grade_class(args, found)
        args.out.write_text(gradebook(grades), encoding="utf-8-sig", newline="")
    except OSError as error:
        raise UserError(f"{visible_path(args.out)}: expected to write grades, got: {reason(error)}") from None
    show(class_text(grades))
    print(f"gradebook: {visible_path(args.out)}")
    return 0


def grade_class(args: Namespace, found: dict[str, Path], command: Sequence[str] = CHECK) -> list[Grade]:
    """Grade all that was found; in the order of their names, however many at a time."""
    folder = args.out.absolute().parent
    work, kept = folder / "grades.partial", folder / "grades"
    kept.mkdir(parents=True, exist_ok=True)
    with (kept / "lock").open("ab") as lock:
        lock_file(lock)  # another call waits here, and then finds what this one did
        remove(work)  # of a call that was killed
        return _grade_class(args, found, command, work, kept)


def _grade_class(
    args: Namespace, found: dict[str, Path], command: Sequence[str], work: Path, kept: Path
) -> list[Grade]:
    work.mkdir()
    write_copy(copy := work / "copy")
    decides = [path for path in sorted(copy.rglob("*")) if path.is_file()]
    drawn = kept / "seed"  # once for a class
    if args.seed is None and not drawn.exists():
        drawn.write_text(str(secrets.randbelow(10**9)), encoding="ascii")
    seed = drawn.read_text(encoding="ascii") if args.seed is None else str(args.seed)
    command = [*command, "--seed", seed]
    if HELD_OUT.exists():
        decides.append(Path(shutil.copy(HELD_OUT, work)))  # teacher/ itself is out of reach
        command += ["--verifiers", str(decides[-1])]
    protected = not args.unprotected
    limits = LIMITS._replace(seconds=args.seconds, cpu_seconds=args.seconds)
    digest = hashlib.sha256(repr((command[1:], limits, protected, sys.version)).encode())
    for path in decides:
        digest.update(f"{path.relative_to(work)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    grader = Grader(copy, work, kept, command, limits, protected, digest.hexdigest())
    grades = []
    try:
        with processes(args.jobs) as executor:
            tasks = [(grader, student, path) for student, path in found.items()]
            for grade in map_in_order(executor, grade_one, tasks):
                grades.append(grade)
                print(f"{len(grades)} of {len(found)}: {clipped(grade.student, 30)}: {grade.result}", file=sys.stderr)
    finally:
        remove(work)
    return grades


def gradebook(grades: Sequence[Grade]) -> str:
    """A row for each student: how it ended, then for each exercise its state and its numbers."""
    rows = []
    columns: dict[str, dict[str, None]] = {}  # of each exercise
    for grade in grades:
        name = f"'{grade.student}" if grade.student[:1].isdigit() else grade.student  # 1e5 and 3-4 are names here
        rows.append({"student": name, "result": grade.result, "why": grade.why})
        for exercise, check in grade.checks.items():
            rows[-1][exercise] = check.state
            shown = {f"{exercise} {key}": _number(value) for key, value in check.numbers.items()}
            rows[-1] |= shown
            named = columns.setdefault(exercise, {exercise: None})
            named.update(dict.fromkeys(name for name, value in shown.items() if value))
    file = io.StringIO()
    head = ["student", "result", "why", *chain.from_iterable(columns.values())]  # numbers beside their exercise
    table = [head, *([row.get(column, "") for column in head] for row in rows)]
    csv.writer(file).writerows(map(_cell, line) for line in table)
    return file.getvalue()


def _number(value: object) -> str:
    """A number or a word of a check, as a cell; of anything else nothing."""
    if isinstance(value, float):
        return f"{value:.4g}"
    return clipped(str(value), 40) if isinstance(value, str) or (isinstance(value, int) and abs(value) < 1e9) else ""


def _cell(text: str) -> str:
    """A cell that a spreadsheet shows and does not run."""
    return f"'{text}" if text.lstrip(" ").startswith(_STARTS_A_FORMULA) else text


def class_text(grades: Sequence[Grade]) -> str:
    """How many ended how; for each exercise the states; what most often stood in the way, and what survived."""
    lines = [", ".join(f"{count} {result}" for result, count in Counter(one.result for one in grades).most_common())]
    lines += [f"  {clipped(one.student, 20)}: {one.why}" for one in grades if one.why]
    for name in dict.fromkeys(name for grade in grades for name in grade.checks):
        checks = [grade.checks[name] for grade in grades if name in grade.checks]
        states = Counter(check.state for check in checks)
        lines.append(f"{name}: {', '.join(f'{count} {state}' for state, count in states.most_common())}")
        failed = Counter(
            line
            for check in checks
            if check.state not in (*FINISHED, "not started")
            for line in dict.fromkeys(check.lines)
            if "  " not in line and not line.startswith(_NO_FAULT)
        )
        lines += [f"  {count} x {line}" for line, count in failed.most_common(3)]
        for key in dict.fromkeys(key for check in checks for key in check.numbers):
            listed = [check.numbers[key] for check in checks if isinstance(check.numbers.get(key), list)]
            counted = Counter(clipped(str(item), 40) for items in listed for item in dict.fromkeys(map(str, items)))
            if counted:
                lines.append(f"  {key}: {', '.join(f'{item} ({count})' for item, count in counted.most_common(8))}")
    return "\n".join(lines)


if __name__ == "__main__":
    run_command(main)
