"""Machinery: the gradebook as pages: a table of the class, and a page for each sheet to read and to give points on.

Covered
    What students wrote stands in the pages as data and is shown as text (``course.pages.html``). Pictures that a note
    names are copied only where their first bytes are those of a PNG, JPEG, GIF or WebP file. The same hand-ins and
    grades, the same bytes.
Not covered
    A browser that keeps no points for a page that is opened as a file: the page says so, and its CSV has them.
"""

import hashlib
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote as url_quote

from check.milestones import EXERCISES
from check.result import NOT_STARTED
from course.artifacts.writing import write_page
from course.datasets.files import write_whole
from course.pages.excerpts import Data, cut_text
from course.pages.html import HEAD, PARTS, html_page
from course.text import clipped, visible
from teacher.cells import defuse, state_words, student_cell
from teacher.grading import PAGES, ExerciseReport, Grade, file_name, page_of_run
from teacher.shared import FEWEST, SHARE, TOKENS, WORDS, Shared, count_text
from teacher.sheets import Sheet, decode_text, read_answers

OWN_PARTS = Path(__file__).with_name("parts")
PARTS_OF_GRADEBOOK = [PARTS / "shared", PARTS / "chart", PARTS / "report", OWN_PARTS / "gradebook"]
EVIDENCE = (
    f"What is compared. Answers are compared by their runs of {WORDS} words, without case, white space and "
    f"punctuation: two students share an answer where {100 * SHARE[WORDS]:.0f} % of the shorter one's runs, and "
    f"{FEWEST[WORDS]} at least, stand in the other. Code is compared by its runs of {TOKENS} tokens, without comments, "
    f"docstrings and the names that a student chose: two students share a file where {100 * SHARE[TOKENS]:.0f} % of "
    f"the shorter one's runs, and {FEWEST[TOKENS]} at least, stand in the other. What the course's own pages, sheets "
    "and stubs say is left out first, and so are the fields of an experiment's form that hold numbers, runs and the "
    "verdict.",
    "What is evidence. A long answer that two students share. An answer or a file that equals the solution which the "
    "check shows. Two runs of one command that ended in the same second, by the clock in environment.json: one such "
    "second can be chance in a class that types together, several cannot.",
    "What is no evidence. Equal numbers, equal digests and equal results of one command, because the course gives "
    "everybody the same bytes. A short function, because two people may write it alike. Output of a command that both "
    "have pasted. Two students who say that they worked as a pair.",
    "What cannot be seen. An answer that was said in other words, translated, or written anew by a program. Letters of "
    f"another alphabet that look alike. Answers of fewer than {WORDS + FEWEST[WORDS] - 1} words. A clock that was "
    "edited. Nor does any of this say who gave and who took: ask both students, with the questions of the oral exam.",
)
_ABOVE = "Above the first heading"
_LONGEST = 20_000  # characters of an answer that a page shows
_PICTURE = re.compile(r"!\[[^\]\n]*\]\(([^)\s]+)\)")
_MOST_PICTURES = 5  # of an answer
_PICTURE_BYTES = 16 << 20
_PICTURES = {b"\x89PNG\r\n\x1a\n": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"RIFF": ".webp"}


class HandedIn:
    """A student's grade, answers (sheet's name -> heading -> text) and pictures, ready for the pages.

    ``student``: as the hand-in is named, where ``grade.student`` has unseen characters written out.
    """

    def __init__(self, student: str, grade: Grade, files: Mapping[str, bytes], sheets: Sequence[Sheet]) -> None:
        self.student = student
        self.grade = grade
        self.answers = {
            sheet.name: read_answers(decode_text(files.get(sheet.file, b"")), sheet.shipped) for sheet in sheets
        }
        self.pictures: dict[str, bytes] = {}  # as a note names it -> content
        for sheet in sheets:
            folder = sheet.file.rpartition("/")[0]
            for answer in self.answers[sheet.name].values():
                for name in _PICTURE.findall(answer)[:_MOST_PICTURES]:
                    content = files.get(f"{folder}/{name}", files.get(name, b""))
                    if len(content) <= _PICTURE_BYTES and ending_of(content):
                        self.pictures[name] = content


def ending_of(content: bytes) -> str:
    """What the name of a picture with these bytes ends in; nothing where they are those of no picture."""
    for start, ending in _PICTURES.items():
        if content.startswith(start) and (ending != ".webp" or content[8:12] == b"WEBP"):
            return ending
    return ""


def write_pages(out: Path, handed_in: Sequence[HandedIn], sheets: Sequence[Sheet], shared: Sequence[Shared]) -> Path:
    """Write the table of the class beside the gradebook ``out``, and all other pages below ``grades/``."""
    kept = out.parent / "grades"
    folder = kept / PAGES
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.html"):  # of sheets that are no more
        path.unlink()
    shutil.rmtree(folder / "pictures", ignore_errors=True)
    index = out.with_suffix(".html")
    for sheet in sheets:
        title = f"{sheet.name}: every student's answers"
        data = sheet_data(sheet, handed_in, shared, kept)
        data["index"] = f"../../{url_quote(index.name)}"
        write_page(folder / f"{sheet.name}.html", _page("sheet", title, data), HEAD)
    data = class_data(handed_in, sheets, shared, kept)
    return write_page(index, _page("gradebook", "Gradebook", data), HEAD)


def _page(view: str, title: str, data: Data) -> str:
    return html_page(view, title, "", data, PARTS_OF_GRADEBOOK)


def sheet_data(sheet: Sheet, handed_in: Sequence[HandedIn], shared: Sequence[Shared], kept: Path) -> Data:
    """One sheet: its questions with their keys, and below each every student's answer."""
    students = []
    for hand_in in handed_in:
        report = hand_in.grade.checks.get(sheet.name)
        runs = list_pages(hand_in.student, hand_in.grade, kept, kept / PAGES)
        counted_runs = report.runs if report else []
        student = {
            "name": hand_in.grade.student,
            "cell": student_cell(hand_in.grade.student),
            "state": state_words(report.state) if report else hand_in.grade.result,
            "lines": [clipped(line, 200) for line in lines_to_read(report)] if report else [],
            "runs": [run for run in runs if run["run"] in counted_runs],
        }
        students.append(student)
    questions = []
    for heading, asked in sheet.questions.items():
        answers = [_answer(sheet, heading, hand_in, shared, kept) for hand_in in handed_in]
        questions.append(_question(heading, asked, sheet.key.get(heading, ""), answers))
    other_answers = [_answer(sheet, "", hand_in, shared, kept) for hand_in in handed_in]
    if any(answer["text"] for answer in other_answers):
        questions.append(_question("", "What stands above the first heading of the sheet.", "", other_answers))
    return {"sheet": sheet.name, "students": students, "questions": questions, "csv": f"points_{sheet.name}.csv"}


def lines_to_read(report: ExerciseReport) -> list[str]:
    """What the check says that a teacher reads beside the answers: why more is to do."""
    if report.state in (NOT_STARTED, "done"):
        return []
    return report.lines


def _question(heading: str, asked: str, key: str, answers: Sequence[Data]) -> Data:
    return {
        "heading": heading or _ABOVE,
        "cell": defuse(clipped(heading or _ABOVE, 80)),
        "asked": asked,
        "key": key,
        "answers": answers,
    }


def _answer(sheet: Sheet, heading: str, hand_in: HandedIn, shared: Sequence[Shared], kept: Path) -> Data:
    """One answer of a student: its text, whom it is shared with, its pictures, and by what it is known."""
    student = hand_in.grade.student
    text = hand_in.answers[sheet.name][heading]
    named = dict.fromkeys(_PICTURE.findall(text)[:_MOST_PICTURES])
    pictures = [
        {"name": clipped(name, 80), "href": _write_picture(hand_in.pictures[name], kept / PAGES)}
        for name in named
        if name in hand_in.pictures
    ]
    return {
        "text": cut_text(text, _LONGEST),
        "shared": shares_of(student, sheet.file, heading, shared) if text else [],
        "pictures": pictures,
        "digest": hashlib.sha256(text.encode(errors="replace")).hexdigest()[:8],
    }


def _write_picture(content: bytes, folder: Path) -> str:
    name = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}{ending_of(content)}"
    (folder / "pictures").mkdir(exist_ok=True)
    write_whole(folder / name, content)
    return name


def shares_of(student: str, file: str, heading: str, shared: Sequence[Shared]) -> list[tuple[str, float]]:
    """With whom an answer is shared, and how much of it; the one that has most of it first."""
    found = []
    for pair in shared:
        share = pair.texts.get((file, heading)) or pair.texts.get((file, ""))
        if student in (pair.first, pair.second) and share:
            found.append((pair.second if student == pair.first else pair.first, share))
    return sorted(found, key=lambda item: -item[1])


def class_data(handed_in: Sequence[HandedIn], sheets: Sequence[Sheet], shared: Sequence[Shared], kept: Path) -> Data:
    """The table of the class: for each student each exercise's state, the marks of what is shared, and the runs."""
    pages = {sheet.name: sheet for sheet in sheets}
    names_of = dict.fromkeys([*EXERCISES, *(name for hand_in in handed_in for name in hand_in.grade.checks)])
    columns = []
    for name in names_of:
        href = f"grades/{PAGES}/{name}.html" if name in pages else None
        columns.append({"name": name, "href": href})
    rows = []
    for hand_in in handed_in:
        grade = hand_in.grade
        cells = []
        for name in names_of:
            report = grade.checks.get(name)
            files = EXERCISES[name].files if name in EXERCISES else ()
            partners_here = partners(grade.student, files, pages.get(name), shared)
            state = state_words(report.state) if report else ""
            cells.append(
                {"state": state, "shared": partners_here, "short": clipped(report.short, 200) if report else ""}
            )
        rows.append(
            {
                "name": grade.student,
                "result": grade.result,
                "why": grade.why,
                "cells": cells,
                "runs": list_pages(hand_in.student, grade, kept, kept.parent),
            }
        )
    pairs = []
    for pair in shared:
        names = [pair.first, pair.second]
        pairs.append({"pair": names, "count": count_text(pair), "details": details_of(pair)})
    return {
        "columns": columns,
        "rows": rows,
        "pairs": pairs,
        "evidence": EVIDENCE,
    }


def partners(student: str, files: Sequence[str], sheet: Sheet | None, shared: Sequence[Shared]) -> list[str]:
    """With whom a student shares something of an exercise."""
    found = []
    for pair in shared:
        if student not in (pair.first, pair.second):
            continue
        other = pair.second if student == pair.first else pair.first
        if any(file in files or (sheet and file == sheet.file) for file, _ in pair.texts):
            found.append(other)
    return found


def details_of(pair: Shared) -> list[str]:
    """Each thing that a pair shares, in a line."""
    lines = []
    for (file, heading), share in pair.texts.items():
        what = f"{file}, {heading}" if heading else file
        lines.append(f"{visible(what)}: {100 * share:.0f} % of the shorter one's runs")
    lines += [f"{visible(run)}: ended in the same second" for run in pair.runs]
    return lines


def list_pages(student: str, grade: Grade, kept: Path, base: Path) -> list[Data]:
    """Each run of a student: the way to its page from the folder ``base``, or why it has none."""
    runs = []
    for run, why in grade.runs.items():
        page = page_of_run(kept / f"{file_name(student)}.json", run)
        href = url_quote(page.relative_to(base).as_posix()) if not why else None
        runs.append({"run": run, "name": run.removeprefix("runs/"), "href": href, "why": why})
    return runs
