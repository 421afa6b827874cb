"""The tables of the KL penalty, how to read them, and the spreadsheet, against strings written by hand.

The worked example. With beta from 2 to 1 the mean reward goes from 0.25 to 0.5 and the KL from 0.125 to 0.25 nats: the
first sentence of the reading says just that.

The worked example. The optimum for beta 0.5 with reward 0.75 and KL 1 is the dot at (1, 0.75), labelled 0.5.
"""

import csv
from io import StringIO
from typing import Any

import pytest

from course import kl_tradeoff_demo
from course.artifacts.learning_rows import TradeoffRow
from course.kl_tradeoff_demo import csv_text, kl_tradeoff_figure, kl_tradeoff_text

ACTIONS = [("=1+1\n", 0.25, 0.0, 0.0), ("Final: 323", 0.75, 1.0, 1.0)]


def row(beta: float | None = None, n: int | None = None, reward: float = 0.25, verifier: float = 0.25) -> TradeoffRow:
    bound = None if n is None else 1.5
    return TradeoffRow(beta, n, reward, verifier, reward / 2, bound, [1, 0, 2], [1 - reward, reward, 0.0])


ROWS = [row(), row(2.0), row(1.0, reward=0.5, verifier=0.125), row(n=8)]


def words(rewards: str) -> str:
    return " ".join(kl_tradeoff_text(ROWS, ACTIONS, rewards).split())


def test_the_reading_has_the_numbers_of_the_rows() -> None:
    text = words("verifier")
    assert "from beta 2 to 1 the mean reward goes from 0.250 to 0.500 and the KL from 0.125 to 0.250 nats" in text
    assert "careless" not in text


def test_graded_rewards_are_a_careless_judges_and_cost_the_verifiers() -> None:
    text = words("graded")
    assert "verifier's reward rises to 0.250 at beta 2 and then falls to 0.125 at beta 1" in text
    assert "the completion that the careless judge overrates wins" in text


@pytest.mark.parametrize("rewards", ["verifier", "graded"])
def test_the_tables_have_a_row_for_each_policy(rewards: str) -> None:
    text = words(rewards)
    assert "0 0.25 0.00 0 =1+1<U+000A LINE FEED>" in text
    assert "infinite 0.250 0.125 0.250 1 0.250 0 0.750 2 0.000" in text
    assert "1 0.500 0.250 0.125 1 0.500 0 0.500 2 0.000" in text
    assert "8 0.250 0.125 0.250 1 0.250 0 0.750 2 0.000 1.500" in text


def test_the_spreadsheet_has_numbers_only() -> None:
    first, *_, last = csv.DictReader(StringIO(csv_text(ROWS), newline=""))
    assert (first["beta"], first["n"], first["kl_bound"]) == ("", "", "")
    assert (last["n"], last["kl_bound"], last["top1"], last["p1"]) == ("8", "1.5", "1", "0.25")
    assert "1+1" not in csv_text(ROWS)


def point(kl: float, reward: float, beta: float | None = None, n: int | None = None) -> TradeoffRow:
    return TradeoffRow(beta, n, reward, reward / 2, kl, None if n is None else kl + 0.25, [], [])


POINTS = [
    point(0.0, 0.25),
    point(1.0, 0.75, beta=0.5),
    point(1.0625, 0.8, beta=0.4),  # too near for a label
    point(0.0, 0.25, n=1),
    point(0.5, 0.5, n=4),
]
CURVE = [point(0.0, 0.25), point(0.0, 0.25, beta=9.0), point(2.0, 1.0, beta=0.1), point(0.5, 0.5, n=4)]


@pytest.mark.parametrize("rewards", ["verifier", "graded"])
def test_the_figure_has_the_points_of_the_rows(monkeypatch: pytest.MonkeyPatch, rewards: str) -> None:
    made: list[Any] = []
    monkeypatch.setattr(kl_tradeoff_demo, "png", made.append)
    kl_tradeoff_figure(POINTS, CURVE, rewards)
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
