"""The curve from memorised to learned, against numbers and prompts written by hand.

The worked example. Of the training prompts 25 + 73, 21 + 73 and 15 + 23, the unseen prompt 25 + 73 has its pair (2, 7)
in two and its pair (5, 3) in two, so it was seen 2 times; 75 + 23 has its pair (7, 2) in none: it was seen 0 times.
In 400 updates of 64 prompts each of 1,000 prompts is visited 25.6 times, and each of 30 in every update: 400 times.
"""

import re
from typing import Any

import pytest
from msgspec.structs import replace
from reporting import canned, evaluation, points_of_lines

from course.artifacts.token_rows import EvaluationRow
from course.errors import UserError
from course.experiments import coverage
from course.experiments.coverage import (
    BASE,
    CoveragePoint,
    coverage_ending,
    coverage_figure,
    coverage_point,
    coverage_text,
    digit_pairs,
    point_of,
    times_seen,
)
from course.experiments.driver import Training


def sums(*prompts: str) -> list[Any]:
    return [{"id": prompt, "prompt": prompt, "expected_answer": 0} for prompt in prompts]


def test_the_worked_example() -> None:
    assert digit_pairs("Compute 25 + 73. Final: <int>") == [(0, "2", "7"), (1, "5", "3")]
    assert digit_pairs("3 + 4") == [(0, "3", "4")]
    unseen = sums("25 + 73", "11 + 23", "21 + 73", "75 + 23", "52 + 37")
    assert times_seen(sums("25 + 73", "21 + 73", "15 + 23"), unseen) == (2, 1, 1, 0, 0)
    assert times_seen([], unseen[:1]) == (0,)


@pytest.mark.parametrize("prompt", ["Compute 17 * 19.", "5 + 23", "", "٣ + ٤"])
def test_a_prompt_that_is_no_such_sum_is_refused(prompt: str) -> None:
    with pytest.raises(UserError, match=f"expected sums of two numbers .* got '{re.escape(prompt)}'; "):
        digit_pairs(prompt)


def row(step: int, train: float, holdout: float, n: int = 5) -> EvaluationRow:
    return replace(evaluation(step, 0, train), holdout_true_reward=holdout, n=n)


def test_a_point_is_the_median_of_its_seeds_and_of_two_the_lower_one() -> None:
    one = [row(0, 0.1, 1 / 40), row(9, 0.9, 9 / 40)]
    other = [row(0, 0.3, 3 / 40), row(9, 1.0, 6 / 40)]
    point = coverage_point([one, other], [0] * 10 + [3] * 30)
    assert (point.prompts, point.train) == (5, 0.9)
    assert (point.holdout_before, point.holdout) == (1 / 40, 6 / 40)
    assert point.holdout_ci95 == pytest.approx((0.0706, 0.2907), abs=5e-5)  # 6 of 40, Wilson
    assert (point.pairs_seen, point.times_seen) == (0.75, 3)
    assert point.holdout_each == [9 / 40, 6 / 40]


def experiment(steps: int) -> Any:
    """Trained on 30 prompts, of which the holdout's 100 prompts share 24, and on 1,000, which show all of them."""
    holdout = sums(*(["11 + 11"] * 24 + ["22 + 22"] * 76))
    trainings, given = {}, {}
    for prompts, train, rate, shown in ((30, 1.0, 0.04, ["11 + 11"]), (1000, 0.97, 0.96, ["11 + 11", "22 + 22"])):
        config = BASE._replace(steps=steps, prompts=prompts)
        trainings[config] = [Training(str(prompts), config, 0, sums(*shown), holdout)]
        given[config] = [[row(0, 0, 0, prompts), row(steps, train, rate, prompts)]] * 2
    return canned(given, trainings)


def test_a_row_for_each_number_of_prompts_and_what_its_columns_mean() -> None:
    lines = "\n".join(coverage_text(experiment(600))).split("\n")
    assert max(map(len, lines)) <= 80
    assert "rewarded by the strict scorer, 600 updates each, seeds: 1" in lines
    assert [line.split() for line in lines[-2:]] == [
        ["30", "100.0", "%", "600", "24", "%", "0"],
        ["1000", "97.0", "%", "38", "100", "%", "1"],
    ]
    later = "\n".join(coverage_text(experiment(400))).split("\n")
    assert [line.split()[-4] for line in later[-2:]] == ["400", "26"]
    assert "96.0" not in "\n".join(later)  # what the holdout says stands at the end


def test_what_the_holdout_says_stands_at_the_end() -> None:
    trained = experiment(400)
    ending = coverage_ending([point_of(trained, config) for config in trained.configs])
    few, many = ending.split("\n")[3:5]
    assert few.split() == ["30", "100.0", "%", "4.0", "%", "1.6", "to", "9.8", "%"]
    assert many.split()[:5] == ["1000", "97.0", "%", "96.0", "%"]


def test_the_figure_has_the_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trained on 30 prompts the policy passes all of its own and none of the holdout, on 1,000 all of both."""
    made: list[Any] = []
    monkeypatch.setattr(coverage, "png", made.append)
    few = CoveragePoint(30, 1.0, 0.0, (0.0, 0.01), [0.0, 0.02], 0.05, 0.1, 0.0)
    many = CoveragePoint(1_000, 1.0, 0.9, (0.86, 0.93), [0.88, 0.92], 0.05, 1.0, 30.0)
    coverage_figure([few, many])
    (axes,) = made[0].axes
    points = points_of_lines(axes)
    assert points["prompts that it was trained on"] == [(30, 1.0), (1_000, 1.0)]
    assert points["holdout, with 95 % interval"] == [(30, 0.0), (1_000, 0.9)]
    assert points["holdout, before learning"] == [(30, 0.05), (1_000, 0.05)]
    assert [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()] == [[0.0, 0.01], [0.86, 0.93]]
