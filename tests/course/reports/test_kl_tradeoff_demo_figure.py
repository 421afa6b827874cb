"""The figure of reward against KL: every point of the rows is on it.

The worked example. The optimum for beta 0.5 with reward 0.75 and KL 1 is the dot at (1, 0.75), labelled 0.5.
"""

from typing import Any

import pytest

from course.artifacts.learning import TradeoffRow
from course.reports import kl_tradeoff_demo_figure
from course.reports.kl_tradeoff_demo_figure import kl_tradeoff_figure

pytestmark = pytest.mark.medium  # draws


def row(kl: float, reward: float, beta: float | None = None, n: int | None = None) -> TradeoffRow:
    return TradeoffRow(beta, n, reward, reward / 2, kl, None if n is None else kl + 0.25, [], [])


ROWS = [
    row(0.0, 0.25),
    row(1.0, 0.75, beta=0.5),
    row(1.0625, 0.8, beta=0.4),  # too near for a label
    row(0.0, 0.25, n=1),
    row(0.5, 0.5, n=4),
]
CURVE = [row(0.0, 0.25), row(0.0, 0.25, beta=9.0), row(2.0, 1.0, beta=0.1), row(0.5, 0.5, n=4)]


@pytest.mark.parametrize("rewards", ["verifier", "graded"])
def test_the_figure_has_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch, rewards: str) -> None:
    made: list[Any] = []
    monkeypatch.setattr(kl_tradeoff_demo_figure, "png", made.append)
    kl_tradeoff_figure(ROWS, CURVE, rewards)
    axes = made[0].axes[0]
    drawn = [(line.get_marker(), list(zip(*line.get_data(), strict=True))) for line in axes.get_lines()]
    assert drawn == [
        ("None", [(0.0, 0.25), (2.0, 1.0)]),
        *([("None", [(0.0, 0.125), (2.0, 0.5)])] if rewards == "graded" else []),
        ("o", [(1.0, 0.75), (1.0625, 0.8)]),
        ("D", [(0.0, 0.25), (0.5, 0.5)]),
    ]
    assert [text.get_text() for text in axes.texts] == ["N = 1", "N = 4", "0.5"]
    assert rewards in axes.get_ylabel()
