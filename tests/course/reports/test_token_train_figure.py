"""The learning curves: every evaluation is on them.

An example: a policy is rewarded 0.5, then 1.0 by its rubric, and 0.25, then 0 by the strict scorer. Both lines show it,
and the holdout's, which are dashed, show half of each.
"""

from typing import Any

import pytest

from course.artifacts.token_rows import EvaluationRow
from course.reports import token_train_figure
from course.reports.token_train_figure import learning_curves

pytestmark = pytest.mark.medium  # draws


def row(step: int, proxy: float, true: float, kl: float = 0.0) -> EvaluationRow:
    """An evaluation of 100 completions, and of 10 on the holdout, where both rewards are half."""
    rewards = (100, proxy, true, proxy - true, 10, proxy / 2, true / 2, 0.0)
    return EvaluationRow("anywhere", 0.0, 0, step, *rewards, kl, 8.0)


def lines_of_figure(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """Label -> the points of each labelled line."""
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}


def test_the_curves_have_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(token_train_figure, "png", made.append)
    learning_curves([row(0, 0.5, 0.25), row(10, 1.0, 0.0, kl=3.0)], "anywhere")
    rewards, kl = made[0].axes
    found = lines_of_figure(rewards)
    assert found["anywhere, trained on"] == [(0, 0.5), (10, 1.0)]
    assert found["strict scorer"] == [(0, 0.25), (10, 0.0)]
    assert found["strict scorer, holdout"] == [(0, 0.125), (10, 0.0)]
    assert lines_of_figure(kl)["KL from the reference, nats"] == [(0, 0.0), (10, 3.0)]


def test_the_strict_scorer_alone_has_one_pair_of_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(token_train_figure, "png", made.append)
    learning_curves([row(0, 0.5, 0.5), row(10, 1.0, 1.0)], "score")
    assert list(lines_of_figure(made[0].axes[0])) == ["strict scorer", "strict scorer, holdout"]
