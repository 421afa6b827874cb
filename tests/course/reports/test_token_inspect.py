"""What token_inspect prints, against lines written by hand.

The worked example. Text 1 has the tokens a, b, c. Text 2, a b, misses the third: 'a' 'b' «». Text 3, a x c, has another
second: 'a' «'x'» 'c'. Text 4, x a b c, has one before the first: «'x'» 'a' 'b' 'c'.
"""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reporting import columns

from course.artifacts.learning import TokenizedRow, learning_result
from course.reports.token_inspect import difference, quote, token_inspect_text, tokens_text

EXAMPLE = {"id": "text", "prompt": "17 * 19", "expected_answer": 323}


def row(tokens: list[bytes]) -> TokenizedRow:
    """A text of these tokens. Equal tokens have equal ids."""
    ids = [int.from_bytes(hashlib.sha256(token).digest()[:2], "big") for token in tokens]
    return TokenizedRow("text", "o200k_base", ids, [token.hex() for token in tokens])


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        ("abc", "'a' 'b' 'c'"),
        ("ab", "'a' 'b' «»"),
        ("bc", "«» 'b' 'c'"),
        ("axc", "'a' «'x'» 'c'"),
        ("xabc", "«'x'» 'a' 'b' 'c'"),
        ("abcx", "'a' 'b' 'c' «'x'»"),
        ("xy", "«'x'» «'y'»"),
        ("", "«»"),
    ],
)
def test_what_differs_from_the_first_text_is_marked(tokens: str, shown: str) -> None:
    first = row([b"a", b"b", b"c"])
    other = row([token.encode() for token in tokens])
    assert tokens_text(other, first) == f"{shown}\n{' '.join(map(str, other.token_ids))}"


def test_forty_tokens_are_shown_and_the_forty_first_is_counted() -> None:
    forty, one_more = row([b"a"] * 40), row([b"a"] * 41)
    assert "more" not in tokens_text(forty, forty)
    assert tokens_text(one_more, one_more).endswith(" and 1 more")
    assert tokens_text(one_more, one_more).count("'a'") == 40


BITS = [
    b"Final:",
    b" ",
    b"323",
    b"\n",
    b"\x1b",
    b"\xe2\x80",
    b"\xff",
    "漢".encode(),
    "😀".encode(),
    "é".encode(),
    b"x" * 35,
]
TOKEN = st.lists(st.sampled_from(BITS), min_size=1, max_size=4).map(b"".join)


@given(texts=st.lists(st.lists(TOKEN, max_size=50), min_size=1, max_size=3))
def test_every_line_fits_a_terminal_whatever_the_bytes(texts: list[list[bytes]]) -> None:
    results = [learning_result(EXAMPLE, b"".join(tokens).decode("utf-8", "replace"), 0) for tokens in texts]
    out = token_inspect_text(results, [row(tokens) for tokens in texts])
    assert max(map(columns, out.split("\n"))) <= 80
    assert {char for char in out if not char.isprintable()} <= {"\n"}


@pytest.mark.parametrize(
    ("token", "shown"),
    [
        (b"Final", "'Final'"),
        (b"", "''"),
        (b" \n", "' <U+000A LINE FEED>'"),
        ("漢é−".encode(), "'漢é−'"),
        (b"\xe2\x80", r"'\xe2\x80'"),
        (b"\xe2\x80a\xff", r"'\xe2\x80a\xff'"),
        (b"\xed\xa0\x80", r"'\xed\xa0\x80'"),  # a surrogate written as if it were a character
        (b"\x1b[0m", "'<U+001B ESCAPE>[0m'"),
        (b"x" * 44, "'" + "x" * 44 + "'"),
        (b"x" * 45, "'" + "x" * 44 + "…"),
    ],
)
def test_a_token_is_shown_as_text_and_parts_of_characters_as_bytes(token: bytes, shown: str) -> None:
    assert quote(token) == shown


@pytest.mark.parametrize(
    ("first", "other", "expected"),
    [
        ("abc", "abc", (3, 3, 3)),
        ("", "", (0, 0, 0)),
        ("abc", "abxc", (2, 2, 3)),
        ("abc", "ac", (1, 2, 1)),
        ("abc", "axyc", (1, 2, 3)),
        ("aaa", "aa", (2, 3, 2)),
        ("aa", "aaaa", (2, 2, 4)),
        ("abcde", "axcye", (1, 4, 4)),  # the c in between agrees, the stretch goes over it
        ("", "ab", (0, 0, 2)),
        ("ab", "", (0, 2, 0)),
        ("ab", "cd", (0, 2, 2)),
    ],
)
def test_a_difference_is_one_stretch_in_both(first: str, other: str, expected: tuple[int, int, int]) -> None:
    assert difference([ord(char) for char in first], [ord(char) for char in other]) == expected


SHORT = st.lists(st.integers(0, 2), max_size=8)


@given(first=SHORT, other=SHORT)
def test_a_difference_put_back_gives_the_other_string(first: list[int], other: list[int]) -> None:
    start, first_stop, stop = difference(first, other)
    assert first[:start] + other[start:stop] + first[first_stop:] == other
    assert start <= first_stop
    if start < min(first_stop, stop):  # nothing more could be left out at either end
        assert first[start] != other[start]
        assert first[first_stop - 1] != other[stop - 1]
