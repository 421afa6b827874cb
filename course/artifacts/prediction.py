"""Machinery: the main number of a run, and its distance from the prediction."""

import re
from collections.abc import Mapping
from typing import NamedTuple

GUESS = "a number such as 0.4 or 40 %"  # what a guess has to be
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
    "true_reward",
    "fresh_pass_rate",
    "pass_at_1_after",
)


class Prediction(NamedTuple):
    """A guess beside the main number. ``reading``: how the guess was read, if the guess itself leaves that open.

    ``value``: the number that the guess states; None for the words that runs of earlier versions may hold. ``off``: the
    distance of the main number.
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


def read_guess(guess: str, name: str | None) -> float | None:
    """The number that a guess states for the main number of this name; None if that number cannot be so.

    40/80 and 40 of 80 are fractions. Every main number lies between 0 and 1, so a number above 1 can only be meant in
    %. Of a share each whole number is in %; of a different number, such as an expected reward, 1 means 1. ``name`` is
    None where a run has many numbers and none is the main one: then a guess is any number.
    """
    fraction = re.fullmatch(r"([0-9]{1,9}) ?(?:/|of) ?([0-9]{1,9})", guess)
    if fraction:
        part, whole = int(fraction[1]), int(fraction[2])
        return part / whole if part <= whole and whole > 0 else None
    number = re.fullmatch(r"([0-9]{1,9}(?:[.,][0-9]{0,9})?|[.,][0-9]{1,9}) ?(%?)", guess)
    if not number:
        return None
    value = float(number[1].replace(",", "."))
    if name is None:
        return value
    if number[2] or value > 1 or (name in SHARES and number[1].isdigit()):
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
