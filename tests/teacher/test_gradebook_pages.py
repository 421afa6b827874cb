"""The gradebook's pages: what students wrote is shown, whatever it is, and points come out as CSV."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from browsing import Tab, chromium
from conftest import files

from check.result import NOT_STARTED, TO_READ
from course.text import visible
from teacher.grading import ExerciseReport, Grade, page_of_run
from teacher.pages import HandedIn, class_data, details_of, ending_of, sheet_data, write_pages
from teacher.shared import Shared
from teacher.sheets import Sheet

HOSTILE = '</script><script>document.title = "no"</script><img src=x onerror="document.title=1">\u202e\x1b[31m"'
SHIPPED = "# S\n\n## =One\n> What?\n\n## Two\n> And?\n"
SHEET = Sheet("note", "notes/note.md", {"=One": "What?", "Two": "And?"}, {"=One": "The key."}, SHIPPED)
PNG = b"\x89PNG\r\n\x1a\nany"


MANY = {f"runs/a_run_of_mine_{number}": "" for number in range(40)}  # links that one line cannot hold


def handed_in(name: str, one: str, two: str, **more: bytes) -> HandedIn:
    checks = {"note": ExerciseReport("for the teacher to read", "", ["It came about.", HOSTILE], ["runs/a", *MANY])}
    grade = Grade(visible(name), "", "", "graded", checks=checks, runs={"runs/a": "", "runs/b": HOSTILE, **MANY})
    text = SHIPPED.replace("What?\n", f"What?\n{one}\n") + two
    return HandedIn(name, grade, {"notes/note.md": text.encode(), **more}, [SHEET])


def written(folder: Path) -> Path:
    pictures = {"notes/a.png": PNG, "notes/b.png": b"<svg onload=alert(1)>"}
    hostile = handed_in(f"=1+1,{HOSTILE}", HOSTILE, "![x](a.png) ![y](b.png) ![z](../../c.png)", **pictures)
    students = [hostile, handed_in("anna", "Four tries found more than one.", "")]
    shared = [Shared("anna", students[0].grade.student, False, {("notes/note.md", "=One"): 0.5}, ["runs/a"])]
    for one in students:
        page = page_of_run(folder / "grades" / f"{one.student}.json", "runs/a")
        assert not page.exists()
    return write_pages(folder / "book.csv", students, [SHEET], shared)


def data_of(page: Path) -> dict[str, Any]:
    text = page.read_text(encoding="utf-8")
    assert text.count("</script>") == 2
    assert "<img" not in text
    return dict(json.loads(text.partition('id="data">')[2].partition("</script>")[0]))


def test_what_students_wrote_is_data_and_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    index = written(tmp_path)
    before = files(tmp_path)
    assert written(tmp_path) == index
    assert files(tmp_path) == before
    data = data_of(tmp_path / "grades" / "pages" / "note.html")
    one, two = data["questions"]
    assert (one["key"], one["answers"][1]["text"]) == ("The key.", "Four tries found more than one.")
    assert one["answers"][0]["shared"] == [["anna", 0.5]]
    assert [picture["name"] for picture in two["answers"][0]["pictures"]] == ["a.png"]
    assert (tmp_path / "grades" / "pages" / two["answers"][0]["pictures"][0]["href"]).read_bytes() == PNG
    assert [student["state"] for student in data["students"]] == ["handed in", "handed in"]
    assert [run["run"] for run in data["students"][0]["runs"]] == ["runs/a", *MANY]  # those that the check counted
    (row, _) = data_of(index)["rows"]
    assert [cell["shared"] for cell in row["cells"] if cell["state"]] == [["anna"]]


def test_a_sheet_about_no_run_has_no_run_below_its_answers(tmp_path: Path) -> None:
    anna = handed_in("anna", "one", "two")
    anna.grade.checks["note"].runs = []
    assert sheet_data(SHEET, [anna], [], tmp_path)["students"][0]["runs"] == []


@pytest.mark.parametrize(
    ("exercise", "heading", "state", "lines"),
    [
        ("mental_map_v1", "Agent", "started", ["a line"]),
        ("mental_map_v1", "Agent", NOT_STARTED, []),
        ("kata_1", "1", "wrong", ["a line"]),
        ("kata_1", "1", "done", []),
    ],
)
def test_beside_an_answer_stands_what_the_check_says_of_it(
    tmp_path: Path, exercise: str, heading: str, state: str, lines: list[str]
) -> None:
    sheet = Sheet(exercise, "notes/a.md", {heading: "What?"}, {}, f"## {heading}\n")
    report = ExerciseReport(state, lines=["a line"])
    anna = HandedIn("anna", Grade("anna", "", "", "graded", checks={exercise: report}), {}, [sheet])
    data = sheet_data(sheet, [anna], [], tmp_path)
    assert data["students"][0]["lines"] == lines


@pytest.mark.parametrize(
    ("texts", "marked"),
    [
        ({("notes/note.md", "Two"): 0.4}, ["note"]),
        ({("exercises/my_score.py", ""): 0.9}, ["level_1"]),
        ({}, []),
    ],
)
def test_the_class_has_a_mark_where_something_is_shared(
    tmp_path: Path, texts: dict[tuple[str, str], float], marked: list[str]
) -> None:
    checks = {"note": ExerciseReport(TO_READ)}
    grades = [Grade(name, "", "", "graded", checks=checks) for name in ("anna", "ben", "carla")]
    students = [HandedIn(grade.student, grade, {}, [SHEET]) for grade in grades]
    data = class_data(students, [SHEET], [Shared("anna", "ben", False, texts, [])], tmp_path)
    names = [column["name"] for column in data["columns"]]
    for row, partners in zip(data["rows"], (["ben"], ["anna"], []), strict=True):
        marks = {name: cell["shared"] for name, cell in zip(names, row["cells"], strict=True) if cell["shared"]}
        assert marks == (dict.fromkeys(marked, partners) if partners else {})


def test_the_details_of_a_pair_name_each_thing() -> None:
    texts = {("notes/note.md", "Two"): 0.5, ("exercises/pick_best.py", ""): 0.9}
    answer, file, run = details_of(Shared("anna", "ben", False, texts, ["runs/a\x1b"]))
    assert ("notes/note.md, Two" in answer, "50 %" in answer) == (True, True)
    assert ("exercises/pick_best.py:" in file, "90 %" in file) == (True, True)
    assert ("runs/a" in run, "\x1b" in run) == (True, False)


@pytest.mark.parametrize(
    ("content", "ending"),
    [
        (PNG, ".png"),
        (b"RIFF0000WEBPVP8", ".webp"),
        (b"RIFF0000WAVE", ""),
        (b"<svg/>", ""),
        (b"%PDF-1.7", ""),
        (b"", ""),
    ],
)
def test_only_what_begins_as_a_picture_is_one(content: bytes, ending: str) -> None:
    assert ending_of(content) == ending


def test_points_survive_a_reload_and_come_out_as_csv(tmp_path: Path) -> None:
    written(tmp_path)
    with chromium() as browser:
        tab = Tab(browser)
        page = tab.open(tmp_path / "book.html")
        page.click("text=note")
        assert page.get_by_text("It came about.").count() == 4  # two students' two answers
        assert page.get_by_text("It came about.").first.is_visible()
        page.get_by_label("points of anna, =One").fill("2.5")
        page.get_by_label("points of anna, Two").fill("0.1")
        page.reload()
        assert page.title() == "note: every student's answers"
        assert page.get_by_label("points of anna, =One").input_value() == "2.5"
        with page.expect_download() as download:
            page.click("text=Download")
        download.value.save_as(tmp_path / "points.csv")
        with (tmp_path / "points.csv").open(encoding="utf-8-sig", newline="") as file:
            header, hostile, anna = csv.reader(file)
        assert header == ["student", "'=One", "Two", "points"]
        assert hostile == [f"'=1+1,{visible(HOSTILE)}", "", "", ""]
        assert anna == ["anna", "2.5", "0.1", "2.6"]
        assert tab.faults == []
        assert tab.sideways(".wide") == []
        assert tab.serious() == []
        tab.open(tmp_path / "book.html")
        assert tab.sideways(".wide") == []
        assert (tab.serious(), tab.faults) == ([], [])
