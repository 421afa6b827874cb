"""Machinery: the students' copy of the lab: nothing that only teachers and maintainers need.

    python3 -m teacher.release --out lab-for-students
    python3 -m teacher.release --out milestone-0 --only 0
    python3 -m teacher.release --out for-marks --without-answers

Our answers to the notes are left out for a class that is marked.

``exercises/``, ``notes/`` and the student's files of ``tests/`` are those of the last commit, so that nothing that a
teacher has worked out in this clone is handed out. All other files are as they are now, of those that git tracks. A
copy in which an exercise would be done before anybody began is not made.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from check.milestones import EXERCISES, MILESTONES
from check.result import FINISHED
from check.submission import TEST_FILES
from course.command import Parser, run_command
from course.datasets.files import LAB
from course.errors import UserError, reason
from course.starting import PYTHON
from course.text import quote, shell_word, visible_path

COMMITTED = ("exercises/", "notes/", *TEST_FILES)  # what a student writes, taken from the last commit
ANSWERS = ("data/keys/notes/",)
# What begins so stays with the teacher and the maintainers: tests, generators, measurements of the lab itself.
LEFT_OUT = (
    ".ci/",
    ".github/",
    ".gitattributes",
    "CONTRIBUTING.md",
    "benchmarks/",
    "data/make_",
    "data/word_problems.py",
    "docs/eslint.config.mjs",
    "docs/expected_figures.py",
    "docs/make_",
    "docs/tsconfig.json",
    "requirements-browser.txt",
    "teacher/",
    "tests/",
)
CONFTEST = Path(__file__).with_name("student_conftest.py")


def main() -> int:
    parser = Parser("teacher.release", "Make the students' copy of the lab, without the teacher's folder.")
    parser.add_argument("--out", type=Path, required=True, help="a new folder for the copy")
    parser.add_argument("--only", metavar="MILESTONE", choices=MILESTONES, help="the exercises and notes of this one")
    parser.add_argument("--without-answers", action="store_true", help="leave out our answers to the notes")
    args = parser.parse_args()
    out: Path = args.out
    count = release(out, args.only, ANSWERS if args.without_answers else ())
    print(f"released: {count} files in {visible_path(out)}")
    print(f"check it: {PYTHON} {shell_word(out / 'lab.py')} test")
    print(f"first step of a student, in the folder of the copy: {PYTHON} lab.py")
    return 0


def release(out: Path, only: str | None = None, without: Sequence[str] = ()) -> int:
    """Make the copy, whole or not at all. Returns how many files it has. Raises UserError.

    ``only``: the exercises of this milestone; ``without``: beginnings of paths that are left out.
    """
    if out.exists():
        raise UserError(f"{visible_path(out)}: expected a new folder for the copy, got one that is there; name another")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".release-", dir=out.parent) as folder:
            copy = Path(folder) / "copy"
            count = write_copy(copy, only, without)
            refuse_finished(copy)
            copy.rename(out)
    except OSError as error:
        raise UserError(f"{visible_path(out)}: cannot write the copy: {reason(error)}") from None
    return count


def write_copy(copy: Path, only: str | None = None, without: Sequence[str] = ()) -> int:
    """Lay the copy out in a folder that nobody reads yet. Returns how many files it has."""
    for name in list_tracked_files():
        if not name.startswith((*LEFT_OUT, *COMMITTED, *without)):
            write_file(copy / name, (LAB / name).read_bytes())
    for name, data in read_committed_files(only).items():
        write_file(copy / name, data)
    write_file(copy / "tests" / "conftest.py", CONFTEST.read_bytes())
    settings = (LAB / "pyproject.toml").read_text(encoding="utf-8")
    write_file(copy / "pyproject.toml", student_settings(settings, copy).encode())
    if only is not None:
        table = (LAB / "data" / "exercises.toml").read_text(encoding="utf-8")
        write_file(copy / "data" / "exercises.toml", rows_of(table, only).encode())
    for page in sorted(copy.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        if page == copy / "README.md":
            text = cut_teachers_parts(text)
        write_file(page, cut_dead_links(text, page.parent).encode())
    return sum(path.is_file() for path in copy.rglob("*"))


def write_file(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def list_tracked_files() -> list[str]:
    """The lab's files that git tracks and that are there, from its root, with ``/``."""
    names = git("ls-files", "-z").decode("utf-8", "surrogateescape").split("\0")
    return [name for name in names if name and (LAB / name).is_file()]


def read_committed_files(only: str | None) -> dict[str, bytes]:
    """The student's files as they were last committed: path -> content. ``only``: of this milestone."""
    names = git("ls-tree", "-r", "-z", "--name-only", "HEAD").decode("utf-8", "surrogateescape").split("\0")
    left_out: set[str] = set()
    if only is not None:
        for exercise in EXERCISES.values():
            if exercise.milestone != only:
                left_out.update(exercise.files)
        for exercise in EXERCISES.values():
            if exercise.milestone == only:
                left_out.difference_update(exercise.files)
        left_out.difference_update((*TEST_FILES, "exercises/exploits.jsonl"))  # which a level may ask for
    wanted = [name for name in names if name.startswith(COMMITTED) and name not in left_out]
    return {name: git("show", f"HEAD:./{name}") for name in wanted}


def git(*words: str) -> bytes:
    """What git prints. Raises UserError where this folder has no git, or nothing was committed yet."""
    needed = "expected a clone with git, because the exercises are taken from its last commit"
    try:
        done = subprocess.run(["git", "-C", str(LAB), *words], capture_output=True, check=False)
    except FileNotFoundError:
        raise UserError(f"{needed}, got a system without git; install it") from None
    if done.returncode:
        message = done.stderr.decode("utf-8", "replace").strip().split("\n")[0]
        raise UserError(f"{visible_path(LAB)}: {needed}, got: {quote(message)}")
    return done.stdout


def refuse_finished(copy: Path) -> None:
    """Raise UserError where an exercise of the copy passes its check before any student has begun."""
    environment = os.environ | {"PYTHONPATH": str(copy.resolve()), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "check", "--json"], cwd=copy, env=environment, capture_output=True, check=False
    )
    try:
        states = {name: report["state"] for name, report in json.loads(done.stdout).items()}
    except ValueError:
        raise RuntimeError(f"the copy cannot be checked: {done.stderr.decode('utf-8', 'replace')}") from None
    finished = [name for name, state in states.items() if state in FINISHED]
    if finished:
        files = ", ".join(EXERCISES[finished[0]].files)
        raise UserError(
            f"{files}: expected the exercise {finished[0]} as a student begins it, got one that passes its check in "
            "the last commit; commit it blank"
        )


def student_settings(settings: str, copy: Path) -> str:
    """pyproject.toml as a student needs it: lint and types look at what is there."""

    def keep_what_is_there(setting: re.Match[str]) -> str:
        names = [name for name in re.findall(r'"([^"]+)"', setting[2]) if (copy / name).exists()]
        return f"{setting[1]} = {json.dumps(names)}"

    return re.sub(r"^(files|mypy_path) = \[(.*)\]$", keep_what_is_there, settings, flags=re.MULTILINE)


def cut_teachers_parts(text: str) -> str:
    """README.md without the section for teachers, and without the rows of folders that are not in the copy."""
    text = re.sub(r"^## For teachers\n.*?(?=^## |\Z)", "", text, flags=re.DOTALL | re.MULTILINE)
    left_out = "|".join(re.escape(name) for name in LEFT_OUT)
    return re.sub(rf"^\| `({left_out}).*\n", "", text, flags=re.MULTILINE)


def cut_dead_links(text: str, folder: Path) -> str:
    """A page's text in which a link to what is not in the copy is its words alone."""

    def keep_if_alive(link: re.Match[str]) -> str:
        target = link[2].partition("#")[0]
        if target == "" or ":" in target or (folder / target).exists():
            return link[0]
        return link[1]

    return re.sub(r"(?<!!)\[([^\]]*)\]\(([^)\s]+)\)", keep_if_alive, text)


def rows_of(table: str, milestone: str) -> str:
    """The text of data/exercises.toml with the rows of this milestone only."""
    parts = re.split(r"^(?=\[)", table, flags=re.MULTILINE)
    others = tuple(f"[exercises.{id_}]\n" for id_, exercise in EXERCISES.items() if exercise.milestone != milestone)
    return "".join(part for part in parts if not part.startswith(others))


if __name__ == "__main__":
    run_command(main)
