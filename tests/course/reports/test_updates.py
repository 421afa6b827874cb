"""One update as text, against lines written by hand.

The worked example. Arm 1 of two, sampled at p = 0.5, reward 1 against a baseline of 0.25: the advantage is +0.750. Its
theta goes from 0 to 0.75 with the learning rate 2, and p = 0.5 is a bar of five plus signs.
"""

import pytest

from course.artifacts.learning import UpdateRow
from course.reports.updates import (
    HOW_TO_READ,
    before_and_after,
    update_in_words,
    update_line,
    update_outcome,
    update_start,
)

ARMS = ["Final: 332", "Final: 323\n"]


def row(advantage: float = 0.75, lr: float = 2.0) -> UpdateRow:
    return UpdateRow(
        step=3,
        theta=[0.0, 0.0],
        probs=[0.5, 0.5],
        action=1,
        completion=ARMS[1],
        reward=1.0,
        baseline=0.25,
        advantage=advantage,
        grad_log_prob=[-0.5, 0.5],
        direction=[-0.375, 0.375],
        lr=lr,
        new_theta=[-0.75, 0.75],
        new_probs=[0.182, 0.818],
    )


def test_an_update_begins_with_what_is_known_before_theta_changes() -> None:
    assert update_start(row(), 8, ARMS).split("\n") == [
        "step 3 of 8",
        "  0  0.500  +++++       Final: 332",
        "  1  0.500  +++++       Final: 323<U+000A LINE FEED>",
        "  sampled    arm 1, Final: 323<U+000A LINE FEED>",
        "  reward     1.0, from the verifier",
        "  baseline   0.250",
        "  advantage  1.0 - 0.250 = +0.750",
    ]


def test_an_update_ends_with_the_change_of_each_arm() -> None:
    assert update_outcome(row()).split("\n") == [
        "theta changes by lr * advantage * d log p = 2 * +0.750 * d log p",
        "  0  d log p / d theta -0.500   theta +0.000 -> -0.750   p 0.500 -> 0.182",
        "  1  d log p / d theta +0.500   theta +0.000 -> +0.750   p 0.500 -> 0.818",
        "better than expected: arm 1 goes up",
    ]


@pytest.mark.parametrize(
    ("advantage", "lr", "words"),
    [
        (0.5, 1.0, "better than expected: arm 1 goes up"),
        (-0.5, 1.0, "worse than expected: arm 1 goes down"),
        (0.0, 1.0, "nothing changes"),
        (0.5, 0.0, "nothing changes"),
        (0.5, -1.0, "better than expected: arm 1 goes down (the learning rate is negative)"),
        (-0.5, -1.0, "worse than expected: arm 1 goes up (the learning rate is negative)"),
    ],
)
def test_the_words_follow_the_signs_of_advantage_and_learning_rate(advantage: float, lr: float, words: str) -> None:
    assert update_in_words(row(advantage, lr)) == words


def test_an_update_in_one_line() -> None:
    assert update_line(row()) == "step   3  arm 1  reward 1  baseline 0.250  advantage +0.750  p 0.500 -> 0.818"


def test_the_policy_is_shown_before_the_first_update_and_after_the_last() -> None:
    assert before_and_after([row(), row()], ARMS).split("\n") == [
        "before",
        "  0  0.500  +++++       Final: 332",
        "  1  0.500  +++++       Final: 323<U+000A LINE FEED>",
        "",
        "after 2 steps",
        "  0  0.182  ++          Final: 332",
        "  1  0.818  ++++++++    Final: 323<U+000A LINE FEED>",
    ]


def test_the_explanation_fits_a_terminal() -> None:
    assert max(map(len, HOW_TO_READ.split("\n"))) <= 80
