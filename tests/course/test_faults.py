"""The name of a fault: outcomes worked by hand, an oracle read off the spec, the character classes against a library.

A worked example. ``Final: 3 apples`` is no fault of white space: without its space, ``3apples`` is still no integer,
so it is ``not_an_integer``. ``Final: 3 4`` is one: without its space it is 34.
"""

import random
import re
import sys
from collections import Counter

import pytest
import regex
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from near_misses import PLACES, near_misses

from course.faults import (
    CHECK_STATES,
    CHECKS,
    CONTROL,
    DIGITS,
    FAMILIES,
    INVISIBLE,
    LINE_BOUNDARIES,
    UNSEEN,
    WHITE_SPACE,
    fault_of,
)
from course.score import measure

ALL = "".join(map(chr, range(sys.maxunicode + 1)))
LEFT_OUT = "\u2800\U0001d159\U00016fe4"  # shown as nothing, and not in Unicode's list of such

BEFORE_THE_REST = {  # a whole text -> its outcome
    "empty": [""],
    "not_single_line": ["a\nb", "Final: 2\nFinal: 2", "\vFinal: 22", "\u2029", "Final: 22\u2028", "final\x85+2 \u0662"],
    "missing_prefix": [
        *("22", "Final:", "final: 22", "FINAL: 22", "Final:22", "Final : 22", "Final:\t22", "\u00a0", "\ud800"),
        *("It is Final: 22", "**Final: 22**", "\ufeffFinal: 22", "\u00a0Final: 22", "Final:\u00a022", "\0Final: 22"),
    ],
}
AFTER_PREFIX = {  # what follows "Final: " -> the outcome
    "not_single_line": ["22\nx", "2\r2", "\n22", "22\x1c", "22\x1d", "22\x1e", "22\f2", "22\u2028x", "apples\vpears"],
    "extra_whitespace": [
        *(
            " 22",
            "\t22",
            "2 2",
            "+ 22",
            " +22",
            "- 22",
            "-\t0",
            "٢ ٢",
            " ²",
            "0 0",
            "1\u2009024",
            "22\u00a0",
            "22\u3000",
        ),
        *("22\x1f", "2\x7f2", "5\0", "5\x1b", "5\ufe0f", "5\u3164", "5\u2800", "5\U0001d159", "5\U00016fe4", "2\x9f"),
        *("22\u00ad", "-\u20600", "\ufeff22", "+\u202e22", "2\u034f2", "22\U000e0041", "22\U000e01ef", "2\u180e2"),
        *("22\u3000", "2\u200b2", "\u200b22\u200b"),
    ],
    "plus_sign": ["+22", "+0", "+-22", "+٢٢", "+007", "+-0", "+²"],
    "non_ascii_digits": ["٢٢", "２２", "2²", "②②", "₂₂", "-٢", "-٠", "0٢", "00٢", "\U0001d7da", "\U00011de0"],
    "negative_zero": ["-0", "-00", "-" + "0" * 10_000],
    "leading_zeros": ["022", "-022", "00", "0000", "-007", "01", "0" * 10_000],
    "not_an_integer": [
        *("the remainder when 281 is divided by 14 = 2", "3382 or 3392", "323 apples", "322 Final: 323", "twenty two"),
        *("+abc", "x²", "２２.5", "2 x", " -", "+ ", "++22", "-+5", "--5", "+ +2", "- -2", "22 .", "\u200b", "+\u200b"),
        *("-", "+", "5-", "22.", "22.0", "-0.0", "2,2", "22%", "$22", "11*2", "44/2", "2_2", "1e3", "0x16", "+22.0"),
        *("two", "二十", "Ⅻ", "½", "\u221222", "\uff0d22", "22\ud800", "nan", ".", "00x", "\uff0b2", "\u2212٢"),
        *("22\u0605", "\u0300", "2\u0301", "\ufff9", "2\U00013430", "\U0010ffff"),
    ],
}


@pytest.mark.parametrize("outcome", [*BEFORE_THE_REST, *AFTER_PREFIX])
def test_every_text_gets_the_outcome_that_was_worked_by_hand(outcome: str) -> None:
    for text in BEFORE_THE_REST.get(outcome, []) + [f"Final: {rest}" for rest in AFTER_PREFIX.get(outcome, [])]:
        assert fault_of(text) == outcome, ascii(text)


def test_outcomes_name_failures_and_checks_name_what_holds() -> None:
    names = [check.name for check in CHECKS.values()]
    assert len(set(names)) == len(names) == 12
    assert not set(names) & set(FAMILIES)
    assert list(FAMILIES) == [*CHECKS, "ok"]
    assert set(FAMILIES.values()) == {"data", "model_format", "model_math", None}
    assert list(CHECK_STATES["missing_prefix"].items())[3:6] == [
        ("single_line", "passed"),
        ("prefix", "failed"),
        ("no_extra_whitespace", "not reached"),
    ]
    assert set(CHECK_STATES["ok"].values()) == {"passed"}


UNSEEN_BY_THE_SPEC = regex.compile(rf"[\p{{White_Space}}\p{{Cc}}\p{{Default_Ignorable_Code_Point}}{LEFT_OUT}]")
INTEGER = regex.compile(r"-?[\p{Nd}\p{Numeric_Type=Digit}]+")


def outcome_by_the_spec(answer: int, completion: str) -> str:
    """Row by row as the spec's table has them, the first that applies; the classes are another library's."""
    text = re.sub(r"\A[ \t\r\n]+|[ \t\r\n]+\Z", "", completion)
    if text == f"Final: {answer}":
        return "ok"
    rest = text[7:]
    seen = UNSEEN_BY_THE_SPEC.sub("", rest)
    rows = {
        "empty": text == "",
        "not_single_line": text.splitlines() != [text],
        "missing_prefix": text[:7] != "Final: ",
        "extra_whitespace": seen != rest and INTEGER.fullmatch(seen.removeprefix("+")),
        "plus_sign": rest[:1] == "+" and INTEGER.fullmatch(rest[1:]),
        "non_ascii_digits": INTEGER.fullmatch(rest) and re.search("[^-0-9]", rest),
        "negative_zero": re.fullmatch("-0+", rest),
        "leading_zeros": re.fullmatch("-?0[0-9]+", rest),
        "not_an_integer": not re.fullmatch("0|-?[1-9][0-9]*", rest),
        "wrong_answer": True,
    }
    return next(outcome for outcome, applies in rows.items() if applies)


@pytest.mark.parametrize("n", [2_000, pytest.param(20_000, marks=pytest.mark.slow)])
def test_near_misses_get_the_outcome_of_the_spec_and_every_outcome_is_met(n: int) -> None:
    met = Counter[str]()
    for answer, text in near_misses(seed=2, n=n):
        met[outcome := measure(answer, text).outcome] += 1
        assert outcome == outcome_by_the_spec(answer, text), ascii(text)
    assert set(met) == set(FAMILIES) - {"invalid_example", "completion_not_text"}
    assert min(met.values()) >= n / 2_000


@settings(max_examples=3 * (settings().max_examples or 0))
@given(st.sampled_from([22, 0, -2]), st.text(st.characters() | st.sampled_from("+-0123٢² \u200b")))
def test_any_text_after_the_prefix_gets_the_outcome_of_the_spec(answer: int, rest: str) -> None:
    assert measure(answer, f"Final: {rest}").outcome == outcome_by_the_spec(answer, f"Final: {rest}")


def members(character_class: str) -> str:
    return "".join(re.findall(f"[{character_class}]", ALL))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (WHITE_SPACE, r"\p{White_Space}"),
        (CONTROL, r"\p{Cc}"),
        (INVISIBLE, rf"[\p{{Default_Ignorable_Code_Point}}{LEFT_OUT}]"),
        (DIGITS, r"[\p{Nd}\p{Numeric_Type=Digit}]"),
    ],
    ids=["white space", "control", "invisible", "digits"],
)
def test_a_character_class_is_that_of_unicode_17(ours: str, theirs: str) -> None:
    assert members(ours) == "".join(regex.findall(theirs, ALL))


def test_the_line_boundaries_are_those_of_splitlines() -> None:
    *ended, last = "2".join(ALL).splitlines(keepends=True)
    assert {line[-1] for line in ended} == set(LINE_BOUNDARIES)
    assert last[-1] == ALL[-1]


@pytest.mark.parametrize("every", [7, pytest.param(1, marks=pytest.mark.slow)])
def test_code_points_in_every_place_of_the_line_get_the_outcome_of_the_spec(every: int) -> None:
    """All that has a class, and neighbours, and some of the rest."""
    classed = {ord(char) + step for char in members(UNSEEN + DIGITS) for step in (0, 1)} - set(range(0xE0010, 0xE0FF0))
    drawn = random.Random(3).sample(range(sys.maxunicode + 1), 2_000)
    codes = {0xD800, 0xDFFF, sys.maxunicode, *drawn} | classed | {code - 1 for code in classed if code}
    for code in sorted(codes)[::every]:
        for place in PLACES:
            text = place.format(chr(code))
            assert measure(22, text).outcome == outcome_by_the_spec(22, text), ascii(text)


def test_no_table_of_the_running_python_is_asked() -> None:
    """Its tables differ from version to version, and with them one text would have two outcomes."""
    source = (ROOT / "course" / "faults.py").read_text(encoding="utf-8")
    code = re.sub("#.*", "", source.partition('"""')[2].partition('"""')[2])
    assert not re.findall(r"unicodedata|\.is(?!ascii\()[a-z]+\(|\\[dDwWsSbB]\b|\.r?split\(|IGNORECASE|strip\(\)", code)


@pytest.mark.parametrize("rest", ["\U0001d7da", "\u0662", "9\u200b", "0", "\U0001fbf9\U000e0041"])
def test_a_very_long_text_is_named_as_a_short_one_but_for_characters_beyond_the_first_plane(rest: str) -> None:
    short, long = fault_of("Final: 0" + rest * 10), fault_of("Final: 0" + rest * 200_000)
    assert long == (short if max(rest) <= "\uffff" else "not_an_integer")
