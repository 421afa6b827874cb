"""Machinery: what a student's copy holds in base64: solutions, and the labels and the reasoning of the katas.

Covered
    Accidents: a search through the files, or a file opened by mistake, shows no answer.
Not covered
    A curious student. Anybody can decode base64.
"""

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence

from course.datasets.files import LAB
from course.text import visible

SOLUTIONS = LAB / "data" / "solutions.json"  # path of a file that a student writes -> the teacher's text of it, encoded


def encode(text: str) -> str:
    return b64encode(text.encode("utf-8")).decode("ascii")


def decode(encoded: str) -> str:
    return b64decode(encoded).decode("utf-8")


def solutions_of(files: Sequence[str]) -> dict[str, str]:
    """Path -> text, safe to print, of those files that have a solution."""
    known = json.loads(SOLUTIONS.read_bytes())
    texts = {name: decode(known[name]) for name in files if name in known}
    return {name: "\n".join(map(visible, text.split("\n"))) for name, text in texts.items()}
