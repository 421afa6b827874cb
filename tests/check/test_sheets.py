"""A sheet is read line by line, and whatever a student does to it is one line that says where.

The worked example, of nine lines: a title, a line of the course's, ``## One``, a line of the course's, two of the
student's, ``## Two``, and one more. Under One stand the student's two lines and nothing of the course's.
"""

from pathlib import Path

import pytest
from conftest import Lab

from check.sheets import Section, check_note, read_fields, read_sheet
from course.errors import UserError

SHEET = "# Title\n> ours\n\n## One\n> What is it?\n\nan answer\n-> of two lines\n## Two\nlabel: model"


def test_the_worked_example(lab: Lab) -> None:
    path = lab.write("sheet.md", SHEET)
    assert read_sheet(path, ["One", "Two"]) == {
        "One": Section(4, "an answer\n-> of two lines"),
        "Two": Section(9, "label: model"),
    }


@pytest.mark.parametrize("change", [("\n", "\r\n"), ("\n", "\r"), ("## One", "##  One \t")])
def test_what_an_editor_does_to_a_sheet_is_no_fault(lab: Lab, change: tuple[str, str]) -> None:
    path = lab.write("sheet.md", SHEET.replace(*change))
    assert [section.text for section in read_sheet(path, ["One", "Two"]).values()] == [
        "an answer\n-> of two lines",
        "label: model",
    ]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (SHEET.replace("## Two", "### Two").encode(), ":1 expected the heading '## Two', got none; put it back"),
        (SHEET.replace("## Two", "## Too").encode(), ":9 expected the course's headings only, got '## Too'; write ###"),
        (f"{SHEET}\n## One".encode(), ":11 expected each heading once, got '## One' a second time; keep one"),
        (b"a\nb\n\xff", ":3 expected UTF-8, got byte 0xff; save the file as UTF-8"),
        (SHEET.encode("utf-16"), ":1 expected UTF-8, got byte 0xff; save the file as UTF-8"),
        (b"\n" * (1 << 20) + b"\n", ":1 expected at most 1 MB, got more; keep to your own words"),
        (b"## One\n## One", ":2 expected each heading once, got '## One' a second time"),
        (b"## \x1b[31m", ":1 expected the course's headings only, got '## <U+001B ESCAPE>[31m'; write ### or bold"),
        (b"\0", ":1 expected the heading '## One', got none"),
        (b"", ":1 expected the heading '## One', got none"),
    ],
    ids=range(10),
)
def test_a_sheet_that_cannot_be_read_is_one_line_that_says_where(lab: Lab, data: bytes, said: str) -> None:
    path = lab.write("sheet.md", data)
    with pytest.raises(UserError) as caught:
        read_sheet(path, ["One", "Two"])
    assert str(caught.value).startswith(f"sheet.md{said}")


@pytest.mark.parametrize("name", ["no.md", "."])
def test_no_sheet_at_all(lab: Lab, name: str) -> None:
    del lab
    with pytest.raises(UserError, match=r":1 expected your sheet, got.*; run from the lab's folder$"):
        read_sheet(Path(name), [])


@pytest.mark.parametrize(
    ("text", "label", "fix"),
    [
        ("label: model\nfix: none", "model", "none"),
        ("label:\n\nmodel\n\n\nfix:\nof two\nlines", "model", "of two\nlines"),
        ("  Label : model\nFIX:a label: of a kind", "model", "a label: of a kind"),
        ("label: model\nlabel: hacked", "model hacked", ""),
        ("model", "", ""),
        ("", "", ""),
    ],
)
def test_fields_are_what_follows_their_names_at_the_start_of_a_line(text: str, label: str, fix: str) -> None:
    assert read_fields(Section(1, text), ["label", "fix"]) == {"label": label, "fix": fix}


QUESTIONS = {"Reward": ("verifier or scorer", "completion"), "Diagram": ("-> or ![",)}
GOOD = {
    "Reward": "The scorer computes it from one completion alone.",
    "Diagram": "agent -> action -> environment -> reward -> agent",
}


def note(lab: Lab, **answers: str) -> Path:
    return lab.write("note.md", "".join(f"## {heading}\n> Why?\n\n{text}\n" for heading, text in answers.items()))


def test_a_byte_order_mark_does_not_hide_the_first_heading(lab: Lab) -> None:
    path = lab.write("sheet.md", "\ufeff## One\nyes")
    assert read_sheet(path, ["One"]) == {"One": Section(1, "yes")}


def test_a_note_as_shipped_is_not_started_and_a_whole_one_is_for_the_teacher(lab: Lab) -> None:
    assert check_note(note(lab, Reward="", Diagram=" \n"), QUESTIONS).state == "not started"
    assert check_note(note(lab, **GOOD), QUESTIONS)[:3] == ("for the teacher to read", "2 of 2 questions answered", [])


@pytest.mark.parametrize(
    ("heading", "text", "said"),
    [
        ("Reward", "", "note.md:1 Reward: expected 8 words or more, got 0"),
        ("Reward", "scorer, completion", "note.md:1 Reward: expected 8 words or more, got 2"),
        ("Reward", "The scorer " * 4, "note.md:1 Reward: expected the terms completion, got an answer without them"),
        ("Reward", "The completion " * 4, "note.md:1 Reward: expected the terms verifier or scorer, got "),
        (
            "Diagram",
            "agent, action, environment, reward, and round and round",
            "note.md:5 Diagram: expected the terms -> or",
        ),
    ],
)
def test_an_answer_that_is_short_or_lacks_a_term_is_named(lab: Lab, heading: str, text: str, said: str) -> None:
    checked = check_note(note(lab, **GOOD | {heading: text}), QUESTIONS)
    assert checked[:2] == ("started", "1 of 2 questions answered")
    [line] = checked.lines
    assert line.startswith(said)


def test_a_term_may_be_the_beginning_of_words_and_is_shown_as_one(lab: Lab) -> None:
    asked = {"Promises": ["determinis…"]}
    for ending in ("tic", "m"):
        path = lab.write("note.md", f"## Promises\nThe same two get the same answer: determinis{ending}, it says.\n")
        assert check_note(path, asked).state == "for the teacher to read"
    path = lab.write("note.md", "## Promises\nThe same two get the same answer each time, it says.\n")
    assert "expected the terms determinis…, got" in check_note(path, asked).lines[0]


def test_a_term_of_two_words_may_stand_on_two_lines(lab: Lab) -> None:
    path = lab.write("note.md", "## Judge\nWhat was trained on preferences is a Reward\nModel, and it can drift.\n")
    assert check_note(path, {"Judge": ["reward model"]}).state == "for the teacher to read"
