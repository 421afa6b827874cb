"""The exact values, by hand and by a second road, and the mistakes, which are none of them right and all different.

By hand: the others of [1, 0, 0.5] have the means 0.25, 0.75 and 0.5. The second road is the course's own policies,
which compute with arrays.
"""

from typing import Any

import numpy as np
import pytest

from check import oracles
from check.functions import is_close
from check.oracles import FUNCTIONS
from course.policies import reinforce, softmax


def right(name: str, *arguments: Any) -> Any:
    return FUNCTIONS[name].value(FUNCTIONS[name].right, arguments)


@pytest.mark.parametrize(
    ("function", "value"),
    [
        ("advantage", [0.75, -0.25]),
        ("leave_one_out", [0.25, 0.75, 0.5]),
        ("reinforce_step", [[0.1, -0.1], [-0.1, 0.1]]),
        ("pick_best", 0),
    ],
)
def test_the_example_of_each_stub_by_hand(function: str, value: Any) -> None:
    assert is_close(right(function, *FUNCTIONS[function].inputs[0]), value)


def test_two_roads_lead_to_one_number() -> None:
    for rewards, b in FUNCTIONS["advantage"].inputs:
        assert is_close(right("advantage", rewards, b), (np.array(rewards) - b).tolist())
    for (rewards,) in FUNCTIONS["leave_one_out"].inputs:
        baselines = reinforce.leave_one_out(np.array(rewards), len(rewards)).tolist()
        assert is_close(right("leave_one_out", rewards), baselines)
    for theta, actions, r, b, lr in FUNCTIONS["reinforce_step"].inputs:
        x = np.array(theta)
        direction = (r - b) * softmax.grad_log_prob(softmax.softmax(x), np.array(actions))
        new_theta = reinforce.apply_gradient(x, direction, lr).tolist()
        assert is_close(right("reinforce_step", theta, actions, r, b, lr), new_theta)
    for (group,) in FUNCTIONS["pick_best"].inputs:
        in_order = sorted(group)
        rewards = [reward for *_, reward in in_order]
        assert right("pick_best", group) == in_order[rewards.index(max(rewards))][0]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_mistake_is_wrong_and_differs_from_every_other(name: str) -> None:
    quantity = FUNCTIONS[name]
    values = {}
    for sentence, expression in ({"right": quantity.right} | quantity.mistakes).items():
        values[sentence] = [quantity.value(expression, arguments) for arguments in quantity.inputs]
    for sentence, made in values.items():
        alike = [
            other
            for other, others in values.items()
            if all(one is None or two is None or is_close(one, two) for one, two in zip(made, others, strict=True))
        ]
        assert alike == [sentence]


def test_an_expression_that_would_raise_is_none() -> None:
    assert FUNCTIONS["advantage"].value("[each / b for each in r]", [[1.0], 0.0]) is None
    assert oracles.softmax([1000.0, 1000.0]) == pytest.approx([0.5, 0.5])
