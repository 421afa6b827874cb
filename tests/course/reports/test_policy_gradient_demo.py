"""The end of slow motion as text, of updates that the loop made.

The worked example. Two steps from even probabilities; of two predictions one was right, which is the last line.
"""

import numpy as np

from course.artifacts.learning import update_row
from course.policies.bandit import ARMS, EXAMPLE
from course.policy_gradient_demo import learn
from course.reports.policy_gradient_demo import policy_gradient_text

ROWS = [
    update_row(step, update, 0.5, EXAMPLE, ARMS)
    for step, update in enumerate(learn(np.array([0.3, 0.0]), 0.5, True), 1)
]


def test_the_policy_is_shown_before_and_after_and_predictions_are_counted() -> None:
    text = policy_gradient_text(ROWS, {"predictions": ["1", "2"], "right_predictions": 1}, ARMS, line_a_step=False)
    _, state, before, after, predictions = text.split("\n\n")
    assert state == f"The state is the prompt:\n  {EXAMPLE['prompt']}"
    assert before.split("\n")[:2] == ["before", "  0  0.250  ++          The answer is 323."]
    assert after.split("\n")[0] == "after 2 steps"
    assert after.split("\n")[2].startswith(f"  1  {ROWS[1].new_probs[1]:.3f}")
    assert predictions == "right predictions: 1 of 2"


def test_without_predictions_none_are_counted_and_a_line_a_step_can_be_had() -> None:
    text = policy_gradient_text(ROWS, {}, ARMS, line_a_step=True)
    assert "predictions" not in text
    assert [line[:8] for line in text.split("\n") if line.startswith("step")] == ["step   1", "step   2"]
