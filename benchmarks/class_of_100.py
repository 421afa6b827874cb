"""How long a class takes to grade, with one process at a time and with two.

    .venv/bin/python benchmarks/class_of_100.py
    .venv/bin/python benchmarks/class_of_100.py --students 4

Of ten students four hand in the solutions, three half of them, two the copy as they got it; the tenth means harm: an
endless loop with children, or a zip that unpacks to much. All are graded from nothing each time.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
HARM = b"import os\nfor _ in range(100):\n    if os.fork() == 0:\n        os.setsid()\n        while True: pass\n"


def hand_in(folder: Path, students: int) -> None:
    """Write a class into the folder."""
    solved = {path.relative_to(LAB / "teacher" / "solutions"): path for path in solutions()}
    for number in range(students):
        kind, student = number % 10, folder / f"student-{number:03}"
        if number % 20 == 19:
            with zipfile.ZipFile(student.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
                for part in range(7):
                    archive.writestr(f"runs/{part}", bytes(30 << 20))
            continue
        for name in ("exercises", "notes"):
            shutil.copytree(LAB / name, student / name)
        for place, (inner, path) in enumerate(solved.items()):
            if kind < 4 or (kind < 7 and place % 2):
                (student / inner).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, student / inner)
        if kind == 9:
            for path in (student / "exercises").glob("*.py"):
                path.write_bytes(HARM)


def solutions() -> list[Path]:
    return sorted(path for path in (LAB / "teacher" / "solutions").rglob("*") if path.is_file())


def seconds(folder: Path, jobs: int) -> float:
    """Grade the class from nothing. Returns the time it took."""
    line = [sys.executable, "-m", "teacher.grade", "--submissions", str(folder / "in"), "--jobs", str(jobs)]
    begin = time.perf_counter()
    out = folder / f"jobs-{jobs}" / "book.csv"
    out.parent.mkdir()
    subprocess.run([*line, "--out", str(out)], cwd=LAB, check=True, capture_output=True)
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="How long a class takes to grade.")
    parser.add_argument("--students", type=int, default=100)
    students: int = parser.parse_args().students
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "in").mkdir()
        hand_in(folder / "in", students)
        one, two = seconds(folder, 1), seconds(folder, 2)
        books = [(folder / f"jobs-{jobs}" / "book.csv").read_bytes() for jobs in (1, 2)]
    print(f"{students} students: {one:.1f} s with one process, {two:.1f} s with two, {one / two:.2f} times as fast")
    print(f"the gradebooks are {'the same' if books[0] == books[1] else 'DIFFERENT'}")


if __name__ == "__main__":
    main()
