"""The two-step world against the enumeration of its four trajectories."""

import itertools
import math

import numpy as np
import pytest

from course.policies.two_step import PIECES, Theta, expected_return, pay, return_to_go, visit

THETA = Theta(np.array([0.3, -0.4]), np.array([[0.1, 0.9], [-0.7, 0.2]]))
TRAJECTORIES = list(itertools.product((0, 1), (0, 1)))


def chances(preferences: object) -> list[float]:
    weights = [math.exp(x) for x in np.asarray(preferences).tolist()]
    return [weight / sum(weights) for weight in weights]


def draw_for(preferences: object, action: int) -> float:
    """A draw that falls on this action's stretch."""
    return chances(preferences)[0] / 2 if action == 0 else chances(preferences)[0] + chances(preferences)[1] / 2


def test_one_trajectory_of_four_is_paid_and_only_at_its_end() -> None:
    assert {a + b: pay(i, j) for i, a in enumerate(PIECES[0]) for j, b in enumerate(PIECES[1])} == {
        "Answer: 332": 0.0,
        "Answer: 323": 0.0,
        "Final: 332": 0.0,
        "Final: 323": 1.0,
    }


@pytest.mark.parametrize(
    ("rewards", "returns"), [([0.0, 1.0], [1.0, 1.0]), ([0.5, 0.25], [0.75, 0.25]), ([1.0, 0.0], [1.0, 0.0])]
)
def test_what_came_of_a_step_is_all_that_was_paid_from_it_on(rewards: list[float], returns: list[float]) -> None:
    assert return_to_go(rewards) == returns


def test_the_expected_return_is_the_chance_of_the_paid_trajectory() -> None:
    assert expected_return(THETA) == pytest.approx(chances(THETA.first)[1] * chances(THETA.second[1])[1])


@pytest.mark.parametrize("baseline", [0.0, 0.37, -2.0])
def test_the_estimate_over_all_trajectories_is_the_derivative_of_the_expected_return(baseline: float) -> None:
    first, second = np.zeros(2), np.zeros((2, 2))
    for a, b in TRAJECTORIES:
        one = visit(THETA.first, draw_for(THETA.first, a))
        other = visit(THETA.second[a], draw_for(THETA.second[a], b))
        assert (one.action, other.action) == (a, b)
        weight = chances(THETA.first)[a] * chances(THETA.second[a])[b]
        returns = return_to_go([0.0, pay(a, b)])
        first += weight * (returns[0] - baseline) * one.direction
        second[a] += weight * (returns[1] - baseline) * other.direction
    eps = 1e-6
    for index in range(2):
        step = np.eye(2)[index] * eps
        up, down = Theta(THETA.first + step, THETA.second), Theta(THETA.first - step, THETA.second)
        assert first[index] == pytest.approx((expected_return(up) - expected_return(down)) / (2 * eps), abs=1e-9)
    for state, action in TRAJECTORIES:
        change = np.zeros((2, 2))
        change[state, action] = eps
        up, down = Theta(THETA.first, THETA.second + change), Theta(THETA.first, THETA.second - change)
        slope = (expected_return(up) - expected_return(down)) / (2 * eps)
        assert second[state, action] == pytest.approx(slope, abs=1e-9)
    by_hand = chances(THETA.first)[0] * chances(THETA.first)[1] * chances(THETA.second[1])[1]
    np.testing.assert_allclose(first, [-by_hand, by_hand], atol=1e-10)
