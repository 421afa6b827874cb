"""Several starts as a figure.

An example: after 50 updates half of the groups had equal rewards. The right panel's line begins there, for before the
first update there was no group.
"""

from typing import Any

import pytest
from msgspec.structs import replace
from reporting import evaluation, points_of_lines

from course.reports import cold_start_demo_figure
from course.reports.cold_start_demo_figure import cold_start_figure

pytestmark = pytest.mark.medium  # draws


def test_each_start_has_its_rates_and_its_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(cold_start_demo_figure, "png", made.append)
    log = [evaluation(0, 0.1, 0.1), replace(evaluation(50, 0.6, 0.6), equal_groups=0.5)]
    better = [evaluation(0, 0.3, 0.3), replace(evaluation(50, 0.8, 0.8), equal_groups=0.25)]
    cold_start_figure({0: [log], 800: [log, better]})
    left, right = map(points_of_lines, made[0].axes)
    assert left == {"0 steps": [(0, 0.1), (50, 0.6)], "800 steps": [(0, 0.2), (50, pytest.approx(0.7))]}
    assert right == {"0 steps": [(50, 0.5)], "800 steps": [(50, 0.375)]}
