"""Untrusted text made fit to print: nothing that hides, moves or commands anything gets through.

A worked example. The escape character that starts a terminal command is printed as ``<U+001B ESCAPE>``: it is seen,
and the terminal obeys nothing.
"""

import sys
import unicodedata
from pathlib import Path

import pytest
import regex

from course.text import clipped, named, one_line, visible, visible_path

ALL = "".join(map(chr, range(sys.maxunicode + 1)))
HIDDEN = set(regex.findall(r"[\p{Default_Ignorable_Code_Point}\u2800\U0001d159\U00016fe4]", ALL))


@pytest.mark.parametrize("every", [11, pytest.param(1, marks=pytest.mark.slow)])
def test_every_character_that_hides_or_commands_is_written_out_and_no_other(every: int) -> None:
    for char in ALL[::every]:
        hides = char != " " and (unicodedata.category(char)[0] in "CZ" or char in HIDDEN)
        if not hides:
            assert visible(char) == char
        elif ord(char) < 0x3000 or ord(char) % 97 == 0 or char in HIDDEN:  # names of the others are slow to look up
            assert visible(char) == f"<{named(char)}>"
            assert visible(f"é{char}") == f"é<{named(char)}>"


def test_categories_that_are_written_out_are_named_one_by_one() -> None:
    """Cc, Cf, Cs, Co, Cn, Zl, Zp, Zs; and the three that no list of Unicode's holds."""
    hostile = "\x1b\u202e\ud800\ue000\u0378\u2028\u2029\u00a0\U0001d159\U00016fe4\u2800\u3164\ufe0f"
    assert {unicodedata.category(char) for char in hostile} >= {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"}
    assert [visible(char).startswith(f"<U+{ord(char):04X} ") for char in hostile] == [True] * len(hostile)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Final: 22", "Final: 22"),
        ("Größe 二十 🎉 e\u0301", "Größe 二十 🎉 e\u0301"),
        ("a\tb\r\n", "a<U+0009 TAB>b<U+000D CARRIAGE RETURN><U+000A LINE FEED>"),
        ("\0\x1b[2J", "<U+0000 NULL><U+001B ESCAPE>[2J"),
        ("\u200b\u202e", "<U+200B ZERO WIDTH SPACE><U+202E RIGHT-TO-LEFT OVERRIDE>"),
        ("\ud800\x85", "<U+D800 unnamed, category Cs><U+0085 unnamed, category Cc>"),
    ],
)
def test_a_text_is_shown_as_worked_by_hand(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_a_text_is_cut_to_its_width_after_it_was_made_visible() -> None:
    assert clipped("12345", 5) == "12345"
    assert clipped("123456", 5) == "1234…"
    assert clipped("\0" * 5, 5) == "<U+0…"
    assert clipped("x" * 10_000_000, 200) == "x" * 199 + "…"
    assert one_line("a\nb\rc", 80) == "a⏎b<U+000D CARRIAGE RETURN>c"


def test_a_path_is_untrusted_too() -> None:
    assert visible_path(Path("runs") / "\x1b[2J") == str(Path("runs") / "<U+001B ESCAPE>[2J")
