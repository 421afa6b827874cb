"""The end of slow motion as text, of updates that the loop made.

The worked example. Two steps from even probabilities: the first raises arm 1, the second lowers arm 0 and so raises
the others. Of two predictions one was right, which is the last line.
"""

import numpy as np
import pytest

from course.artifacts.learning_rows import update_row
from course.policies.bandit import ARMS, EXAMPLE
from course.policy_gradient_demo import learn, policy_gradient_text, prediction_text

SUMMARY = {"expected_reward_before": 0.25, "expected_reward_after": 0.625}
ROWS = [
    update_row(step, update, 0.5, EXAMPLE, ARMS)
    for step, update in enumerate(learn(np.array([0.3, 0.0]), 0.5, True), 1)
]


def test_the_policy_is_shown_before_and_after_and_predictions_are_counted() -> None:
    text = policy_gradient_text(ROWS, SUMMARY | {"predictions": ["1", "0"]}, ARMS, line_a_step=False)
    _, state, before, after, expected_reward, predictions = text.split("\n\n")
    assert state == f"The state is the prompt:\n  {EXAMPLE['prompt']}"
    assert before.split("\n")[:2] == ["before", "  0  0.250  ++          The answer is 323."]
    assert after.split("\n")[0] == "after 2 steps"
    assert after.split("\n")[2].startswith(f"  1  {ROWS[1].new_probs[1]:.3f}")
    assert expected_reward == "expected reward 0.250 -> 0.625"
    assert predictions.split("\n") == [
        "right predictions: 1 of 2",
        "step   1  right: 1 goes up",
        "step   2  wrong: 1, 2 and 3 go up",
    ]


@pytest.mark.parametrize(
    ("step", "answer", "said"),
    [
        (0, "1", "right: 1 goes up"),
        (0, "none", "wrong: 1 goes up"),
        (1, "3", "right: 1, 2 and 3 go up"),
        (1, "0", "wrong: 1, 2 and 3 go up"),
    ],
)
def test_a_prediction_is_answered_at_once(step: int, answer: str, said: str) -> None:
    assert prediction_text(answer, ROWS[step]) == said


def test_where_nothing_is_pushed_none_is_right() -> None:
    (update,) = learn(np.array([0.0]), 0.5, True)  # arm 0, reward 0, baseline 0
    row = update_row(1, update, 0.5, EXAMPLE, ARMS)
    assert prediction_text("none", row) == "right: none goes up"
    assert prediction_text("0", row) == "wrong: none goes up"


def test_an_end_before_the_last_question_counts_what_was_answered() -> None:
    text = policy_gradient_text(ROWS, SUMMARY | {"predictions": ["1"]}, ARMS, line_a_step=False)
    assert "\n\nright predictions: 1 of 1\n" in text
    assert "predictions" not in policy_gradient_text(ROWS, SUMMARY | {"predictions": []}, ARMS, line_a_step=False)


def test_without_predictions_none_are_counted_and_a_line_a_step_can_be_had() -> None:
    text = policy_gradient_text(ROWS, SUMMARY, ARMS, line_a_step=True)
    assert "predictions" not in text
    assert [line[:8] for line in text.split("\n") if line.startswith("step")] == ["step   1", "step   2"]
