"""What the views compute is what the Python computes: hidden characters, where two texts differ, rounded numbers.

An example: a page hides and names each of Unicode's characters that a terminal hides and names.
"""

import unicodedata
from itertools import takewhile
from pathlib import Path

import pytest
from conftest import ROOT, lines_of
from node_pages import NODE, OF_RUNS, run_script

from course.show.tables import percent
from course.text import visible
from docs.make_live import unseen_names

pytestmark = pytest.mark.skipif(not NODE, reason="Node is not here")

PARTS = "answer(data.map((text) => partsOf(text).map(({ text, hidden, times }) => [text, hidden, times])));"


def shown(parts: list[tuple[str, bool, int]]) -> str:
    """The parts as course/text.py writes them, without the names."""
    return "".join(f"<U+{ord(text):04X}>" * times if hidden else text for text, hidden, times in parts)


def named_only(text: str) -> str:
    """The text as course/text.py makes it visible, without the names."""
    return "".join(char if visible(char) == char else f"<U+{ord(char):04X}>" for char in text)


def test_golden_texts_are_made_visible_as_in_a_terminal(tmp_path: Path) -> None:
    texts = [row["completion"] for path in sorted((ROOT / "course/golden").glob("*.jsonl")) for row in lines_of(path)]
    texts += ["a\n\n\n\nb", "  two  ", "\u200b" * 1_000 + "x", "", "\U000e0041\U000e0041\U0001f600"]
    found = run_script(OF_RUNS, PARTS, texts, tmp_path)
    assert list(map(shown, found)) == list(map(named_only, texts))
    assert found[-3][0] == ["\u200b", True, 1_000]


@pytest.mark.parametrize("first", [0, 0x10000, 0xE0000])
def test_every_assigned_character_is_hidden_where_a_terminal_names_it(first: int, tmp_path: Path) -> None:
    """A character that one of the two tables does not know yet is hidden by that one: both fail closed."""
    last = {0: 0x10000, 0x10000: 0x32000, 0xE0000: 0xE1000}[first]
    known = (chr(code) for code in range(first, last) if not 0xD800 <= code < 0xE000)
    texts = [char for char in known if unicodedata.category(char) != "Cn"]
    found = run_script(OF_RUNS, PARTS, texts, tmp_path)
    newer = "answer(data.map((text) => /^\\p{Cn}$/u.test(text)));"
    unknown = run_script(OF_RUNS, newer, texts, tmp_path)
    hidden = {text: parts[0][1] for text, parts, new in zip(texts, found, unknown, strict=True) if not new}
    assert {text for text, is_hidden in hidden.items() if is_hidden != (visible(text) != text)} == set()
    assert len(hidden) > 300


def test_the_names_of_a_page_cover_what_the_verifier_may_meet(tmp_path: Path) -> None:
    code = "answer(Object.keys(data).filter((code) => !partsOf(String.fromCodePoint(parseInt(code, 16)))[0].hidden));"
    assert run_script(OF_RUNS, code, unseen_names(), tmp_path) == ["0020"]


def test_the_names_are_those_of_unicode() -> None:
    names = unseen_names()
    assert names["200B"] == "ZERO WIDTH SPACE"
    assert names["000A"] == "LINE FEED"
    assert all(unicodedata.name(chr(int(code, 16)), name) == name for code, name in names.items())


def test_two_texts_differ_between_what_they_share(tmp_path: Path) -> None:
    pairs = [
        ("Final: 323", "Final: 332"),
        ("66", "Final: 66\n"),
        ("aa", "aaa"),
        ("", "x"),
        ("same", "same"),
        ("😀a", "😁a"),
    ]
    found = run_script(OF_RUNS, "answer(data.map(([a, b]) => differenceOf(a, b)));", pairs, tmp_path)
    for (before, after), parts in zip(pairs, found, strict=True):
        assert parts["start"] == "".join(
            a for a, b in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
        )
        assert parts["start"] + parts["before"] + parts["end"] == before
        assert parts["start"] + parts["after"] + parts["end"] == after
    assert (found[0]["before"], found[0]["after"]) == ("23", "32")
    assert (found[1]["before"], found[1]["after"]) == ("66", "Final: 66\n")
    assert (found[-1]["start"], found[-1]["before"]) == ("", "😀")


def test_numbers_are_rounded_as_in_a_terminal(tmp_path: Path) -> None:
    """One of 80 is 1.2 % in both: a tie goes to the even digit. A page may show it beside what the command printed."""
    shares = sorted({k / n for n in (7, 8, 16, 60, 80, 400, 2_000) for k in range(n + 1)} | {1.15, 1.05, 0.0035})
    found = run_script(
        OF_RUNS, "answer(data.map((x) => [0, 1, 2, 3].map((digits) => percent(x, digits))));", shares, tmp_path
    )
    assert found == [[percent(share, digits) for digits in range(4)] for share in shares]
    assert percent(1 / 80) == "1.2 %"
    values = [sign * share for share in shares if share for sign in (1, -1)]
    found = run_script(OF_RUNS, "answer(data.map((value) => signed(value)));", values, tmp_path)
    assert found == [f"{value:+.3f}".replace("-", "−") for value in values]
