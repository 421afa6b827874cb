"""Proxy and true reward as figures.

An example: on one rubric the proxy rises to 1 while the true reward falls to 0. Both are lines of its panel, and a
dotted line stands where they diverge: at the step of the highest true reward.
"""

from typing import Any

import pytest
from reporting import evaluation, points_of_lines

from course.reports import goodhart_demo_figure
from course.reports.goodhart_demo_figure import kl_coef_figure, rubrics_figure

pytestmark = pytest.mark.medium  # draws


TRAINING = [evaluation(0, 0.3, 0.2), evaluation(10, 0.6, 0.5, kl=1.0), evaluation(20, 1.0, 0.0, kl=4.0)]


def test_a_panel_has_both_rewards_and_the_step_where_they_diverge(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(goodhart_demo_figure, "png", made.append)
    rubrics_figure({"anywhere": [TRAINING]}, "step")
    found = points_of_lines(made[0].axes[0])
    assert found["proxy: the rubric's reward"] == [(0, 0.3), (10, 0.6), (20, 1.0)]
    assert found["true: the strict scorer's"] == [(0, 0.2), (10, 0.5), (20, 0.0)]
    assert [x for x, _ in found["reward hacking begins"]] == [10, 10]


def test_each_beta_has_its_ends_and_its_kl(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(goodhart_demo_figure, "png", made.append)
    kl_coef_figure({0.0: [TRAINING], 0.1: [TRAINING[:2]]}, "anywhere")
    (axes,) = made[0].axes
    assert points_of_lines(axes)["true: the strict scorer's"] == [(0, 0.0), (1, 0.5)]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0\n4", "0.1\n1"]
