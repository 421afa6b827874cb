"""The exact values, by hand and by a second road, and the mistakes, which are none of them right and all different.

By hand: the others of [1, 0, 0.5] have the means 0.25, 0.75 and 0.5. The second road is the course's own policies,
which compute with arrays, and finite differences.
"""

from math import exp, log
from typing import Any

import numpy as np
import pytest

from check import oracles
from check.functions import is_close
from check.oracles import FUNCTIONS
from course.policies import reinforce, softmax

functions = pytest.mark.parametrize("name", FUNCTIONS)


def inputs_of(name: str, seed: int, n: int = 60) -> list[list[Any]]:
    return FUNCTIONS[name].inputs(f"{seed} {name}", n)


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
    assert is_close(right(function, *FUNCTIONS[function].example), value)
    assert inputs_of(function, 0)[0] == FUNCTIONS[function].example


@pytest.mark.parametrize("seed", range(4))
def test_two_roads_lead_to_one_number(seed: int) -> None:
    for rewards, b in inputs_of("advantage", seed):
        assert is_close(right("advantage", rewards, b), (np.array(rewards) - b).tolist())
    for (rewards,) in inputs_of("leave_one_out", seed):
        baselines = reinforce.leave_one_out(np.array(rewards), len(rewards)).tolist()
        assert is_close(right("leave_one_out", rewards), baselines)
    for theta, actions, r, b, lr in inputs_of("reinforce_step", seed):
        x = np.array(theta)
        direction = (r - b) * softmax.grad_log_prob(softmax.softmax(x), np.array(actions))
        new_theta = reinforce.apply_gradient(x, direction, lr).tolist()
        assert is_close(right("reinforce_step", theta, actions, r, b, lr), new_theta)
    for (group,) in inputs_of("pick_best", seed):
        in_order = sorted(group)
        rewards = [reward for *_, reward in in_order]
        assert right("pick_best", group) == in_order[rewards.index(max(rewards))][0]


def log_prob(logits: list[list[float]], actions: list[int]) -> float:
    return sum(x[action] - log(sum(map(exp, x))) for x, action in zip(logits, actions, strict=True))


def test_a_step_follows_the_gradient_of_the_log_probability() -> None:
    """Central differences, each logit by itself: the step is lr · (r − b) times the slope of the log-probability."""
    theta, actions = [[0.3, -1.2, 0.5], [0.0, 2.0, 1.0]], [2, 0]
    new_theta, small = right("reinforce_step", theta, actions, 2.0, 0.5, 0.1), 1e-5
    for t, a in np.ndindex(2, 3):
        up, down = ([[*row] for row in theta] for _ in range(2))
        up[t][a] += small
        down[t][a] -= small
        slope = (log_prob(up, actions) - log_prob(down, actions)) / (2 * small)
        assert new_theta[t][a] - theta[t][a] == pytest.approx(0.15 * slope, abs=1e-7)


@functions
@pytest.mark.parametrize("seed", range(4))
def test_each_mistake_is_wrong_and_differs_from_every_other(name: str, seed: int) -> None:
    quantity, inputs = FUNCTIONS[name], inputs_of(name, seed)
    values = {
        sentence: [quantity.value(expression, one) for one in inputs]
        for sentence, expression in ({"right": quantity.right} | quantity.mistakes).items()
    }
    for sentence, made in values.items():
        assert sum(value is not None for value in made) > 20
        alike = [
            other
            for other, others in values.items()
            if all(one is None or two is None or is_close(one, two) for one, two in zip(made, others, strict=True))
        ]
        assert alike == [sentence]


@functions
def test_the_inputs_are_another_seeds_and_reach_the_corners(name: str) -> None:
    inputs = inputs_of(name, 0)
    assert inputs == inputs_of(name, 0)
    assert inputs != inputs_of(name, 1)
    if name == "reinforce_step":
        assert {r > b for *_, r, b, _ in inputs} == {True, False}
        assert any(max(map(max, theta)) > 900 for theta, *_ in inputs)
    if name == "pick_best":
        assert {len(group) for (group,) in inputs} == set(range(1, 7))
        assert any(max(reward for *_, reward in group) < 0 for (group,) in inputs)


def test_an_expression_that_would_raise_is_none() -> None:
    assert FUNCTIONS["advantage"].value("[each / b for each in r]", [[1.0], 0.0]) is None
    assert oracles.softmax([1000.0, 1000.0]) == pytest.approx([0.5, 0.5])
