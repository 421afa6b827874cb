"""The equations of REINFORCE against exact mathematics: every action weighted by its probability, nothing sampled.

The worked example. Two actions with even probabilities and rewards 0 and 1; the baseline is 0.25. Action 1 has the
advantage 0.75, and with ∂ log p / ∂ theta = [−½, ½] the direction [−0.375, 0.375]; action 0 has the advantage −0.25 and
the direction [−0.125, 0.125]. Their mean, [−0.25, 0.25], is the derivative of the expected reward, p_b (r_b − J).
"""

from itertools import accumulate
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.policies.reinforce import (
    apply_gradient,
    best_baseline,
    gradient_variance,
    leave_one_out,
    return_to_go,
    running_mean,
)
from course.policies.softmax import Floats, grad_log_prob, softmax

numbers = st.floats(-3, 3)
policies = st.lists(numbers, min_size=2, max_size=6).map(np.array)
lists = st.lists(numbers, min_size=1, max_size=8)


def estimates(theta: Floats, rewards: Floats, baseline: float) -> list[tuple[float, Floats]]:
    """(probability, direction) of each action."""
    p = softmax(theta)
    return [(p[a], (rewards[a] - baseline) * grad_log_prob(p, np.array(a))) for a in range(len(p))]


def objective(theta: Floats, rewards: Floats) -> float:
    """J by hand, without a function of the lab."""
    weights = np.exp(theta)
    return float((weights / weights.sum() * rewards).sum())


def test_the_worked_example() -> None:
    (_, zero), (_, one) = estimates(np.zeros(2), np.array([0.0, 1.0]), 0.25)
    assert (zero.tolist(), one.tolist()) == ([-0.125, 0.125], [-0.375, 0.375])
    assert apply_gradient(np.zeros(2), one, 2.0).tolist() == [-0.75, 0.75]


@settings(derandomize=True, deadline=None)
@given(theta=policies, baseline=numbers, seed=st.integers(0, 99))
def test_the_mean_estimate_is_the_derivative_of_expected_reward_whatever_the_baseline(
    theta: Floats, baseline: float, seed: int
) -> None:
    rewards = np.random.default_rng(seed).random(len(theta))
    mean = sum(p * direction for p, direction in estimates(theta, rewards, baseline))
    weights = np.exp(theta) / np.exp(theta).sum()
    exact = np.array([weights[b] * (rewards[b] - objective(theta, rewards)) for b in range(len(theta))])
    np.testing.assert_allclose(mean, exact, atol=1e-10)
    eps = 1e-6
    for arm, unit in enumerate(np.eye(len(theta))):
        slope = (objective(theta + eps * unit, rewards) - objective(theta - eps * unit, rewards)) / (2 * eps)
        assert exact[arm] == pytest.approx(slope, abs=1e-8)


@settings(derandomize=True, deadline=None)
@given(theta=policies, baseline=numbers)
def test_the_variance_formula_is_the_enumerated_variance(theta: Floats, baseline: float) -> None:
    rewards = np.array([float(arm % 2) for arm in range(len(theta))])
    weighted = estimates(theta, rewards, baseline)
    mean = sum(p * direction for p, direction in weighted)
    variance = sum(p * float(((direction - mean) ** 2).sum()) for p, direction in weighted)
    for given_as in (baseline, np.array(baseline)):
        assert float(gradient_variance(softmax(theta), rewards, given_as)) == pytest.approx(variance, abs=1e-10)


@pytest.mark.parametrize("p", [0.25, 0.5, 0.66, 0.67, 0.8, 0.99])
def test_of_two_arms_the_best_baseline_is_that_of_the_wrong_one_and_the_mean_reward_loses_from_two_thirds_on(
    p: float,
) -> None:
    """With b = J = p the variance is (1 − 2p)² / (1 − p)² of that with none: .44 at .25, 0 at .5, 9,604 at .99."""
    policy, rewards = np.array([1 - p, p]), np.array([0.0, 1.0])
    assert float(best_baseline(policy, rewards)) == pytest.approx(1 - p, abs=1e-12)
    none, mean = (float(gradient_variance(policy, rewards, b)) for b in (0.0, p))
    assert mean / none == pytest.approx(((1 - 2 * p) / (1 - p)) ** 2, rel=1e-9, abs=1e-12)
    assert (mean < none) is (p < 2 / 3)


@settings(derandomize=True, deadline=None)
@given(theta=policies, baseline=numbers, seed=st.integers(0, 99))
def test_a_baseline_lowers_the_variance_between_0_and_twice_the_best_one_only(
    theta: Floats, baseline: float, seed: int
) -> None:
    rewards = np.random.default_rng(seed).random(len(theta)) + 0.1
    p = softmax(theta)
    best = float(best_baseline(p, rewards))
    none, lowest, other = (float(gradient_variance(p, rewards, b)) for b in (0.0, best, baseline))
    assert lowest <= other + 1e-12
    if min(abs(baseline), abs(baseline - 2 * best)) > 1e-6:
        assert (other < none) is (0 < baseline < 2 * best)


def test_where_the_policy_is_certain_every_constant_is_the_best_and_the_mean_reward_is_given() -> None:
    p = np.array([[0.0, 1.0], [0.5, 0.5]])
    rewards = np.array([2.0, 3.0])
    assert best_baseline(p, rewards).tolist() == [3.0, 2.5]
    assert float(gradient_variance(p[0], rewards, 17.0)) == 0.0


@given(values=lists)
def test_a_running_mean_is_the_mean_of_what_there_was(values: list[float]) -> None:
    mean = 0.0
    for count, total in enumerate(accumulate(values), 1):
        mean = running_mean(mean, values[count - 1], count)
        assert mean == pytest.approx(total / count, abs=1e-12)


@given(rewards=lists)
def test_the_return_to_go_is_the_sum_of_the_rewards_from_a_step_on(rewards: list[float]) -> None:
    expected = [sum(rewards[step:]) for step in range(len(rewards))]
    assert return_to_go(np.array(rewards)).tolist() == pytest.approx(expected, abs=1e-12)


def test_leave_one_out_is_the_mean_of_the_others_of_the_group() -> None:
    assert leave_one_out(np.array([1.0, 2.0, 6.0, 0.0, 0.0, 3.0]), 3).tolist() == [4.0, 3.5, 1.5, 1.5, 1.5, 0.0]
    with pytest.raises(ValueError, match=r"^expected a group_size of at least 2: "):
        leave_one_out(np.array([1.0]), 1)


@pytest.mark.parametrize(("group_size", "below", "above"), [(4, 0.45, 0.68), (8, 0.55, 0.7)])
def test_leaving_one_out_lowers_the_variance_below_that_rate_and_raises_it_above(
    group_size: int, below: float, above: float
) -> None:
    """All outcomes of a group of two arms, enumerated: the variance of the group's mean gradient of one logit."""

    def variance(p: float, with_baseline: bool) -> float:
        first = second = 0.0
        for k in range(group_size + 1):  # k right ones, in any order: the mean depends on nothing else
            chance = comb(group_size, k) * p**k * (1 - p) ** (group_size - k)
            reward = np.array([1.0] * k + [0.0] * (group_size - k))
            advantage = reward - leave_one_out(reward, group_size) if with_baseline else reward
            mean = float((advantage * np.where(reward == 1, 1 - p, -p)).mean())
            first += chance * mean
            second += chance * mean**2
        return second - first**2

    assert variance(below, True) < variance(below, False)
    assert variance(above, True) > variance(above, False)
    crossing = (2 * group_size - 4) / (3 * group_size - 5)
    assert variance(crossing, True) == pytest.approx(variance(crossing, False), rel=1e-9)
