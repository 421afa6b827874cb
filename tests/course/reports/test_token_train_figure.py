"""The learning curves: every evaluation is on them.

An example: a policy is rewarded 0.5, then 1.0 by its rubric, and 0.25, then 0 by the strict scorer. Both lines show it,
and the holdout's, which are dashed, show half of each.
"""

from typing import Any

import pytest
from reporting import evaluation, points_of_lines

from course.reports import token_train_figure
from course.reports.token_train_figure import learning_curves

pytestmark = pytest.mark.medium  # draws


def test_the_curves_have_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(token_train_figure, "png", made.append)
    learning_curves([evaluation(0, 0.5, 0.25), evaluation(10, 1.0, 0.0, kl=3.0)], "anywhere")
    rewards, kl = made[0].axes
    found = points_of_lines(rewards)
    assert found["anywhere, trained on"] == [(0, 0.5), (10, 1.0)]
    assert found["strict scorer"] == [(0, 0.25), (10, 0.0)]
    assert found["strict scorer, holdout"] == [(0, 0.125), (10, 0.0)]
    assert points_of_lines(kl)["KL from the reference, nats"] == [(0, 0.0), (10, 3.0)]


def test_the_strict_scorer_alone_has_one_pair_of_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(token_train_figure, "png", made.append)
    learning_curves([evaluation(0, 0.5, 0.5), evaluation(10, 1.0, 1.0)], "score")
    assert list(points_of_lines(made[0].axes[0])) == ["strict scorer", "strict scorer, holdout"]
