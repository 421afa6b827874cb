"""A note is whole where each heading has words of the student's; each heading that has some shows our answer.

An example: of a table with a row for reward and one for loss, of which the second is empty, loss is named.
"""

import pytest
from conftest import Lab

from check.notes import check_note, fault_of_answer, own_words

TABLE = "\n| word | mine |\n|---|---|\n| reward | {} |\n| loss | {} |\n"


@pytest.mark.parametrize(
    ("text", "words", "fault"),
    [
        ("", 0, "expected 8 words or more, got 0"),
        ("a -> b -> c -> d", 7, "expected 8 words or more, got 7"),
        ("a -> b -> c -> d <-", 8, ""),
        ("![](drawn.png)", 1, ""),
        (TABLE.format("", " "), 0, "expected 8 words or more, got 0"),
        (
            TABLE.format("the 1 of `Final: 8`", ""),
            5,
            "expected something in each row of the table, got nothing in: loss",
        ),
        (TABLE.format("the 1 of my first completion", "none | here"), 8, ""),
    ],
)
def test_an_answer_is_eight_words_or_a_picture_and_no_empty_row(text: str, words: int, fault: str) -> None:
    assert (len(own_words(text)), fault_of_answer(text)) == (words, fault)


def test_a_note_shows_our_answer_to_each_heading_that_is_answered(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("check.notes.KEYS", lab.folder / "keys")
    blank = f"# A note\n\n## 1. Words\n> Which?\n{TABLE}\n## 2. Whose\n> Who?\n"
    lab.write("keys/notes/n.md", "## 1. Words\nOurs.\n## 2. Whose\nOurs, too.\n")
    note = lab.write("notes/n.md", blank.replace("{}", ""))
    assert check_note(note).state == "not started"
    lab.write("notes/n.md", blank.format("what the verifier gave", "what falls in a training"))
    checked = check_note(note)
    assert checked[:2] == ("started", "1 of 2 headings answered")
    assert checked.lines[0] == "our answer to 1: python3 -m check n --id 1"
    assert [line.partition(": ")[2] for line in checked.lines[1:]] == ["expected 8 words or more, got 0"]
    assert checked.parts["1"] == "1. Words, our answer\n\nOurs."
    assert [*checked.parts] == ["1"]
    with note.open("a") as file:
        file.write("a simulated writer wrote all of them, and once\n")
    assert check_note(note)[:2] == ("for the teacher to read", "2 of 2 headings answered")
    (lab.folder / "keys/notes/n.md").unlink()  # a class that is marked
    assert check_note(note)[:3] == ("for the teacher to read", "2 of 2 headings answered", [])
    assert check_note(note).parts == {}
