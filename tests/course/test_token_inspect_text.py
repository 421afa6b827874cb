"""What token_inspect prints, against lines written by hand.

The worked example. A text of the tokens Final, : and a line feed is two lines: 'Final' ':' '<U+000A LINE FEED>', and
under it the three ids.
"""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reporting import columns

from course.artifacts.learning_rows import TokenizedRow, learning_result
from course.token_inspect import quote_bytes, token_inspect_text, tokens_text

EXAMPLE = {"id": "text", "prompt": "17 * 19", "expected_answer": 323}


def row(tokens: list[bytes]) -> TokenizedRow:
    """A text of these tokens. Equal tokens have equal ids."""
    ids = [int.from_bytes(hashlib.sha256(token).digest()[:2], "big") for token in tokens]
    texts = [token.decode("utf-8", "backslashreplace") for token in tokens]
    return TokenizedRow("text", "o200k_base", ids, texts, [token.hex() for token in tokens])


def test_tokens_stand_in_quotes_with_their_ids_below() -> None:
    tokens = row([b"Final", b":", b"\n"])
    ids = " ".join(map(str, tokens.token_ids))
    assert tokens_text(tokens) == f"'Final' ':' '<U+000A LINE FEED>'\n{ids}"
    assert tokens_text(row([])) == "\n"


def test_forty_tokens_are_shown_and_the_forty_first_is_counted() -> None:
    forty = tokens_text(row([b"a"] * 40))
    one_more = tokens_text(row([b"a"] * 41))
    assert "more" not in forty
    assert one_more.endswith(" and 1 more")
    assert one_more.count("'a'") == 40


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
    assert quote_bytes(token) == shown
