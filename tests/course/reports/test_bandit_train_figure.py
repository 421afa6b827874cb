"""The bandit's figures: what their axes hold, and equal bytes for equal numbers.

The worked example. Rewards 0, 1 and the expected rewards 0.5, 0.6: dots at (1, 0), (2, 1), a line through (1, 0.5),
(2, 0.6).
"""

from typing import Any

import pytest

from course.reports import bandit_train_figure
from course.reports.bandit_train_figure import ablation_bands, learning_curve

pytestmark = pytest.mark.medium  # draws

ABLATION = {
    name: {"gradient_variance": [0.5, low], "mean": [0.5, 0.7], "low": [0.4, 0.5], "high": [0.6, 0.9]}
    for name, low in (("with baseline", 0.1), ("without baseline", 0.4))
}


@pytest.fixture
def sheets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are made, before they become bytes."""
    made: list[Any] = []
    monkeypatch.setattr(bandit_train_figure, "png", made.append)
    return made


def test_the_curve_has_the_rewards_and_the_expected_rewards(sheets: list[Any]) -> None:
    learning_curve([0.0, 1.0], [0.5, 0.6])
    dots, line = sheets[0].axes[0].get_lines()
    assert (list(dots.get_xdata()), list(dots.get_ydata())) == ([1, 2], [0.0, 1.0])
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2], [0.5, 0.6])


def test_the_bands_have_both_sides_and_both_variances(sheets: list[Any]) -> None:
    ablation_bands(ABLATION)
    curves, variances = sheets[0].axes
    assert [line.get_label() for line in curves.get_lines()] == ["with baseline", "without baseline"]
    assert [list(line.get_ydata()) for line in curves.get_lines()] == [[0.5, 0.7]] * 2
    assert [list(line.get_ydata()) for line in variances.get_lines()] == [[0.5, 0.1], [0.5, 0.4]]
    band = curves.collections[0].get_datalim(curves.transData)
    assert (band.ymin, band.ymax) == (0.4, 0.9)


def test_equal_numbers_give_equal_bytes() -> None:
    assert learning_curve([0.0, 1.0], [0.5, 0.6]) == learning_curve([0.0, 1.0], [0.5, 0.6])
