"""How a guess is read, and how far the main number of a run lies from it.

An example: 34 of 80 completions passed, a pass rate of 0.425. The guess ``40 of 80`` is read as 50 %, and the pass
rate lies 7.5 points below.
"""

import pytest

from course.artifacts.prediction import MAIN_NUMBERS, SHARES, read_guess, score_prediction

REWARD = "expected_reward_after"


@pytest.mark.parametrize(
    ("guess", "share", "reward", "any_number"),
    [
        ("40 %", 0.4, 0.4, 40),
        ("42.5%", 0.425, 0.425, 42.5),
        ("1 %", 0.01, 0.01, 1),
        ("100 %", 1.0, 1.0, 100),
        ("0.425", 0.425, 0.425, 0.425),
        ("0,4", 0.4, 0.4, 0.4),
        (".5", 0.5, 0.5, 0.5),
        ("1.0", 1.0, 1.0, 1),
        ("42.5", 0.425, 0.425, 42.5),  # no main number is 42.5
        ("34", 0.34, 0.34, 34),
        ("1", 0.01, 1.0, 1),  # a share is asked for in %; a reward of 1 is a reward of 1
        ("0", 0.0, 0.0, 0),
        ("40/80", 0.5, 0.5, 0.5),
        ("40 of 80", 0.5, 0.5, 0.5),
        ("81/80", None, None, None),
        ("0/0", None, None, None),
        ("40 of", None, None, None),
        ("101", None, None, 101),
        ("about half", None, None, None),
        ("YOUR GUESS", None, None, None),
        ("-1", None, None, None),
        ("0.4 or 0.5", None, None, None),
        ("", None, None, None),
        ("%", None, None, None),
        ("1e3", None, None, None),
        ("\u0664", None, None, None),
        ("9" * 99, None, None, None),
    ],
)
def test_a_guess_is_read_as_a_share_or_as_another_number(
    guess: str, share: float | None, reward: float | None, any_number: float | None
) -> None:
    assert {read_guess(guess, name) for name in SHARES} == {share}
    assert {read_guess(guess, name) for name in MAIN_NUMBERS if name not in SHARES} == {reward}
    assert read_guess(guess, None) == any_number


@pytest.mark.parametrize(
    ("guess", "number", "prediction"),
    [
        ("34", {"pass_rate": 0.425}, ("read as 34 %", 0.34, "8.5 points above")),
        ("40 of 80", {"pass_rate": 0.425}, ("read as 50 %", 0.5, "7.5 points below")),
        ("0.333", {"pass_rate": 1 / 3}, ("read as 33.3 %", 0.333, "as predicted")),
        ("40 %", {"pass_rate": 0.425}, (None, 0.4, "2.5 points above")),  # which says it itself
        ("1", {REWARD: 0.9}, (None, 1.0, "10.0 points below")),
        ("0.4", {"pass_rate": None}, ("read as 40 %", 0.4, None)),
        ("half", {"pass_rate": 0.425}, (None, None, None)),  # of a run of an earlier version
        ("0.4", {}, (None, None, None)),
        (None, {"pass_rate": 0.425}, (None, None, None)),
    ],
)
def test_a_prediction_is_scored_in_points(
    guess: str | None, number: dict[str, float | None], prediction: tuple[str | None, float | None, str | None]
) -> None:
    assert score_prediction(guess, number) == prediction
