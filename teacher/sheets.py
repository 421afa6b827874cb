"""Machinery: the sheets that students fill in, read for a teacher: every question, every answer, and the key.

A sheet is a note or a kata. A line that begins with ``## `` is a heading, and the lines that
stand in the sheet as it is handed out are the course's own. Every other line is the student's.

Covered
    A sheet that a student has broken: an unknown heading stays part of the answer above it, and an answer above the
    first heading is kept under an empty one. Text of any kind; a longer one than ``LONGEST`` is cut.
Not covered
    Whether an answer is right.
"""

from collections.abc import Mapping
from typing import NamedTuple

from check.milestones import EXERCISES
from check.sheets import KEYS

LONGEST = 200_000  # characters of a file that a student wrote


class Sheet(NamedTuple):
    """``name``: of the exercise whose check looks at it. ``questions``: heading -> the course's words below it.
    ``key``: heading -> one good answer. ``shipped``: the whole file as students get it.
    """

    name: str
    file: str
    questions: Mapping[str, str]
    key: Mapping[str, str]
    shipped: str


def list_sheets(shipped: Mapping[str, bytes]) -> list[Sheet]:
    """The sheets of the exercises, in their order. ``shipped``: path -> content of the files that students get."""
    sheets = []
    for exercise in EXERCISES.values():
        for file in exercise.files:
            if file.endswith(".md"):
                text = decode_text(shipped[file])
                sheets.append(Sheet(exercise.id, file, read_questions(text), read_key(file, text), text))
    return sheets


def decode_text(content: bytes) -> str:
    """A student's file as text, whatever its bytes are."""
    text = content[: 4 * LONGEST].decode("utf-8-sig", "replace")[:LONGEST]
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_questions(shipped: str) -> dict[str, str]:
    """Heading -> what the course asks under it; the sheet's introduction, where nothing is asked under a heading."""
    questions: dict[str, list[str]] = {}
    introduction: list[str] = []
    lines = introduction
    for line in shipped.split("\n"):
        if line.startswith("## "):
            lines = questions.setdefault(line[3:].strip(), [])
        elif line.startswith(">"):
            lines.append(line[1:].removeprefix(" "))
    asked = {heading: "\n".join(lines).strip("\n") for heading, lines in questions.items()}
    return {heading: text or "\n".join(introduction).strip("\n") for heading, text in asked.items()}


def read_answers(text: str, shipped: str) -> dict[str, str]:
    """Heading -> the student's answer, empty where nothing was added to the shipped sheet."""
    course = {line.strip() for line in shipped.split("\n")}
    answers: dict[str, list[str]] = {"": []}
    answers |= {heading: [] for heading in read_questions(shipped)}
    heading = ""
    for line in text.split("\n"):
        title = line[3:].strip() if line.startswith("## ") else ""
        if title in answers and title:
            heading = title
        elif not (line.strip() in course and line.startswith((">", "#", "|"))):
            answers[heading].append(line)
    return {
        heading: "\n".join(lines).strip() if any(line.strip() not in course for line in lines) else ""
        for heading, lines in answers.items()
    }


def read_key(file: str, shipped: str) -> dict[str, str]:
    """Heading -> one good answer, of those that have one."""
    key = KEYS / file
    text = decode_text(key.read_bytes()) if key.is_file() else ""
    return {heading: answer for heading, answer in read_answers(text, shipped).items() if heading and answer}
