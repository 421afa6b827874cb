"""The words about frozen and fresh completions, against rows written by hand.

The worked example. Of 200 frozen completions 20 pass, 10.0 %, with Wilson's interval 6.6 to 14.9 %. After 40 updates
none of 50 fresh ones passes, 0.0 to 7.1 %: the frozen rate is wrong by +10.0 points.

An example: the frozen rate is a level line; the fresh rates rise from 0.25 to 0.5, and of the last 100 fresh
completions 40 are in a shape that no frozen one has.
"""

from typing import Any

import pytest
from reporting import evaluation, points_of_lines

from course.artifacts.learning_rows import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow
from course.experiments import shift
from course.experiments.shift import shift_curves, shift_heading, shift_row, unseen_table

FROZEN = {"n": 200, "pass_rate": 0.1, "pass_rate_ci95": [0.0661, 0.1490]}


def row(step: int, rate: float) -> EvaluationRow:
    return EvaluationRow("anywhere", 0.0, 0, step, 50, 0.9, rate, 0.9, 0.0, 3.0, 20.0)


def unseen(count: int, text: str = "7\n8") -> list[LearningResult]:
    return [learning_result({"id": "q", "prompt": "?", "expected_answer": 7}, text, 40, proxy_reward=1.0)] * count


def test_the_worked_example() -> None:
    rows = [shift_row(row(0, 0.12), FROZEN, 1), shift_row(row(40, 0.0), FROZEN, 49)]
    text = "\n".join([*shift_heading("anywhere", FROZEN), *rows, unseen_table(unseen(49), "anywhere")])
    assert max(map(len, text.split("\n"))) <= 80
    assert "200 completions frozen at step 0: 10.0 % pass (6.6 to 14.9 %)" in text
    lines = [" ".join(line.split()) for line in text.split("\n")]
    assert "0 12.0 % 5.6 to 23.8 % -2.0 2 %" in lines
    assert "40 0.0 % 0.0 to 7.1 % +10.0 98 %" in lines
    assert lines.count("7 1.0 7⏎8") == 3  # of 49 the first three


@pytest.mark.parametrize("rubric", ["score", "without_punctuation"])
def test_what_a_completion_holds_is_shown_and_never_obeyed(rubric: str) -> None:
    out = unseen_table([*unseen(1, "7\n8\x1b[31m\u202e[bold]"), *unseen(1, "1\n" * 400)], rubric)
    assert max(map(len, out.split("\n"))) <= 80
    assert out.count("\n") == 3  # a row a line
    assert "7⏎8<U+001B" in out
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert out.endswith(("1…", "⏎…"))


def test_the_figure_has_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    monkeypatch.setattr(shift, "png", made.append)
    frozen = {"pass_rate": 0.125, "pass_rate_ci95": [0.1, 0.2]}
    shift_curves([evaluation(0, 0.5, 0.25), evaluation(5, 0.9, 0.5)], frozen, [[], [None] * 40])
    rates, shares = made[0].axes
    assert points_of_lines(rates)["fresh"] == [(0, 0.25), (5, 0.5)]
    assert [y for _, y in points_of_lines(rates)["frozen before the first update"]] == [0.125, 0.125]
    assert [list(zip(*line.get_data(), strict=True)) for line in shares.get_lines()] == [[(0, 0.0), (5, 0.4)]]
