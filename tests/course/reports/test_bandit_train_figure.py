"""The bandit's figures: what their axes hold, and equal bytes for equal numbers.

The worked example. Rewards 0, 1 and the expected rewards 0.5, 0.6: dots at (1, 0), (2, 1), a line through (1, 0.5),
(2, 0.6).
"""

from typing import Any

import pytest

from course.reports import bandit_train_figure
from course.reports.bandit_train_figure import ablation_panels, learning_curve

pytestmark = pytest.mark.medium  # draws

ABLATION = [
    {"offset": offset, "baseline": side, "below_half": 7, "mean": [0.5, 0.7], "low": [0.4, 0.5], "high": [0.6, 0.9]}
    for offset in (0.0, 1.0, 3.0)
    for side in (True, False)
]
VARIANCES = {"none": [0.5, 0.4], "running_mean": [0.5, 0.1], "best_constant": [0.2, 0.05]}


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


def test_the_panels_have_both_sides_of_two_offsets_and_three_variances(sheets: list[Any]) -> None:
    ablation_panels(ABLATION, VARIANCES, 1200)
    smallest, largest, by_step, _ = sheets[0].axes
    assert [axes.get_title() for axes in (smallest, largest)] == ["0 added to every reward", "3 added to every reward"]
    for curves in (smallest, largest):
        assert [line.get_label() for line in curves.get_lines()] == [
            "with baseline: 7 of 1,200 end below 0.5",
            "without baseline: 7 of 1,200 end below 0.5",
        ]
        assert [list(line.get_ydata()) for line in curves.get_lines()] == [[0.5, 0.7]] * 2
        band = curves.collections[0].get_datalim(curves.transData)
        assert (band.ymin, band.ymax) == (0.4, 0.9)
    assert [list(line.get_ydata()) for line in by_step.get_lines()] == list(VARIANCES.values())


def test_the_crossing_is_at_two_thirds_for_two_arms_and_where_the_bandit_has_it(sheets: list[Any]) -> None:
    """Two arms: (1 − 2p)² / (1 − p)². The bandit with one right arm gone: b* = J / 2 at p = 5/9. With both: nowhere."""
    ablation_panels(ABLATION, VARIANCES, 1200)
    two_arms, one_gone, both, one = sheets[0].axes[3].get_lines()
    p = two_arms.get_xdata()
    assert two_arms.get_ydata() == pytest.approx(((1 - 2 * p) / (1 - p)) ** 2, rel=1e-9, abs=1e-12)
    for line, crossing in ((two_arms, 2 / 3), (one_gone, 5 / 9), (both, 1)):
        assert ((line.get_ydata() > 1) == (p > crossing)).all()
    assert list(one.get_ydata()) == [1, 1]
    assert [line.get_label() for line in (two_arms, one_gone, both)] == [
        "two arms, one right: from 0.67 on",
        "this bandit, one right arm gone: from 0.56 on",
        "this bandit, both right arms: nowhere",
    ]


def test_equal_numbers_give_equal_bytes() -> None:
    assert learning_curve([0.0, 1.0], [0.5, 0.6]) == learning_curve([0.0, 1.0], [0.5, 0.6])
