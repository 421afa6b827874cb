"""Machinery: what a student's copy holds locked: solutions, shown once an exercise's check passes, and keys of katas.

Covered: none is read by accident, as in a search through the files: a text is stored as an XOR with bytes that are made
from its key. Not covered: adversaries. The solutions' key stands below, and a kata's is one of four labels.
"""

import hashlib
import json
from collections.abc import Sequence

from course.datasets.files import LAB
from course.text import visible

SOLUTIONS = LAB / "data" / "solutions.json"  # path of a file that a student writes -> the teacher's text of it, locked
KEY = "its check passes"  # of every solution
_SEAL = bytes(8)  # in front of what is locked: with a wrong key something else stands there


def solutions_of(files: Sequence[str]) -> dict[str, str]:
    """Path -> text, safe to print, of those files that have a solution."""
    known = json.loads(SOLUTIONS.read_bytes())
    texts = {name: opened(known[name], KEY, name) or "" for name in files if name in known}
    return {name: "\n".join(map(visible, text.split("\n"))) for name, text in texts.items()}


def lock(text: str, key: str, salt: str) -> str:
    """A text in hexadecimal that ``opened`` gives back for this key."""
    return _crossed(_SEAL + text.encode("utf-8"), key, salt).hex()


def opened(locked: str, key: str, salt: str) -> str | None:
    """What was locked with this key, None where it was another."""
    text = _crossed(bytes.fromhex(locked), key, salt)
    return text.removeprefix(_SEAL).decode("utf-8") if text.startswith(_SEAL) else None


def _crossed(data: bytes, key: str, salt: str) -> bytes:
    stream = hashlib.shake_256(f"{salt}/{key}".encode()).digest(len(data))
    return bytes(one ^ other for one, other in zip(data, stream, strict=True))
