"""How much of a run a page shows: which rows, how much of a text, and how a value is written.

An example: of the rows 0 to 9 four are 0, 3, 6 and 9.
"""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course.pages.excerpts import TEXT, cut_text, subsample, value_text


def test_some_rows_are_evenly_spaced() -> None:
    assert subsample(range(10), 4) == [0, 3, 6, 9]


@given(n=st.integers(0, 300), most=st.integers(2, 50))
def test_the_first_and_the_last_are_kept_and_no_gap_is_twice_another(n: int, most: int) -> None:
    kept = subsample(range(n), most)
    assert len(kept) == min(n, most)
    assert kept[:1] + kept[-1:] == ([0, n - 1] if n else [])
    gaps = [after - before for before, after in pairwise(kept)]
    assert max(gaps, default=0) - min(gaps, default=0) <= 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.266666666, "0.2667"),
        ([0.5, 1e-9], "0.5, 1e-09"),
        ("group", "group"),
        (None, "null"),
        (3, "3"),
    ],
)
def test_a_value_is_short(value: object, text: str) -> None:
    assert value_text(value) == text


def test_a_text_is_its_beginning_and_its_length() -> None:
    assert cut_text("x" * 5_000) == {"text": "x" * TEXT, "more": 5_000 - TEXT}
    assert cut_text("x" * TEXT) == "x" * TEXT
    assert cut_text("xyz", 2) == {"text": "xy", "more": 1}
    assert cut_text(None) is None
