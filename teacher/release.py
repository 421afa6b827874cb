"""Machinery: the students' copy of the lab, without keys, solutions and what only its maintainers need.

    python3 -m teacher.release --out lab-for-students
    python3 -m teacher.release --out milestone-0 --only 0

Files as they are now, of those that git tracks; without git, all but hidden folders and runs. The copy is sealed: its
``seal.json`` lets ``python3 -m course.check`` name a file of the course that changed by accident.
"""

import shutil
import subprocess
import tempfile
from pathlib import Path

from course.command import Parser, run_command
from course.datasets.files import LAB
from course.errors import UserError, reason
from course.exercises.seal import write_seal
from course.starting import PYTHON
from course.text import shell_word, visible_path

# What begins so stays with the teacher. Tests of the checks hold right solutions; the last needs .ci and .github.
LEFT_OUT = (
    *("teacher/", "tests/teacher/", "tests/course/exercises/", ".ci/", ".github/", ".gitattributes"),
    *("benchmarks/class_of_100.py", "tests/test_contributing.py"),
)
_NOT_THE_LABS = {"runs", "__pycache__", "node_modules", "dist"}


def main() -> int:
    parser = Parser("teacher.release", "Make the students' copy of the lab, without keys and solutions.")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the copy")
    args = parser.parse_args()
    out: Path = args.out
    count = release(out)
    print(f"released: {count} files in {visible_path(out)}, sealed, without what is the teacher's")
    print(f"check it: {PYTHON} {shell_word(out / 'lab.py')} test")
    print(f"first step of a student, in the folder of the copy: {PYTHON} lab.py")
    return 0


def release(out: Path) -> int:
    """Make the copy, whole or not at all. Returns how many files it has. Raises UserError."""
    if out.exists():
        raise UserError(f"{visible_path(out)}: expected a new folder for the copy, got one that is there; name another")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".release-", dir=out.parent) as folder:
            copy = Path(folder) / "copy"
            count = write_copy(copy)
            copy.rename(out)
    except OSError as error:
        raise UserError(f"{visible_path(out)}: expected to write a copy, got: {reason(error)}") from None
    return count


def write_copy(copy: Path) -> int:
    """The same, into a folder that nobody reads yet."""
    names = [name for name in files_of(LAB) if not name.startswith(LEFT_OUT)]
    for name in names:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(LAB / name, copy / name)
    project = copy / "pyproject.toml"  # lint and types look at the folders that are named there
    project.write_text(project.read_text("utf-8").replace('"teacher", ', ""), encoding="utf-8", newline="\n")
    write_seal(copy)
    return len(names) + 1


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
