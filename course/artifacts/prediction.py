"""Machinery: the main number of a run, and how far it lies from what was expected."""

import re
from collections.abc import Mapping

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


def main_number(summary: Mapping[str, float | None]) -> dict[str, float | None]:
    """The one that the log of runs shows, under its name; none of a run of many trainings."""
    for name in MAIN_NUMBERS:
        if name in summary:
            return {name: summary[name]}
    return {}


def points_off(expect: str, value: float | None) -> str | None:
    """How far the value came out from a prediction such as 0.4 or 40 %; None where that is words, or no share."""
    share = share_expected(expect)
    if share is None or value is None:
        return None
    points = 100 * value - 100 * share
    if abs(points) < 0.05:
        return "as predicted"
    return f"{abs(points):.1f} points {'above' if points > 0 else 'below'}"


def share_expected(expect: str) -> float | None:
    """The share that a prediction such as 0.4 or 40 % states; None where it is words, or no share.

    A number above 1 can only be meant in percent: every main number lies between 0 and 1.
    """
    number = re.fullmatch(r"([0-9]{1,3}(?:[.,][0-9]{0,9})?|[.,][0-9]{1,9}) ?(%?)", expect.strip())
    if not number:
        return None
    share = float(number[1].replace(",", "."))
    if number[2] or share > 1:
        share /= 100
    return share if share <= 1 else None
