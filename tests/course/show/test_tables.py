"""Numbers and untrusted text for the terminal, against strings written by hand.

An example: a rate of 0.425 is printed as 42.5 %.
"""

import pytest

from course import text
from course.show import tables, terminal


def test_rates_are_printed_in_per_cent() -> None:
    assert tables.percent(0.425) == "42.5 %"
    assert tables.interval((0.3234, 1.0)) == "32.3 to 100.0 %"


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
    table = tables.table(("name", "n"), [("[bold red]x[/] " * 20, 7), ("y", 12345)], right=(1,))
    lines = table.split("\n")
    assert max(map(len, lines)) <= 80
    assert "[bold red]x[/]" in table
    assert lines[0].startswith("name")
    assert lines[-1].split() == ["y", "12345"]
    assert not any(line.endswith(" ") for line in lines)


QUOTES = ["'Final:  0'", "'it's  8 or  9'", '"  a  b  "']


@pytest.mark.parametrize("quote", QUOTES)
def test_no_line_ends_within_quotes_and_no_space_there_is_lost(quote: str) -> None:
    """A line break once took the two spaces of 'Final:  0'."""
    for words in range(8, 17):
        sentence = f"{'word ' * words}{quote} where -8 is expected, of all the texts that were tried"
        for lines in (tables.wrap_sentence(sentence), terminal.fold_lines(sentence, 40)):
            assert quote in lines
            assert "\n" in lines
            assert " ".join(lines.split()) == " ".join(sentence.split())
    table = tables.table(("prose", "text"), [("much prose " * 8, f"it is cheated by {quote} at least")])
    assert quote in table
    assert max(map(len, table.split("\n"))) <= 80


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Final: 12", "Final: N"),
        ("Final: -7.50", "Final: -N.N"),
        ("1\n22\n333", "N\nN\nN"),
        ("1 2", "N N"),
        ("12", "N"),
        ("The answer is 4.", "The answer is N."),
        ("", ""),
        ("Final: ٣", "Final: ٣"),
        ("final 0", "final N"),
    ],
)
def test_a_shape_is_the_text_without_its_values(given: str, expected: str) -> None:
    assert tables.text_shape(given) == expected


def test_many_lines_are_shown_in_one_with_nothing_else_let_through() -> None:
    assert text.one_line("7\n8\n", 9) == "7⏎8⏎"
    assert text.one_line("7\n8\n9", 4) == "7⏎8…"
    assert text.one_line("\r\x1b", 40) == "<U+000D CARRIAGE RETURN><U+001B ESCAPE>"


def test_a_growing_table_is_the_table_one_row_at_a_time() -> None:
    """Each row is set before the next is known, so the widest cells are told beforehand."""
    header = ("name\nof it", "n")
    rows = [("a", 7), ("longest", 12345), ("b", 1)]
    grown = tables.GrowingTable(header, ("longest", "12345"), (1,))
    at_once = tables.table(header, rows, right=(1,))
    assert "\n".join([grown.head(), *map(grown.row, rows)]) == at_once
