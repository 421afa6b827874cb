"""Frozen completions beside fresh ones, as a figure.

An example: the frozen rate is a level line; the fresh rates rise from 0.25 to 0.5, and of the last 100 fresh
completions 40 are in a shape that no frozen one has.
"""

from typing import Any

import pytest
from reporting import evaluation, points_of_lines

from course.reports import distribution_shift_demo_figure
from course.reports.distribution_shift_demo_figure import shift_curves

pytestmark = pytest.mark.medium  # draws


def test_the_figure_has_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(distribution_shift_demo_figure, "png", made.append)
    frozen = {"pass_rate": 0.125, "pass_rate_ci95": [0.1, 0.2]}
    shift_curves([evaluation(0, 0.5, 0.25), evaluation(5, 0.9, 0.5)], frozen, [[], [None] * 40])
    rates, shares = made[0].axes
    assert points_of_lines(rates)["fresh"] == [(0, 0.25), (5, 0.5)]
    assert [y for _, y in points_of_lines(rates)["frozen before the first update"]] == [0.125, 0.125]
    assert [list(zip(*line.get_data(), strict=True)) for line in shares.get_lines()] == [[(0, 0.0), (5, 0.4)]]
