"""The name of a fault: outcomes worked by hand, and an oracle read off the spec.

A worked example. ``Final: 3 apples`` is no fault of white space: without its space, ``3apples`` is still no integer,
so it is ``not_an_integer``. ``Final: 3 4`` is one: without its space it is 34.
"""

import random
import re
import sys
from collections import Counter

import pytest
from conftest import ROOT
from hypothesis import given, settings
from hypothesis import strategies as st
from near_misses import PLACES, near_misses

from course.faults import (
    CHECKS,
    FAMILIES,
    LINE_BOUNDARIES,
    fault_of,
    first_beyond_ascii,
    read_example,
    states_of_checks,
)
from course.score import measure

ALL = "".join(map(chr, range(sys.maxunicode + 1)))

BEFORE_THE_REST = {  # a whole text -> its outcome
    "empty": [""],
    "not_single_line": ["a\nb", "Final: 2\nFinal: 2", "\vFinal: 22", "\u2029", "Final: 22\u2028", "final\x85+2 \u0662"],
    "missing_prefix": [
        "22",
        "Final:",
        "final: 22",
        "FINAL: 22",
        "Final:22",
        "Final : 22",
        "Final:\t22",
        "\u00a0",
        "\ud800",
        "It is Final: 22",
        "**Final: 22**",
        "\ufeffFinal: 22",
        "\u00a0Final: 22",
        "Final:\u00a022",
        "\0Final: 22",
    ],
}
AFTER_PREFIX = {  # what follows "Final: " -> the outcome
    "not_single_line": [
        "22\nx",
        "2\r2",
        "\n22",
        "22\x1c",
        "22\x1d",
        "22\x1e",
        "22\f2",
        "22\u2028x",
        "apples\vpears",
        "²\n",
    ],
    "not_ascii": [
        "٢٢",
        "２２",
        "2²",
        "②②",
        "-٢",
        "+٢٢",
        "0٢",
        "\U0001d7da",
        "\u221222",
        "\uff0d22",
        "\uff0b2",
        "x²",
        "22\u00a0",
        "22\u3000",
        "1\u2009024",
        "2\u200b2",
        "\u200b",
        "\ufeff22",
        "2\u034f2",
        "22\U000e01ef",
        "2\x80",
        "22\ud800",
        "二十",
        "½",
        "22 äpfel",
        " 22\x9f",
        "\U0010ffff",
    ],
    "extra_whitespace": [
        " 22",
        "\t22",
        "2 2",
        "+ 22",
        " +22",
        "- 22",
        "-\t0",
        " 022",
        "0 0",
        "22\x1f",
        "2\x7f2",
        "5\0",
        "5\x1b",
        "\x01" * 9 + "5",
        "+\x08-\x0e5",
        "- 0",
    ],
    "plus_sign": ["+22", "+0", "+-22", "+007", "+-0"],
    "negative_zero": ["-0", "-00", "-" + "0" * 10_000],
    "leading_zeros": ["022", "-022", "00", "0000", "-007", "01", "0" * 10_000],
    "not_an_integer": [
        "the remainder when 281 is divided by 14 = 2",
        "3382 or 3392",
        "323 apples",
        "322 Final: 323",
        "twenty two",
        "+abc",
        "2 x",
        " -",
        "+ ",
        "++22",
        "-+5",
        "--5",
        "+ +2",
        "- -2",
        "22 .",
        "+\x01",
        "\x7f",
        "2-",
        "2 +",
        "-",
        "+",
        "5-",
        "22.",
        "22.0",
        "-0.0",
        "2,2",
        "22%",
        "$22",
        "11*2",
        "44/2",
        "2_2",
        "1e3",
        "0x16",
        "+22.0",
        "two",
        "nan",
        ".",
        "00x",
        "2!",
        "2~",
        "/",
        ":",
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
    assert list(states_of_checks("missing_prefix").items())[3:6] == [
        ("single_line", "passed"),
        ("prefix", "failed"),
        ("ascii", "not reached"),
    ]
    assert set(states_of_checks("ok").values()) == {"passed"}


def outcome_by_the_spec(answer: int, completion: str) -> str:
    """Row by row as the spec's table has them, the first that applies."""
    text = re.sub(r"\A[ \t\r\n]+|[ \t\r\n]+\Z", "", completion)
    if text == f"Final: {answer}":
        return "ok"
    rest = text[7:]
    seen = "".join(char for char in rest if 0x20 < ord(char) < 0x7F)
    rows = {
        "empty": text == "",
        "not_single_line": text.splitlines() != [text],
        "missing_prefix": text[:7] != "Final: ",
        "not_ascii": any(ord(char) > 0x7F for char in rest),
        "extra_whitespace": seen != rest and re.fullmatch("[+]?-?[0-9]+", seen),
        "plus_sign": re.fullmatch("[+]-?[0-9]+", rest),
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
@given(st.sampled_from([22, 0, -2]), st.text(st.characters()) | st.text(st.sampled_from("+-012 \t\x1fx²")))
def test_any_text_after_the_prefix_gets_the_outcome_of_the_spec(answer: int, rest: str) -> None:
    assert measure(answer, f"Final: {rest}").outcome == outcome_by_the_spec(answer, f"Final: {rest}")


def test_the_line_boundaries_are_those_of_splitlines() -> None:
    *ended, last = "2".join(ALL).splitlines(keepends=True)
    assert {line[-1] for line in ended} == set(LINE_BOUNDARIES)
    assert last[-1] == ALL[-1]


def test_code_points_in_every_place_of_the_line_get_the_outcome_of_the_spec() -> None:
    """All of ASCII and its neighbours, the ends of the planes, and some of the rest."""
    drawn = random.Random(3).sample(range(sys.maxunicode + 1), 500)
    for code in [*range(0x180), 0x2028, 0x2029, 0xD800, 0xDFFF, 0xFFFF, 0x10000, sys.maxunicode, *drawn]:
        for place in PLACES:
            text = place.format(chr(code))
            assert measure(22, text).outcome == outcome_by_the_spec(22, text), ascii(text)


@pytest.mark.parametrize("first", ["\x80", "é", "\u0662", "\ud800", "\U0001d7da"])
def test_the_first_character_beyond_ascii_is_found(first: str) -> None:
    assert first_beyond_ascii(f"Final: {first}²") == first
    assert first_beyond_ascii("Final: \x7f") == ""


class Raises(dict[str, object]):
    def __getitem__(self, key: str) -> object:
        raise RuntimeError(key)


RIGHT = {"prompt": "11 + 11?", "expected_answer": 22, "id": "a"}


@pytest.mark.parametrize(
    ("example", "got"),
    [
        ([], "list"),
        ({"expected_answer": 22}, "no prompt"),
        ({"prompt": ""}, "no expected_answer"),
        (RIGHT | {"prompt": 3}, "a prompt of type int"),
        (RIGHT | {"expected_answer": True}, "an expected_answer of type bool"),
        (RIGHT | {"expected_answer": 10**1000}, "an expected_answer of more than 1,000 digits"),
        (RIGHT | {"id": 3}, "an id of type int"),
        (Raises(RIGHT), "an example that raises RuntimeError"),
    ],
)
def test_what_is_wrong_with_an_example_is_named(example: object, got: str) -> None:
    assert read_example(example) == (0, got)
    assert read_example(RIGHT) == (22, None)


def test_no_table_of_the_running_python_is_asked() -> None:
    """Its tables differ from version to version, and with them one text would have two outcomes."""
    source = (ROOT / "course" / "faults.py").read_text(encoding="utf-8")
    code = re.sub("#.*", "", source.partition('"""')[2].partition('"""')[2])
    assert not re.findall(r"unicodedata|\.is(?!ascii\()[a-z]+\(|\\[dDwWsSbB]\b|\.r?split\(|IGNORECASE|strip\(\)", code)
