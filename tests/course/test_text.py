"""Untrusted text made fit to print: nothing that hides, moves or commands anything gets through.

A worked example. The escape character that starts a terminal command is printed as ``<U+001B ESCAPE>``: it is seen,
and the terminal obeys nothing.
"""

import os
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from course import text as module
from course.text import clipped, describe_error, did_you_mean, named, one_line, quote, shell_word, visible, visible_path

ALL = "".join(map(chr, range(sys.maxunicode + 1)))
# Unicode's property Default_Ignorable_Code_Point, first and last of each range; and three blanks that it leaves out.
RANGES = "00AD 034F 061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164 FE00-FE0F FEFF FFA0 FFF0-FFF8"
RANGES += " 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF 2800 1D159 16FE4"
HIDDEN: set[str] = set()
for entry in RANGES.split():
    first, _, last = entry.partition("-")
    HIDDEN |= {chr(code) for code in range(int(first, 16), int(last or first, 16) + 1)}


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
        ("\ud800\x85", "<U+D800 unnamed, category Cs><U+0085 NEXT LINE>"),
    ],
)
def test_a_text_is_shown_as_worked_by_hand(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_each_control_character_goes_by_a_name_that_unicode_knows_it_by() -> None:
    controls = [chr(code) for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) == "Cc"]
    assert len(controls) == 65
    assert [unicodedata.lookup(named(char).partition(" ")[2]) for char in controls] == controls


def test_a_text_is_cut_to_its_width_after_it_was_made_visible() -> None:
    assert clipped("12345", 5) == "12345"
    assert clipped("123456", 5) == "1234…"
    assert clipped("\0" * 5, 5) == "<U+0…"
    assert clipped("x" * 10_000_000, 200) == "x" * 199 + "…"
    assert one_line("a\nb\rc", 80) == "a⏎b<U+000D CARRIAGE RETURN>c"


def test_a_path_is_untrusted_too() -> None:
    assert visible_path(Path("runs") / "\x1b[2J") == str(Path("runs") / "<U+001B ESCAPE>[2J")


NAMES = ["run_001", "a b", "it's", '"', "$HOME", "`id`", "~", "a;b", "a&b", "*", "größe", "-x", "--run", "a\\b", "#1"]


@pytest.mark.skipif(os.name != "posix", reason="asks a POSIX shell")
def test_a_path_is_one_word_to_a_shell_and_names_the_same_file(tmp_path: Path) -> None:
    for name in (*NAMES, "a\n; touch no", "\x1b[2J", "> no"):
        (tmp_path / name).write_text(name, encoding="utf-8")
        command = f"cat {shell_word(Path(name))}"
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, check=False)
        assert done.stdout.decode() == (name if name.isprintable() else "")
    assert not (tmp_path / "no").exists()
    assert shell_word(Path("runs/run_001")) == "runs/run_001"
    assert shell_word(Path("my runs/\x1b")) == "'my runs/<U+001B ESCAPE>'"


def test_a_path_on_windows_is_plain_or_in_double_quotes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WINDOWS", True)
    assert shell_word(Path("C:\\runs\\größe-1.d")) == "C:\\runs\\größe-1.d"
    for name in ("a b", "a,b", "a&b", "it's", "a;b", "(1)", "@a", "\x1b"):
        assert shell_word(Path(name)) == f'"{visible_path(Path(name))}"'


class Mute(Exception):
    def __str__(self) -> str:
        raise SystemExit


class Loud(Exception):
    def __str__(self) -> str:
        return "y" * 10_000_000


def test_an_exception_is_described_in_one_short_line_however_odd_it_is() -> None:
    assert describe_error(KeyError("a")) == "KeyError: 'a'"
    assert describe_error(OSError("\x1b\n")) == "OSError: <U+001B ESCAPE><U+000A LINE FEED>"
    assert describe_error(Mute()) == "Mute: its own words raise SystemExit"
    assert describe_error(Loud()) == "Loud: " + "y" * 79 + "…"
    odd = type("\x1b" + "x" * 10_000, (BaseException,), {"__str__": lambda _: 3})
    assert describe_error(odd()).startswith("<U+001B ESCAPE>" + "x" * 79 + ": its own words raise TypeError")


def test_a_quoted_value_has_at_most_80_characters() -> None:
    assert quote("x" * 80) == "x" * 80
    assert quote("x" * 81) == "x" * 79 + "…"
    assert len(quote("\0" * 81)) == 80


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("evl", "did you mean course.eval? "),
        ("selection", "did you mean B? "),
        ("e", "did you mean course.eval? "),
        ("zzz", ""),
        ("", ""),
        ("x" * 10_000, ""),
    ],
)
def test_what_was_meant_is_what_begins_so_or_is_close(word: str, said: str) -> None:
    assert did_you_mean(word, {"gate": "course.gate", "eval": "course.eval", "selection_demo": "B"}) == said


def test_what_was_meant_is_shown_and_not_obeyed() -> None:
    assert did_you_mean("gate", {"gate\x1b": "\x1b"}) == "did you mean <U+001B ESCAPE>? "
