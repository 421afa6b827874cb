"""One update as text, against lines written by hand.

The worked example. Arm 1 of two, sampled at p = 0.5, reward 1 against a baseline of 0.25: the advantage is +0.750. Its
theta goes from 0 to 0.75 with the learning rate 2, and p = 0.5 is a bar of five plus signs.
"""

import re
from itertools import product

import numpy as np
import pytest

from course.artifacts.learning_rows import UpdateRow, update_row
from course.bandit_train import draws_of, learn
from course.policies.bandit import ARMS as BANDIT_ARMS
from course.policies.bandit import EXAMPLE, arm_rewards
from course.policies.reinforce import Update
from course.show.updates import (
    before_and_after,
    heading,
    how_to_read,
    update_in_words,
    update_line,
    update_outcome,
    update_start,
)

ARMS = ["Final: 332", "Final: 323\n"]


def row(
    advantage: float = 0.75,
    lr: float = 2.0,
    reward: float = 1.0,
    new_probs: tuple[float, float] = (0.182, 0.818),
    new_theta: list[float] | None = None,
) -> UpdateRow:
    """An update whose direction is that of this advantage, and so is its new theta where none is given."""
    return UpdateRow(
        step=3,
        prompt="Which?",
        theta=[0.0, 0.0],
        probs=[0.5, 0.5],
        action=1,
        completion=ARMS[1],
        verifier_reward=1.0,
        reward=reward,
        baseline=0.25,
        advantage=advantage,
        grad_log_prob=[-0.5, 0.5],
        direction=[-advantage / 2, advantage / 2],
        lr=lr,
        new_theta=[-lr * advantage / 2, lr * advantage / 2] if new_theta is None else new_theta,
        new_probs=list(new_probs),
    )


def test_an_update_begins_with_what_is_known_before_theta_changes() -> None:
    assert update_start(row(), 8, ARMS).split("\n") == [
        "step 3 of 8",
        "  0  0.500  +++++       Final: 332",
        "  1  0.500  +++++       Final: 323<U+000A LINE FEED>",
        "  sampled    arm 1, Final: 323<U+000A LINE FEED>",
        "  reward     1.000, from the verifier",
        "  baseline   0.250",
        "  advantage  1.000 - 0.250 = +0.750",
    ]


def test_an_update_ends_with_the_change_of_each_arm() -> None:
    assert update_outcome(row()).split("\n") == [
        "theta changes by lr * advantage * d log p = 2 * +0.750 * d log p",
        "  0  d log p / d theta -0.500   theta +0.000 -> -0.750   p 0.500 -> 0.182",
        "  1  d log p / d theta +0.500   theta +0.000 -> +0.750   p 0.500 -> 0.818",
        "above the baseline: arm 1 goes up",
    ]


def test_an_offset_stands_beside_what_the_verifier_gave() -> None:
    line = update_start(row(reward=4.0), 8, ARMS).split("\n")[4]
    assert line == "  reward     4.000: 1.0 from the verifier, the offset +3"


@pytest.mark.parametrize(
    ("advantage", "lr", "new_p", "words"),
    [
        (0.5, 1.0, 0.6, "above the baseline: arm 1 goes up"),
        (-0.5, 1.0, 0.4, "below the baseline: arm 1 goes down"),
        (0.0, 1.0, 0.5, "the reward equals the baseline: no theta changes"),
        (0.5, 0.0, 0.5, "above the baseline, but arm 1 stays: the learning rate is 0"),
        (0.5, 1e-30, 0.5, "above the baseline, but arm 1 stays: the change is rounded away"),
        (0.5, -1.0, 0.4, "above the baseline: arm 1 goes down (the learning rate is negative)"),
        (-0.5, -1.0, 0.6, "below the baseline: arm 1 goes up (the learning rate is negative)"),
    ],
)
def test_the_words_follow_the_numbers(advantage: float, lr: float, new_p: float, words: str) -> None:
    assert update_in_words(row(advantage, lr, new_probs=(1 - new_p, new_p))) == words


@pytest.mark.parametrize(
    ("advantage", "new_p", "words"),
    [
        (0.5, 0.4, "above the baseline: arm 1 goes down, and this is not REINFORCE"),
        (-0.5, 0.6, "below the baseline: arm 1 goes up, and this is not REINFORCE"),
        (0.5, 0.5, "above the baseline: arm 1 stays, and this is not REINFORCE"),
        (0.0, 0.6, "equal to the baseline: arm 1 goes up, and this is not REINFORCE"),
    ],
)
def test_a_students_update_that_is_another_is_told_by_what_it_did(advantage: float, new_p: float, words: str) -> None:
    changed = row(advantage, 1.0, new_probs=(1 - new_p, new_p), new_theta=[0.0, 0.1])
    assert update_in_words(changed) == words
    assert update_outcome(changed).startswith("theta does not change by lr * advantage * d log p = 1 * ")


RUNS = [*product((0.5, -0.5, 0.0, 1e-30, -40.0, 1e9), (True, False), (0.0, 2.5))]  # lr, with a baseline, offset


@pytest.mark.parametrize("seed", range(0, 60, 6))
def test_no_sentence_is_refuted_by_its_numbers(seed: int) -> None:
    for lr, with_baseline, offset in RUNS:
        assert_no_sentence_is_refuted(seed, lr, with_baseline, offset)


def assert_no_sentence_is_refuted(seed: int, lr: float, with_baseline: bool, offset: float) -> None:
    updates = learn(arm_rewards() + offset, draws_of(seed, 12), lr, with_baseline)
    singles = (Update(*(np.asarray(value)[0] for value in update)) for update in updates)
    rows = [update_row(step, update, lr, EXAMPLE, BANDIT_ARMS) for step, update in enumerate(singles, 1)]
    stays = all(row.new_probs == row.probs for row in rows)
    assert ("no update changed the policy" in heading(rows)) is stays
    assert ("the policy itself changed" in heading(rows)) is not stays
    aid = dict(re.findall(r"advantage (.) 0 .*sampled arm's theta (\w+), the others'", how_to_read(lr)))
    assert ("nothing changes" in how_to_read(lr)) is (lr == 0) is not bool(aid)
    for row in rows:
        words, a = update_in_words(row), row.action
        change = row.new_theta[a] - row.theta[a]
        went = row.new_probs[a] - row.probs[a]
        assert row.reward > row.baseline or "above" not in words
        assert row.reward < row.baseline or "below" not in words
        assert ("the reward equals the baseline" in words) is (row.reward == row.baseline)
        assert "certain" not in words or row.probs[a] == 1.0
        assert ("the learning rate is 0" in words) is (lr == 0 and row.advantage != 0)
        assert ("goes up" in words, "goes down" in words) == (went > 0, went < 0)
        assert ("no theta changes" in words) is not any(row.direction)
        if "no theta changes" in words or "stays" in words:
            assert went == 0
        if "no theta changes" in words:
            assert (row.new_theta, row.new_probs) == (row.theta, row.probs)
        if aid and row.advantage:
            sign = 1 if aid[">" if row.advantage > 0 else "<"] == "up" else -1
            assert sign * change >= 0
            assert sign * went >= 0  # the sampled arm's probability goes where its theta goes
            others = [new - old for b, (old, new) in enumerate(zip(row.theta, row.new_theta, strict=True)) if b != a]
            assert max(sign * other for other in others) <= 0
        if abs(lr) == 0.5 and row.advantage:
            assert went * lr * row.advantage > 0


def test_an_update_in_one_line() -> None:
    assert update_line(row()) == "step   3  arm 1  reward 1  baseline 0.250  advantage +0.750  p 0.500 -> 0.818"


def test_the_policy_is_shown_before_the_first_update_and_after_the_last() -> None:
    assert before_and_after([row(), row()], ARMS).split("\n") == [
        "The state is the prompt:",
        "  Which?",
        "",
        "before",
        "  0  0.500  +++++       Final: 332",
        "  1  0.500  +++++       Final: 323<U+000A LINE FEED>",
        "",
        "after 2 steps",
        "  0  0.182  ++          Final: 332",
        "  1  0.818  ++++++++    Final: 323<U+000A LINE FEED>",
    ]


def test_one_update_is_one_step() -> None:
    assert "after 1 step" in before_and_after([row()], ARMS).split("\n")


@pytest.mark.parametrize("lr", [0.5, -0.5, 0.0])
def test_the_explanation_fits_a_terminal(lr: float) -> None:
    assert max(map(len, how_to_read(lr).split("\n"))) <= 80
