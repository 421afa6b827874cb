"""The words about coverage, against numbers written by hand."""

import pytest

from course.reports.coverage_demo import Point, Row, points_of, reading_text, shown_table


def row(prompts: int, seed: int, step: int, train: float, *by_times: tuple[int, int, int]) -> Row:
    return Row(step, train, train, 0.0, 0.0, 0.0, 5.0, prompts, seed, list(by_times))


def point(prompts: int, train: float, holdout: float, seen: float, width: float = 0.02) -> Point:
    bounds = (holdout - width, holdout + width)
    return Point(prompts, 0.1, train, 0.0, holdout, bounds, seen, 1.0, [train], [holdout])


def test_a_point_is_in_the_middle_of_its_seeds_and_of_two_the_lower_one() -> None:
    ends = [(0, (1, 0), 0.1), (9, (6, 3), 0.9), (0, (2, 1), 0.3), (9, (4, 2), 1.0)]
    log = [
        row(5, seed // 2, step, train, (0, 10, low), (3, 30, high))
        for seed, (step, (low, high), train) in enumerate(ends)
    ]
    (found,) = points_of(log)
    assert (found.train_before, found.train_after) == (0.1, 0.9)
    assert (found.holdout_before, found.holdout_after) == (1 / 40, 6 / 40)
    assert found.holdout_after_ci95 == pytest.approx((0.0706, 0.2907), abs=5e-5)  # 6 of 40, Wilson
    assert (found.pairs_seen, found.times) == (0.75, 3)
    assert (found.train_each, found.holdout_each) == ([0.9, 1.0], [9 / 40, 6 / 40])


def test_points_come_in_the_order_of_the_log_and_do_not_mix() -> None:
    log = [row(prompts, 0, step, prompts / 10, (prompts, 4, step)) for prompts in (2, 7) for step in (0, 3)]
    assert [(one.prompts, one.train_after, one.times) for one in points_of(log)] == [(2, 0.2, 2), (7, 0.7, 7)]


def test_the_bins_hold_every_prompt_once_and_an_empty_one_has_no_row() -> None:
    times = [(0, 7, 1), (1, 5, 1), (2, 3, 1), (3, 2, 0), (5, 2, 2), (11, 4, 3), (40, 6, 6)]
    log = [row(5, 0, 0, 0.0, (0, 99, 9)), row(5, 0, 8, 0.0, *times), row(6, 0, 0, 0.0), row(6, 0, 8, 0.0, (0, 3, 0))]
    cells = [line.split() for line in shown_table(log).split("\n")[2:]]
    assert cells == [
        ["never", "10", "1", "10.0", "%"],
        ["1", "to", "2", "8", "2", "25.0", "%"],
        ["3", "to", "5", "4", "2", "50.0", "%"],
        ["11", "or", "more", "10", "9", "90.0", "%"],
    ]


def words(*points: Point) -> str:
    text = reading_text(points)
    assert max(map(len, text.split("\n"))) <= 80
    return " ".join(text.split())


def test_the_sentences_are_those_of_the_numbers() -> None:
    said = words(point(30, 1.0, 0.04, 0.24), point(100, 0.99, 0.08, 0.79), point(1000, 0.97, 0.96, 1.0))
    assert "Trained on 30, the policy passes 100.0 % of its own prompts and 4.0 % of the holdout" in said
    assert "Trained on 1000 it is 97.0 % and 96.0 %" in said
    assert "not enough: 100 prompts show those of 79.0 % of the holdout, and 8.0 % passes" in said


def test_what_the_numbers_do_not_bear_out_is_not_said() -> None:
    alone = words(point(30, 1.0, 0.04, 0.05))
    assert "Trained on 30" in alone
    assert alone.count("Trained on") == 1
    assert "not enough" not in alone  # 4 % beside 5 % is within the interval
    assert "Trained on 30 it is" not in words(point(30, 0.2, 0.1, 0.1), point(100, 0.9, 0.2, 0.2))  # more did not help
    nothing = words(point(30, 0.05, 0.04, 0.9), point(100, 0.06, 0.05, 0.9))
    assert nothing == "No pass rate on the training prompts stands out from the holdout's interval."
