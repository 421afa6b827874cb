"""Encode what stands in ``teacher/solutions/`` into ``data/solutions.json``: run it after a change of a solution.

    python3 teacher/make_solutions.py

A solution has the path of the file it solves, below ``teacher/solutions/``: ``exercises/kata_1.md``, say. ``--out
FILE`` writes there.
"""

import argparse
import json
import sys
from pathlib import Path

LAB = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LAB))

from check.encoding import SOLUTIONS, encode  # noqa: E402

FOLDER = LAB / "teacher" / "solutions"


def content() -> str:
    """The text of ``data/solutions.json``."""
    paths = sorted(path for path in FOLDER.rglob("*") if path.suffix in (".py", ".md", ".jsonl"))
    texts = {path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8") for path in paths}
    return json.dumps({name: encode(text) for name, text in texts.items()}, indent=1, sort_keys=True) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description="Encode the teacher's solutions for the students' copy.")
    parser.add_argument("--out", type=Path, default=SOLUTIONS, help="another file to write (default: the lab's)")
    parser.parse_args().out.write_text(content(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
