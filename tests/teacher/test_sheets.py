"""A student's sheet, read for a teacher: what is the student's own, and what is the course's."""

import pytest

from teacher.release import read_committed_files
from teacher.sheets import decode_text, list_sheets, read_answers

SHIPPED = """# A sheet
>
> The course's words.

## One
> What is one?

label:

## Two
> What is two?
"""


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (SHIPPED, {"": "", "One": "", "Two": ""}),
        (SHIPPED.replace("label:", "label: model"), {"": "", "One": "label: model", "Two": ""}),
        (SHIPPED + "mine\n## Three\nmine, too", {"": "", "One": "", "Two": "mine\n## Three\nmine, too"}),
        (SHIPPED + "> mine, though quoted", {"": "", "One": "", "Two": "> mine, though quoted"}),
        ("mine\n" + SHIPPED, {"": "mine", "One": "", "Two": ""}),
        ("## Two\nfirst\n## One\nsecond\n## Two\nthird", {"": "", "One": "second", "Two": "first\nthird"}),
        ("", {"": "", "One": "", "Two": ""}),
    ],
)
def test_every_line_is_the_courses_or_the_students(text: str, answers: dict[str, str]) -> None:
    assert read_answers(text, SHIPPED) == answers


def test_no_sheet_as_shipped_has_an_answer_and_every_key_has_a_question() -> None:
    sheets = list_sheets(read_committed_files(None))
    assert {"kata_1", "mental_map_v1"} <= {sheet.name for sheet in sheets}
    assert len({sheet.name for sheet in sheets}) == len(sheets)
    for sheet in sheets:
        answers = read_answers(sheet.shipped, sheet.shipped)
        assert [heading for heading, answer in answers.items() if answer] == []
        assert all(sheet.questions.values()), sheet.name
        assert {*sheet.key} <= {*sheet.questions}
        if sheet.name.startswith("kata_"):
            assert [*sheet.key] == [*sheet.questions]


def test_bytes_of_any_kind_are_text() -> None:
    assert decode_text(b"\xef\xbb\xbfa\r\nb\xff\rc") == "a\nb\ufffd\nc"
