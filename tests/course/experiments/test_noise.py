"""The table and the figure of verifiers that err, against numbers written by hand.

The worked example. A rubric pays 30 of 100 completions, 20 of them right: of the 80 wrong ones it pays 10, which is
12.5 %. A verifier with random errors pays wrong ones at its rate, however many there are.
"""

from typing import Any

import pytest
from reporting import canned, evaluation, points_of_lines

from course.experiments import noise
from course.experiments.noise import BASE, CONFIGS, false_positive_share, name_of, noise_figure, noise_text, report

CLEAN = BASE._replace(steps=60)
NOISY = CLEAN._replace(false_positives=0.3, false_negatives=0.2)
HOLE = CLEAN._replace(rubric="anywhere")
START = evaluation(0, 0.2, 0.2)


def test_the_share_of_wrong_completions_that_are_paid() -> None:
    assert false_positive_share([evaluation(0, 0.3, 0.2)], CLEAN) == pytest.approx(0.125)
    assert false_positive_share([START], NOISY) == 0.3
    assert false_positive_share([evaluation(0, 0.3, 0.2)], NOISY) == pytest.approx(0.125 + 0.875 * 0.3)
    assert false_positive_share([evaluation(9, 1.0, 1.0)], CLEAN) == 0.0


TRAININGS = {
    CLEAN: [[START, evaluation(9, 0.9, 0.9)]] * 2,
    NOISY: [[START, evaluation(9, 0.8, 0.8)], [START, evaluation(9, 0.6, 0.6)]],
    HOLE: [[evaluation(0, 0.3, 0.2), evaluation(9, 1.0, 0.0)]] * 2,
}


def test_a_row_for_each_verifier() -> None:
    lines = "\n".join(noise_text(canned(TRAININGS))).split("\n")
    assert max(map(len, lines)) <= 80
    assert "one start a seed, 60 updates each, seeds: 2" in lines
    strict, coin, hole = (line.split() for line in lines[-3:])
    assert strict[:7] == ["strict", "0", "%", "0", "%", "0", "%"]
    assert coin == ["coin", "30", "%", "30", "%", "20", "%", "70.0", "%", "60.4", "to", "78.1"]
    assert hole == ["anywhere", "12", "%", "100", "%", "0", "%", "0.0", "%", "0.0", "to", "3.7"]


def test_no_two_verifiers_share_a_name() -> None:
    assert len({name_of(config) for config in CONFIGS}) == len(CONFIGS) == 8


def test_each_verifier_is_a_line_and_the_ending_says_where_all_started(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(noise, "png", made.append)
    assert report(canned(TRAININGS)).ending == "\ntrue reward before learning: 20.0 %"
    noise_figure(TRAININGS)
    assert points_of_lines(made[-1].axes[0]) == {
        "false + 0, false - 0": [(0, 0.2), (9, 0.9)],
        "false + 0.3, false - 0.2": [(0, 0.2), (9, pytest.approx(0.7))],
        "anywhere: one hole": [(0, 0.2), (9, 0.0)],
    }
