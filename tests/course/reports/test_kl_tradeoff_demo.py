"""The tables of the KL penalty, how to read them, and the spreadsheet, against strings written by hand.

The worked example. With beta from 2 to 1 the mean reward goes from 0.25 to 0.5 and the KL from 0.125 to 0.25 nats: the
first sentence of the reading says just that.
"""

import csv
from io import StringIO

import pytest

from course.artifacts.learning import TradeoffKind, TradeoffRow
from course.reports.kl_tradeoff_demo import csv_text, kl_tradeoff_text

ACTIONS = [("=1+1\n", 0.5, 0.0, 0.0), ("Final: 323", 0.5, 1.0, 1.0)]


def row(
    kind: TradeoffKind, beta: float | None = None, n: int | None = None, reward: float = 0.25, verifier: float = 0.25
) -> TradeoffRow:
    bound = None if n is None else 1.5
    return TradeoffRow(kind, beta, n, reward, verifier, reward / 2, bound, [(1, reward), (0, 1 - reward)], [0.5, 0.5])


ROWS = [
    row("reference"),
    row("closed_form", 2.0),
    row("gradient_ascent", 2.0),
    row("closed_form", 1.0, reward=0.5, verifier=0.125),
    row("gradient_ascent", 1.0, reward=0.5, verifier=0.125),
    row("best_of_n", n=8),
]


def words(rewards: str) -> str:
    summary = {"rewards": rewards, "ascent_max_difference": 0.003}
    return " ".join(kl_tradeoff_text(ROWS, summary, ACTIONS).split())


def test_the_reading_has_the_numbers_of_the_rows() -> None:
    text = words("verifier")
    assert "from beta 2 to 1 the mean reward goes from 0.250 to 0.500 and the KL from 0.125 to 0.250 nats" in text
    assert "differs by more than 3e-03" in text
    assert "0.125 nats from the reference at N = 8, where the bound is 1.500. With rewards of 0 or 1" in text
    assert "beta = 0 has no row: several actions have the highest reward" in text
    assert "invented" not in text


def test_graded_rewards_are_said_to_be_invented_and_what_they_cost() -> None:
    text = words("graded")
    assert "The grades are invented" in text
    assert "verifier's reward rises to 0.250 at beta 2 and then falls to 0.125 at beta 1" in text
    assert "It is never above the curve." in text
    assert "beta = 0 has no row" not in text


@pytest.mark.parametrize("rewards", ["verifier", "graded"])
def test_the_tables_have_a_row_for_each_policy(rewards: str) -> None:
    text = words(rewards)
    assert "0 0.50 0.00 0 =1+1<U+000A LINE FEED>" in text
    assert "infinite 0.250 0.125 0.250 1 0.250 0 0.750" in text
    assert "1 0.500 0.250 0.125 1 0.500 0 0.500" in text
    assert "8 0.250 0.125 0.250 1 0.250 0 0.750 1.500" in text


def test_the_spreadsheet_has_numbers_and_kinds_only() -> None:
    first, *_, last = csv.DictReader(StringIO(csv_text(ROWS), newline=""))
    assert (first["kind"], first["beta"], first["n"], first["kl_bound"]) == ("reference", "", "", "")
    assert (last["kind"], last["n"], last["kl_bound"], last["top1"], last["top1_prob"]) == (
        "best_of_n",
        "8",
        "1.5",
        "1",
        "0.25",
    )
    assert "1+1" not in csv_text(ROWS)
