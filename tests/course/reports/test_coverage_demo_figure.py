"""Coverage as a figure.

An example: trained on 30 prompts the policy passes all of its own and none of the holdout, on 1,000 all of both.
"""

from typing import Any

import pytest
from reporting import points_of_lines

from course.artifacts.inference import CoveragePoint
from course.reports import coverage_demo_figure
from course.reports.coverage_demo_figure import coverage_curve

pytestmark = pytest.mark.medium  # draws


def test_the_figure_has_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(coverage_demo_figure, "png", made.append)
    few = CoveragePoint(30, 1.0, 0.0, (0.0, 0.01), [0.0, 0.02], 0.05, 0.1, 0.0)
    many = CoveragePoint(1_000, 1.0, 0.9, (0.86, 0.93), [0.88, 0.92], 0.05, 1.0, 30.0)
    coverage_curve([few, many])
    (axes,) = made[0].axes
    found = points_of_lines(axes)
    assert found["prompts that it was trained on"] == [(30, 1.0), (1_000, 1.0)]
    assert found["holdout, with 95 % interval"] == [(30, 0.0), (1_000, 0.9)]
    assert found["holdout, before learning"] == [(30, 0.05), (1_000, 0.05)]
