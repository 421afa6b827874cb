"""Rows of Loop C against updates and completions worked by hand.

The worked example. The completion 'Final: 7' of an example whose answer is 7, sampled after 12 updates, becomes the row
{"id", "prompt", "expected_answer": 7, "completion": "Final: 7", "reward": 1.0, "details": {"outcome": "ok",
"parsed_answer": "7"}, "step": 12}. What the run does not have (training, split, proxy_reward) is left out.
"""

import msgspec
import numpy as np
import pytest

from course.artifacts.learning_rows import episode_row, learning_result, update_row
from course.policies.reinforce import Update
from course.policies.two_step import EpisodeUpdate

EXAMPLE = {"id": "q1", "prompt": "3 + 4?", "expected_answer": 7, "metadata": {"split": "dev"}}


def test_a_completion_becomes_a_row_with_its_step() -> None:
    assert msgspec.to_builtins(learning_result(EXAMPLE, "Final: 7", 12)) == {
        "id": "q1",
        "prompt": "3 + 4?",
        "expected_answer": 7,
        "completion": "Final: 7",
        "reward": 1.0,
        "details": {"outcome": "ok", "parsed_answer": "7"},
        "step": 12,
    }
    assert msgspec.to_builtins(learning_result(EXAMPLE, "Final: 7", 12, count=3))["count"] == 3


def test_what_a_run_has_besides_is_in_the_row() -> None:
    row = learning_result(EXAMPLE, "7", 0, training="anywhere seed 1", split="holdout", proxy_reward=0.5)
    assert (row.reward, row.details.outcome, row.details.parsed_answer) == (0.0, "missing_prefix", None)
    assert (row.training, row.split, row.proxy_reward) == ("anywhere seed 1", "holdout", 0.5)


def test_an_update_becomes_a_row_of_plain_numbers() -> None:
    update = Update(
        theta=np.zeros(2),
        p=np.array([0.5, 0.5]),
        action=np.array(1),
        reward=np.array(3.0),  # with an offset of 2
        baseline=2.25,
        advantage=np.array(0.75),
        direction=np.array([-0.375, 0.375]),
        new_theta=np.array([-0.75, 0.75]),
    )
    row = msgspec.to_builtins(update_row(4, update, 2.0, EXAMPLE, ["Final: 8", "Final: 7"]))
    assert row["new_probs"] == pytest.approx([1 / (1 + np.exp(1.5)), 1 / (1 + np.exp(-1.5))], abs=1e-15)
    assert row | {"new_probs": None} == {
        "step": 4,
        "prompt": "3 + 4?",
        "theta": [0.0, 0.0],
        "probs": [0.5, 0.5],
        "action": 1,
        "completion": "Final: 7",
        "verifier_reward": 1.0,
        "reward": 3.0,
        "baseline": 2.25,
        "advantage": 0.75,
        "grad_log_prob": [-0.5, 0.5],
        "direction": [-0.375, 0.375],
        "lr": 2.0,
        "new_theta": [-0.75, 0.75],
        "new_probs": None,
    }


def test_an_episode_becomes_a_row_of_its_visited_states() -> None:
    direction = np.array([[-0.5, 0.5], [9.0, 9.0], [-0.5, 0.5]])  # that of state 1 must not show
    update = EpisodeUpdate(
        theta=np.zeros((3, 2)),
        state=np.array([0, 2]),
        action=np.array([1, 1]),
        reward=np.array([0.0, 1.0]),
        return_=np.array([1.0, 1.0]),
        baseline=0.0,
        advantage=np.array([1.0, 1.0]),
        direction=direction,
        new_theta=direction / 2,
    )
    row = episode_row(1, update, 0.5, [True, True])
    assert row.prompt == "Compute 17 * 19. Answer with exactly one line: Final: <int>"
    assert (row.expected_return, row.prefixes, row.tokens) == (0.25, ["", "Final: "], ["Final: ", "323"])
    assert row.theta == [[0.0, 0.0]] * 2
    assert row.grad_log_prob == row.direction == [[-0.5, 0.5]] * 2
    assert row.new_theta == [[-0.25, 0.25]] * 2
