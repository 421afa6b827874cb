"""Machinery: the main number of a run, and its distance from the prediction."""

import re
from collections.abc import Mapping
from typing import NamedTuple

PLACEHOLDER = "YOUR GUESS"  # what the commands that python3 -m check prints have in place of a guess
MAIN_NUMBERS = (  # of a summary, the first of these is what the log of runs shows; a run of many trainings has none
    "selected_accuracy",
    "rubric_pass_rate",
    "pass_rate",
    "true_reward",
    "fresh_pass_rate",
    "pass_at_1_after",
    "expected_reward_after",
    "expected_return_after",
    "highest_verifier_reward",
)
SHARES = (  # those of them that are a share of completions or prompts: a whole number is then one in %
    "selected_accuracy",
    "rubric_pass_rate",
    "pass_rate",
    "fresh_pass_rate",
    "pass_at_1_after",
)


class Prediction(NamedTuple):
    """A guess beside the main number. ``reading``: how the guess was read, if the guess itself leaves that open.

    ``value``: the number that the guess states, None if the guess is words. ``off``: the distance of the main number.
    """

    reading: str | None = None
    value: float | None = None
    off: str | None = None


def main_number(summary: Mapping[str, float | None]) -> dict[str, float | None]:
    """The one that the log of runs shows, under its name; none of a run of many trainings."""
    for name in MAIN_NUMBERS:
        if name in summary:
            return {name: summary[name]}
    return {}


def is_placeholder(guess: str) -> bool:
    """Whether the guess is still the placeholder that the check prints. A shell may have kept the quotes."""
    return guess.strip(" \t\"'").upper() == PLACEHOLDER


def score_prediction(guess: str | None, number: Mapping[str, float | None]) -> Prediction:
    """The guess, scored by the main number of a run, which is ``number``: its name -> its value."""
    if guess is None or not number:
        return Prediction()
    [(name, actual)] = number.items()
    value = read_guess(guess, name)
    if value is None:
        return Prediction()
    reading = None
    if name in SHARES and "%" not in guess:
        reading = f"read as {100 * value:.4g} %"
    return Prediction(reading, value, points_off(value, actual))


def read_guess(guess: str, name: str) -> float | None:
    """The number that a guess states for the main number of this name; None if the guess is words.

    For a share, 40/80 and 40 of 80 are fractions, a whole number such as 34 is in %, and 0.425 is the share itself. For
    a different number, such as an expected reward, 1 means 1. Every main number lies between 0 and 1, so a number above
    1 can only be meant in %.
    """
    is_share = name in SHARES
    guess = guess.strip()
    fraction = re.fullmatch(r"([0-9]{1,9}) ?(?:/|of) ?([0-9]{1,9})", guess)
    if fraction and is_share:
        part, whole = int(fraction[1]), int(fraction[2])
        return part / whole if part <= whole and whole > 0 else None
    number = re.fullmatch(r"([0-9]{1,3}(?:[.,][0-9]{0,9})?|[.,][0-9]{1,9}) ?(%?)", guess)
    if not number:
        return None
    value = float(number[1].replace(",", "."))
    if number[2] or value > 1 or (is_share and number[1].isdigit()):
        value /= 100
    return value if value <= 1 else None


def points_off(expected: float, actual: float | None) -> str | None:
    """How far the number came out from the value that was expected, in points of a hundredth."""
    if actual is None:
        return None
    points = 100 * actual - 100 * expected
    if abs(points) < 0.05:
        return "as predicted"
    return f"{abs(points):.1f} points {'above' if points > 0 else 'below'}"
