"""The two-step world against the enumeration of its four trajectories.

The worked example. With even probabilities each of the four trajectories has probability 1/4, and only 'Final: 323' has
reward 1: the expected return is 1/4. With the probability a of 'Final: ' and b of '323' after it, it is a · b.
"""

import itertools
import math

import numpy as np
import pytest

from course.policies.reinforce import return_to_go
from course.policies.softmax import grad_log_prob, softmax
from course.policies.two_step import ACTIONS, STATES, decode, expected_return, sample_trajectory
from course.toy_mdp import learn

THETA = np.array([[0.3, -0.4], [0.1, 0.9], [-0.7, 0.2]])
TRAJECTORIES = list(itertools.product((0, 1), (0, 1)))


def probabilities(logits: object) -> list[float]:
    weights = [math.exp(x) for x in np.asarray(logits).tolist()]
    return [weight / sum(weights) for weight in weights]


def draw_for(state: int, action: int) -> float:
    """A draw that samples this action in this state."""
    first, second = probabilities(THETA[state])
    return first / 2 if action == 0 else first + second / 2


def test_the_four_trajectories_write_four_texts() -> None:
    assert [decode(np.array(trajectory)) for trajectory in TRAJECTORIES] == [
        "Answer: 332",
        "Answer: 323",
        "Final: 332",
        "Final: 323",
    ]


def test_the_expected_return_is_the_probability_of_the_right_text() -> None:
    assert expected_return(np.zeros((STATES, ACTIONS))) == 0.25
    assert expected_return(THETA) == pytest.approx(probabilities(THETA[0])[1] * probabilities(THETA[2])[1])


@pytest.mark.parametrize(("first", "second"), TRAJECTORIES)
def test_a_trajectory_visits_the_state_that_its_first_token_leads_to(first: int, second: int) -> None:
    u = np.array([draw_for(0, first), draw_for(1 + first, second)])
    state, action = sample_trajectory(THETA, u)
    assert (state.tolist(), action.tolist()) == ([0, 1 + first], [first, second])


@pytest.mark.parametrize("baseline", [0.0, 0.37, -2.0])
def test_the_mean_estimate_over_all_trajectories_is_the_derivative_of_the_expected_return(baseline: float) -> None:
    mean = np.zeros((STATES, ACTIONS))
    for a, b in TRAJECTORIES:
        state = np.array([0, 1 + a])
        return_ = return_to_go(np.array([0.0, float((a, b) == (1, 1))]))
        weight = probabilities(THETA[0])[a] * probabilities(THETA[1 + a])[b]
        mean[state] += weight * (return_ - baseline)[:, None] * grad_log_prob(softmax(THETA[state]), np.array([a, b]))
    eps = 1e-6
    for place in itertools.product(range(STATES), range(ACTIONS)):
        change = np.zeros((STATES, ACTIONS))
        change[place] = eps
        slope = (expected_return(THETA + change) - expected_return(THETA - change)) / (2 * eps)
        assert mean[place] == pytest.approx(slope, abs=1e-9)
    by_hand = probabilities(THETA[0])[0] * probabilities(THETA[0])[1] * probabilities(THETA[2])[1]
    np.testing.assert_allclose(mean[0], [-by_hand, by_hand], atol=1e-10)


def test_many_updates_of_the_loop_average_to_that_derivative() -> None:
    """The first directions of 4,000 runs with other draws: their mean is p_b (r_b − J) at even probabilities."""
    draws = np.random.default_rng(4).random((4000, 1, 2))
    directions = np.array([next(learn(u, 0.5, np.ones(2))).direction for u in draws])
    error = directions.std(axis=0) / math.sqrt(len(directions)) + 1e-12
    expected = np.array([[-1 / 8, 1 / 8], [0, 0], [-1 / 8, 1 / 8]])
    assert (np.abs(directions.mean(axis=0) - expected) < 4 * error).all()
