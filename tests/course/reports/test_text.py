"""Numbers and untrusted text for the terminal, against strings written by hand."""

import pytest

from course.reports import text


def test_rates_are_told_in_per_cent_and_differences_in_points() -> None:
    assert text.percent(0.425) == "42.5 %"
    assert text.interval((0.3234, 1.0)) == "32.3 to 100.0 %"
    assert text.points(-0.0125) == "-1.2 points"


@pytest.mark.parametrize(
    ("given", "width", "expected"),
    [
        ("Final: 22", 9, "Final: 22"),
        ("Final: 22", 8, "Final: …"),
        ("a\x1b[31mb", 40, "a<U+001B ESCAPE>[31mb"),
        ("\u202e", 40, "<U+202E RIGHT-TO-LEFT OVERRIDE>"),
        ("\u3164\ufe0f", 80, "<U+3164 HANGUL FILLER><U+FE0F VARIATION SELECTOR-16>"),
        ("", 5, ""),
    ],
)
def test_untrusted_text_is_one_visible_line_of_at_most_the_width(given: str, width: int, expected: str) -> None:
    assert text.clipped(given, width) == expected


def test_a_table_is_no_wider_than_a_terminal_and_obeys_no_markup() -> None:
    table = text.table(("name", "n"), [("[bold red]x[/] " * 20, 7), ("y", 12345)], right=(1,))
    lines = table.split("\n")
    assert max(map(len, lines)) <= 80
    assert "[bold red]x[/]" in table
    assert lines[0].startswith("name")
    assert lines[-1].split() == ["y", "12345"]
    assert not any(line.endswith(" ") for line in lines)
