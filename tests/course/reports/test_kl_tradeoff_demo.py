"""The words about the leash, and cells that no spreadsheet runs, against strings written by hand."""

import csv
from io import StringIO
from typing import Any

import pytest

from course.reports.kl_tradeoff_demo import Point, csv_text, defused, reading_text


@pytest.mark.parametrize(
    "text", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", "\r=1", "-", "+1e", "-1_0", "=1", "-٣", "+1\n"]
)
def test_what_a_spreadsheet_would_run_is_defused(text: str) -> None:
    assert defused(text) == "'" + text


@pytest.mark.parametrize("cell", ["", "x=1", "Final: 323", " =1", "-1", "+1.5", "-2e-05", "1e300", -1, -0.5, 0.0, None])
def test_other_cells_and_numbers_stay_as_they_are(cell: object) -> None:
    assert defused(cell) is cell


@pytest.mark.parametrize(
    ("completion", "cell"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ('a,"b";c', 'a,"b";c'),
        ("a\r\n=1", "a<U+000D CARRIAGE RETURN><U+000A LINE FEED>=1"),
        ("\t=1", "<U+0009 TAB>=1"),
    ],
    ids=range(4),
)
def test_a_completion_stays_in_its_cell(completion: str, cell: str) -> None:
    point = Point("closed_form", -0.5, None, 0.0, 0.0, 0.0, None, [(1, 0.9), (0, 0.1), (2, 0.0)], [0.1, 0.9, 0.0])
    (row,) = csv.DictReader(StringIO(csv_text([point], ["", completion, ""]), newline=""))
    assert row["top1_completion"] == cell
    assert (row["beta"], row["p2"]) == ("-0.5", "0.0")


def test_the_difference_that_is_told_is_the_one_given() -> None:
    def point(kind: Any, beta: float | None, n: int | None, bound: float | None) -> Point:
        return Point(kind, beta, n, 0.25, 0.25, 0.125, bound, [(0, 0.5)], [0.5, 0.5])

    points = [
        point("closed_form", 2.0, None, None),
        point("closed_form", 1.0, None, None),
        point("best_of_n", None, 8, 1.5),
    ]
    words = " ".join(reading_text(points, 0.003).split())
    assert "differs by more than 3e-03" in words
    assert "from beta 2 to 1 the mean reward goes from 0.250 to 0.250 and the KL from 0.125 to 0.125" in words
    assert "0.125 nats at N = 8, where the bound says at most 1.500" in words
