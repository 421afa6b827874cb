"""A sheet is read line by line: what stands under a heading and is no quotation is the student's own.

The worked example has nine lines: a title, a line of the course's, ``## One``, a line of the course's, two of the
student's, ``## Two``, and one more. Under One stand the student's two lines and nothing of the course's.
"""

from pathlib import Path

import pytest
from conftest import Lab

from check.sheets import Section, read_fields, read_sheet
from course.errors import UserError

SHEET = "# Title\n> ours\n\n## One\n> What is it?\n\nan answer\n-> of two lines\n## Two\nlabel: model"
TWO = {"One": Section(4, "an answer\n-> of two lines"), "Two": Section(9, "label: model")}


@pytest.mark.parametrize("headings", [["One", "Two"], []])
@pytest.mark.parametrize(
    "change", [("?", "?"), ("\n", "\r\n"), ("\n", "\r"), ("## One", "##  One \t"), ("# Title", "\ufeff# Title")]
)
def test_the_worked_example_and_what_an_editor_does_to_it(
    lab: Lab, change: tuple[str, str], headings: list[str]
) -> None:
    assert read_sheet(lab.write("sheet.md", SHEET.replace(*change)), headings) == TWO


def test_a_heading_that_is_not_the_courses_is_a_part_of_the_answer(lab: Lab) -> None:
    sections = read_sheet(lab.write("sheet.md", SHEET.replace("-> of", "## A title of mine\nof")), ["One", "Two"])
    assert sections["One"].text == "an answer\n## A title of mine\nof two lines"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            SHEET.replace("## Two", "### Two").encode(),
            "sheet.md:1 expected the heading '## Two', got none; put it back",
        ),
        (SHEET.encode("utf-16"), "sheet.md:1 expected UTF-8, got another encoding; save the file as UTF-8"),
        (None, "sheet.md:1 expected your sheet, got: no such file or directory; run from the lab's folder"),
    ],
)
def test_a_sheet_that_cannot_be_read_is_one_line(lab: Lab, data: bytes | None, said: str) -> None:
    if data is not None:
        lab.write("sheet.md", data)
    with pytest.raises(UserError) as caught:
        read_sheet(Path("sheet.md"), ["One", "Two"])
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "label", "fix"),
    [
        ("label:\n\nmodel\n\n\nfix:\nof two\nlines", "model", "of two\nlines"),
        ("  Label : model\nFIX:a label: of a kind", "model", "a label: of a kind"),
        ("label: model\nlabel: hacked", "model hacked", ""),
        ("model", "", ""),
    ],
)
def test_fields_are_what_follows_their_names_at_the_start_of_a_line(text: str, label: str, fix: str) -> None:
    assert read_fields(Section(1, text), ["label", "fix"]) == {"label": label, "fix": fix}
