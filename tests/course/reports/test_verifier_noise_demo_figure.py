"""Noise and a hole as a figure.

An example: what was trained on corrected rewards is in the right panel only, what has no random errors in both.
"""

from typing import Any

import pytest
from reporting import evaluation, points_of_lines

from course.policies.presets import Plan
from course.reports import verifier_noise_demo_figure
from course.reports.verifier_noise_demo_figure import verifier_noise_figure

pytestmark = pytest.mark.medium  # draws

NOISY = Plan(false_positives=0.3, false_negatives=0.2)


def test_each_verifier_is_a_line_of_its_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(verifier_noise_demo_figure, "png", made.append)
    start = evaluation(0, 0.2, 0.2)
    verifier_noise_figure({
        ("score", Plan()): [[start, evaluation(9, 0.9, 0.9)]],
        ("score", NOISY): [[start, evaluation(9, 0.5, 0.5)], [start, evaluation(9, 0.7, 0.7)]],
        ("score", NOISY._replace(corrected=True)): [[start, evaluation(9, 0.8, 0.8)]],
        ("anywhere", Plan()): [[start, evaluation(9, 1.0, 0.0)]],
    })  # fmt: skip
    paid, corrected = map(points_of_lines, made[0].axes)
    both = {"false + 0, false - 0": [(0, 0.2), (9, 0.9)], "anywhere: one hole": [(0, 0.2), (9, 0.0)]}
    assert paid == both | {"false + 0.3, false - 0.2": [(0, 0.2), (9, pytest.approx(0.6))]}
    assert corrected == both | {"false + 0.3, false - 0.2": [(0, 0.2), (9, 0.8)]}
