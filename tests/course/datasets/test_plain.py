"""When two texts name the same thing: a table of what becomes the same, and one of what must stay different.

An example: ``WHAT IS 17 * 19`` and ``"What is 17 * 19?"`` are one prompt, so a policy that was trained on one of them
was trained on the other; ``What is 1.7 * 19?`` is a different one.
"""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.datasets.plain import plain_name, plain_prompt

SAME_NAMES = [
    ("m", "m "),
    ("m", "M"),
    ("m", "\u200bm"),  # zero width space
    ("m", "m\ufeff"),
    ("m", "m\u2065"),  # a code point without a character
    ("m one", "m\u00a0one"),
    ("m one", " m \t\r\n one\u3000"),
    ("model", "mo\u00addel"),  # soft hyphen
    ("model-7", "ｍｏｄｅｌ-７"),
    ("straße", "STRASSE"),
    ("\u00e9", "e\u0301"),
    ("\u00e9", "E\u200d\u0301"),
    ("ﬁne", "fine"),
    ("m", "m\u2800"),  # braille without a dot: a sign that shows nothing
    ("\uac00", "\u1100\u1161"),  # two letters of Hangul that make one
    ("≠", "=\u0338"),
]
DIFFERENT_NAMES = [
    ("m", "n"),
    ("m", "m2"),
    ("m1", "m 1"),
    ("m", "m."),  # only of a prompt the final signs go
    ("m", '"m"'),
    ("model-7b", "model_7b"),
    ("model-7b", "model\u20107b"),  # hyphen
    ("model-7b", "model\u20137b"),  # en dash
    ("ann's", "ann\u2019s"),
    ("model 1.5", "model 15"),
    ("model²", "model2"),
    ("o", "\u043e"),  # Cyrillic: nothing that is derived can tell
]
SAME_PROMPTS = [
    *SAME_NAMES,
    ("What is 3 + 4?", "what is 3 + 4"),
    ("What is 3 + 4?", "What is 3 + 4 ?!"),
    ("What is 3 + 4?", "What is 3 + 4？"),  # full width
    ("What is 3 + 4?", '"What is 3 + 4?"'),
    ("What is 3 + 4?", "“What is 3 + 4”."),
    ("What is 3 + 4?", "«'What is 3 + 4?'»"),
    ("What is 3 + 4?", "What is 3 + 4…"),
    ("Compute 3!", "Compute 3"),  # though the sign changes the value
    ("Compute 3 + 4:", "compute\u200b 3\u00a0+\u20094"),
    ("2²", "2^2"),
    ("(①+2)", "(1+2)"),
    ("②②", "22"),
    ("What is 3 + 4?", "What\u2062 is 3 + 4?"),
]
DIFFERENT_PROMPTS = [
    ("(2+3)*4", "2+3*4"),
    ("1.5", "15"),
    ("1,5", "15"),
    ("max(1, 23)", "max(12, 3)"),
    ("1 23", "12 3"),
    ("3 - 4", "3 + 4"),
    ("-3", "3"),
    ("+3", "3"),
    ("3 * 4", "3 ** 4"),
    ("3 < 4", "3 > 4"),
    ("50 %", "50"),
    ("$5", "5"),
    ("2³", "23"),
    ("x₁", "x1"),
    ("1½", "11/2"),
    ("10⁻³", "10-3"),
    ("2²3", "2^23"),
    ("½2", "1⁄22"),
    ("2①", "21"),
    ("①2", "12"),
    ("1⒈", "11."),
    ("2\u20623", "23"),  # an invisible sign of multiplication
    ("2\u20643", "23"),  # and of addition
    ("2\u20623", "2\u20643"),
    ("'a' + 'b'", "a' + 'b"),
    ("What is 3 + 4?", "What is 4 + 3?"),
    ("?", "!"),
    ("?", "."),
    ("", "."),
]


@pytest.mark.parametrize(("one", "other"), SAME_NAMES)
def test_these_name_one_policy(one: str, other: str) -> None:
    assert plain_name(one) == plain_name(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT_NAMES)
def test_these_name_two_policies(one: str, other: str) -> None:
    assert plain_name(one) != plain_name(other)


@pytest.mark.parametrize(("one", "other"), SAME_PROMPTS)
def test_these_are_one_prompt(one: str, other: str) -> None:
    assert plain_prompt(one) == plain_prompt(other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT_PROMPTS)
def test_these_are_two_prompts(one: str, other: str) -> None:
    assert plain_prompt(one) != plain_prompt(other)


@given(st.text())
def test_a_plain_text_is_its_own_plain_form(text: str) -> None:
    assert plain_name(plain_name(text)) == plain_name(text)
    assert plain_prompt(plain_prompt(text)) == plain_prompt(text)


@given(st.text(alphabet=st.characters(max_codepoint=126), max_size=20))
def test_the_short_way_of_plain_ascii_is_the_long_one(text: str) -> None:
    """A character beyond ASCII, which goes again, sends the same text the long way."""
    assert plain_name(text) == plain_name(f"{text}\u200b")


@pytest.mark.parametrize("category", ["P", "S"])
def test_the_short_way_of_each_sign_is_the_long_one(category: str) -> None:
    """All signs of this Python's Unicode, alone and between digits, letters and signs."""
    signs = [char for char in map(chr, range(sys.maxunicode + 1)) if unicodedata.category(char)[0] == category]
    texts = [text for char in signs for text in (char, f"2{char}3", f"a{char}B", f"={char}\u2013")]
    assert [text for text in texts if plain_name(text) != plain_name(f"{text}\u200b")] == []


@given(st.integers(), st.integers())
def test_prompts_with_different_numbers_stay_different(one: int, other: int) -> None:
    assert (plain_prompt(f"What is {one}?") == plain_prompt(f"WHAT IS {other}")) == (one == other)
