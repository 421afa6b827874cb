"""The softmax policy against numbers worked by hand, finite differences and SciPy.

The worked example. theta = ln 1, ln 2, ln 5 gives p = 1/8, 2/8, 5/8. If action 1 is sampled, ∂ log p / ∂ theta is
−1/8, 1 − 2/8, −5/8: positive for the sampled action, negative for the others, 0 in sum.
"""

import math

import numpy as np
import pytest
from scipy_when_asked import scipy

from course.policies.softmax import (
    Floats,
    expected_reward,
    expected_reward_gradient,
    grad_log_prob,
    kl,
    sample,
    softmax,
)

STEP = 1e-6  # of a finite difference
LARGEST_DRAW = 1 - 2**-53  # of NumPy's generators, which draw multiples of 2^-53


def thetas(runs: int, actions: int) -> Floats:
    return np.random.default_rng(7).normal(scale=2.0, size=(runs, actions))


def defined(theta: Floats) -> Floats:
    """The softmax of K logits as it is defined."""
    return np.asarray(np.exp(theta) / np.exp(theta).sum())


def test_probabilities_by_hand() -> None:
    theta = np.log([[1.0, 2.0, 5.0], [3.0, 3.0, 3.0]])
    assert softmax(theta) == pytest.approx(np.array([[1 / 8, 2 / 8, 5 / 8], [1 / 3, 1 / 3, 1 / 3]]), abs=1e-15)
    assert grad_log_prob(softmax(theta[0]), np.array(1)) == pytest.approx(np.array([-1, 6, -5]) / 8, abs=1e-15)


def test_probabilities_are_those_of_scipy_row_by_row() -> None:
    theta = thetas(20, 5)
    assert softmax(theta) == pytest.approx(scipy.special.softmax(theta, axis=-1), abs=1e-15)
    assert softmax(theta.reshape(4, 5, 5)).reshape(20, 5) == pytest.approx(softmax(theta), abs=0)


def test_large_logits_do_not_overflow() -> None:
    assert softmax(np.array([1000.0, 1000.0, -1000.0])).tolist() == [0.5, 0.5, 0.0]
    assert softmax(np.array([-1000.0, -1000.0])).tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    ("u", "action"),
    [
        (0.0, 0),
        (0.2499, 0),
        (0.25, 1),
        (0.7499, 1),
        (0.75, 3),
        (0.999, 3),
        (LARGEST_DRAW, 3),
    ],
)
def test_a_sample_is_the_first_action_whose_cumulative_probability_exceeds_the_draw(u: float, action: int) -> None:
    assert int(sample(np.array([0.25, 0.5, 0.0, 0.25]), u)) == action


def test_a_first_action_of_probability_0_is_not_sampled_by_a_draw_of_0() -> None:
    assert int(sample(np.array([0.0, 1.0]), 0.0)) == 1


def test_probabilities_that_add_up_to_less_than_one_still_give_an_action() -> None:
    p = np.full(10, 0.1)
    assert p.cumsum()[-1] <= LARGEST_DRAW  # this is why
    assert int(sample(p, LARGEST_DRAW)) == 9


def test_one_such_run_beside_another_that_is_not_gets_its_own_action() -> None:
    assert sample(np.full((2, 10), 0.1), np.array([LARGEST_DRAW, 0.05])).tolist() == [9, 0]


def test_a_last_action_of_probability_0_is_not_sampled_then() -> None:
    assert int(sample(np.array([0.1] * 10 + [0.0]), LARGEST_DRAW)) == 9


def test_evenly_spaced_draws_sample_each_action_in_proportion() -> None:
    p = np.array([0.1, 0.2, 0.3, 0.4])
    draws = (np.arange(1000) + 0.5) / 1000
    counts = np.bincount(sample(np.broadcast_to(p, (1000, 4)), draws), minlength=4)
    assert counts.tolist() == [100, 200, 300, 400]


def test_each_run_has_its_own_draw() -> None:
    p = np.array([[0.5, 0.5], [0.5, 0.5], [0.0, 1.0]])
    assert sample(p, np.array([0.1, 0.9, 0.1])).tolist() == [0, 1, 1]


@pytest.mark.parametrize("action", range(4))
def test_the_gradient_of_a_log_probability_is_its_finite_difference(action: int) -> None:
    for theta in thetas(5, 4):
        slopes = []
        for shift in STEP * np.eye(4):
            up = math.log(defined(theta + shift)[action])
            down = math.log(defined(theta - shift)[action])
            slopes.append((up - down) / (2 * STEP))
        assert grad_log_prob(softmax(theta), np.array(action)) == pytest.approx(np.array(slopes), abs=1e-6)


def test_the_gradient_is_positive_for_the_sampled_action_only() -> None:
    p = np.array([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
    gradients = grad_log_prob(p, np.array([1, 0]))
    assert gradients == pytest.approx(np.array([[-0.2, 0.7, -0.5], [0.4, -0.3, -0.1]]), abs=1e-15)


def test_the_expected_reward_by_hand() -> None:
    p = np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])
    assert expected_reward(p, np.array([1.0, 0.0, -2.0])) == pytest.approx(np.array([-0.8, 1.0]), abs=1e-15)


def test_its_gradient_is_the_finite_difference() -> None:
    rewards = np.array([1.0, 0.0, 0.25, -3.0])
    for theta in thetas(5, 4):
        slopes = [
            (defined(theta + shift) @ rewards - defined(theta - shift) @ rewards) / (2 * STEP)
            for shift in STEP * np.eye(4)
        ]
        assert expected_reward_gradient(softmax(theta), rewards) == pytest.approx(np.array(slopes), abs=1e-6)


def test_the_mean_of_the_estimate_is_that_gradient_whatever_the_baseline() -> None:
    p, rewards = np.array([0.2, 0.3, 0.5]), np.array([1.0, 0.0, -2.0])
    for baseline in (0.0, -0.8, 5.0):
        average = sum(p[a] * (rewards[a] - baseline) * grad_log_prob(p, np.array(a)) for a in range(3))
        assert average == pytest.approx(expected_reward_gradient(p, rewards), abs=1e-15)


def test_kl_by_hand() -> None:
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25])
    assert float(kl(p, q)) == pytest.approx(0.5 * math.log(2), abs=1e-15)
    assert float(kl(q, q)) == 0.0
    assert float(kl(np.array([1.0, 0.0]), np.array([1.0, 0.0]))) == 0.0  # neither has any mass there


def test_kl_is_that_of_scipy_row_by_row() -> None:
    p, q = (np.random.default_rng(seed).dirichlet(np.ones(6), size=30) for seed in (1, 2))
    assert kl(p, q) == pytest.approx(scipy.stats.entropy(p, q, axis=-1), abs=1e-12)


def test_an_infinite_kl_is_refused_not_returned() -> None:
    with pytest.raises(ValueError, match=r"^KL\(p ‖ q\) needs q > 0 wherever p > 0$"):
        kl(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([[0.5, 0.5], [1.0, 0.0]]))
