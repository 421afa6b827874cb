"""The table and the figure of starts, against numbers written by hand.

The worked example. Two seeds of 100 completions each start at 10 and 30 right ones: the median is 20.0 %, and Wilson's
interval of 20 among 100 is 13.3 to 28.9 %.
"""

from typing import Any

import pytest
from msgspec.structs import replace
from reporting import canned, evaluation, points_of_lines

from course.experiments import cold_start
from course.experiments.cold_start import BASE, cold_start_figure, cold_start_text

BETTER = [
    evaluation(0, 0.1, 0.1),
    replace(evaluation(50, 0, 0), equal_groups=0.25),
    replace(evaluation(60, 0.9, 0.9), equal_groups=0.6),
]
WORSE = [
    evaluation(0, 0.3, 0.3),
    replace(evaluation(50, 0, 0), equal_groups=0.75),
    replace(evaluation(60, 0.5, 0.5), equal_groups=0.7),
]
MANY, NONE = (BASE._replace(steps=60, sft_steps=steps) for steps in (800, 0))


def test_a_row_for_each_start_with_what_the_seeds_come_to() -> None:
    lines = "\n".join(cold_start_text(canned({MANY: [BETTER, WORSE], NONE: [BETTER, BETTER]}))).split("\n")
    assert max(map(len, lines)) <= 80
    assert "strict scorer, 60 updates each, seeds: 2" in lines
    cells_of = {line.split()[0]: line.split() for line in lines if line.strip()}
    assert cells_of["800"][:6] == ["800", "20.0", "%", "13.3", "to", "28.9"]
    assert cells_of["800"][6:] == ["70.0", "%", "60.4", "to", "78.1", "50", "%", "65", "%"]
    assert cells_of["0"][1] == "10.0"
    assert cells_of["0"][-4:] == ["25", "%", "60", "%"]


def test_a_row_is_there_before_the_next_training_begins() -> None:
    experiment = canned({NONE: [BETTER], MANY: [BETTER]})
    parts = cold_start_text(experiment)
    assert next(parts).startswith("Loop C, learn: ")
    assert "─" in next(parts)
    assert experiment.asked == []
    assert next(parts).split()[0] == "0"
    assert experiment.asked == [NONE]


def test_each_start_has_its_rates_and_its_shares_in_the_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """After 50 updates half of the groups had equal rewards. Before the first update there was no group."""
    made: list[Any] = []
    monkeypatch.setattr(cold_start, "png", made.append)
    log = [evaluation(0, 0.1, 0.1), replace(evaluation(50, 0.6, 0.6), equal_groups=0.5)]
    better = [evaluation(0, 0.3, 0.3), replace(evaluation(50, 0.8, 0.8), equal_groups=0.25)]
    cold_start_figure({0: [log], 800: [log, better]})
    left, right = map(points_of_lines, made[0].axes)
    assert left == {"0 steps": [(0, 0.1), (50, 0.6)], "800 steps": [(0, 0.2), (50, pytest.approx(0.7))]}
    assert right == {"0 steps": [(50, 0.5)], "800 steps": [(50, 0.375)]}
