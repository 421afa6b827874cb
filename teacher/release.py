"""Machinery: the students' copy of the lab, without keys, solutions and what only its maintainers need.

    python3 -m teacher.release --out lab-for-students
    python3 -m teacher.release --out milestone-0 --only 0

Files as they are now, of those that git tracks; without git, all but hidden folders and runs. The copy is sealed: its
``seal.json`` lets ``python3 -m check`` name a file of the course that changed by accident.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path

from check.milestones import EXERCISES, MILESTONES
from check.submission import write_seal
from course.command import Parser, run_command
from course.datasets.files import LAB
from course.errors import UserError, reason
from course.starting import PYTHON
from course.text import shell_word, visible_path

# What begins so stays with the teacher. Tests of the checks hold right solutions.
LEFT_OUT = (
    *("teacher/", "tests/teacher/", "tests/docs/", "tests/check/", ".ci/", ".github/", ".gitattributes"),
    *("benchmarks/class_of_100.py", "tests/handed_in.py"),
)
_STUDENTS_TESTS = ("tests/conftest.py", "tests/test_rubric.py")
_NOT_THE_LABS = {"runs", "__pycache__", "node_modules", "dist", "site"}


def main() -> int:
    parser = Parser("teacher.release", "Make the students' copy of the lab, without keys and solutions.")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the copy")
    parser.add_argument("--only", metavar="MILESTONE", choices=MILESTONES, help="the exercises and notes of this one")
    args = parser.parse_args()
    out: Path = args.out
    count = release(out, args.only)
    print(f"released: {count} files in {visible_path(out)}, sealed, without what is the teacher's")
    print(f"check it: {PYTHON} {shell_word(out / 'lab.py')} test")
    print(f"first step of a student, in the folder of the copy: {PYTHON} lab.py")
    return 0


def release(out: Path, only: str | None = None) -> int:
    """Make the copy, whole or not at all. Returns how many files it has. Raises UserError."""
    if out.exists():
        raise UserError(f"{visible_path(out)}: expected a new folder for the copy, got one that is there; name another")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".release-", dir=out.parent) as folder:
            copy = Path(folder) / "copy"
            count = write_copy(copy, only)
            copy.rename(out)
    except OSError as error:
        raise UserError(f"{visible_path(out)}: expected to write a copy, got: {reason(error)}") from None
    return count


def write_copy(copy: Path, only: str | None = None) -> int:
    """The same, into a folder that nobody reads yet."""
    names = [name for name in files_of(LAB) if not name.startswith(LEFT_OUT)]
    if only is not None:  # the course's own tests ask for all exercises and notes
        others = {name for one in EXERCISES.values() if one.milestone != only for name in one.files}
        others -= {name for one in EXERCISES.values() if one.milestone == only for name in one.files}
        names = [n for n in names if n in _STUDENTS_TESTS or not (n in others or n.startswith("tests/"))]
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(LAB / name, copy / name)
    _edit(copy / "pyproject.toml", lambda text: text.replace('"teacher", ', ""))  # what lint and types look at
    if only is not None:
        _edit(copy / "data" / "exercises.toml", lambda text: rows_of(text, only))
    write_seal(copy)
    return len(names) + 1


def rows_of(table: str, milestone: str) -> str:
    """The text of data/exercises.toml with the rows of this milestone only."""
    parts = re.split(r"^(?=\[)", table, flags=re.MULTILINE)
    others = tuple(f"[exercises.{one.id}]\n" for one in EXERCISES.values() if one.milestone != milestone)
    rows = "".join(part for part in parts if not part.startswith(others))
    titles = "|".join(re.escape(name) for name in MILESTONES if name != milestone)
    return re.sub(rf'^"({titles})" = .*\n', "", rows, flags=re.MULTILINE)


def _edit(path: Path, change: Callable[[str], str]) -> None:
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


def files_of(lab: Path) -> list[str]:
    """The lab's own files, from its root, with ``/``."""
    if (lab / ".git").exists():
        listed = subprocess.run(["git", "-C", lab, "ls-files", "-z"], capture_output=True, check=False)
        if listed.returncode == 0:
            names = listed.stdout.decode("utf-8", "surrogateescape").split("\0")
            return [name for name in names if name and (lab / name).is_file()]
    found = (path.relative_to(lab) for path in sorted(lab.rglob("*")) if path.is_file())
    hidden = (name for name in found if not any(part.startswith(".") for part in name.parts[:-1]))
    return [name.as_posix() for name in hidden if not _NOT_THE_LABS & {*name.parts[:-1]}]


if __name__ == "__main__":
    run_command(main)
