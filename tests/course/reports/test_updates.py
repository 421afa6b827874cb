"""One update as text, against lines written by hand.

The worked example. Arm 1 of two, sampled at p = 0.5, reward 1 against a baseline of 0.25: the advantage is +0.750. Its
theta goes from 0 to 0.75 with the learning rate 2, and the bar of ∂ log p / ∂ theta = 0.5 has five plus signs.
"""

import pytest

from course.artifacts.learning import UpdateRow
from course.reports.updates import HOW_TO_READ, bar, update_in_words, update_line, update_outcome, update_start

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
    lines = update_outcome(row(), ARMS).split("\n")
    assert lines[3].split() == ["0", "Final:", "332", "+0.000", "0.500", "-0.500", "-----", "-0.750", "0.182"]
    assert lines[4].startswith("-> 1 Final: 323")
    assert lines[4].split()[-5:] == ["0.500", "+0.500", "+++++", "+0.750", "0.818"]
    assert lines[-2:] == [
        "theta changes by lr * advantage * d log p = 2 * +0.750 * d log p",
        "better than expected: arm 1 goes up",
    ]
    assert max(map(len, lines)) <= 80


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


@pytest.mark.parametrize(("value", "shown"), [(0.75, "++++++++"), (-0.25, "--"), (0.0, ""), (7.0, "+" * 10)])
def test_a_bar_is_at_most_ten_characters(value: float, shown: str) -> None:
    assert bar(value) == shown


def test_the_explanation_fits_a_terminal() -> None:
    assert max(map(len, HOW_TO_READ.split("\n"))) <= 80
