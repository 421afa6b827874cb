"""The estimate against exact mathematics: every action weighed with its probability, no sampling left."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.policies.bandit import ARMS, EXAMPLE, rewards
from course.policies.reinforce import Update, gradient_variance, reinforce
from course.policies.softmax import Floats, softmax

numbers = st.floats(-3, 3)
policies = st.lists(numbers, min_size=2, max_size=6).map(np.array)


def every_update(theta: Floats, paid: Floats, baseline: float) -> list[tuple[float, Update]]:
    """(probability, update) for each action: a draw in the middle of the stretch of each."""
    p = softmax(theta)
    ends = np.cumsum(p)
    updates = []
    for action in range(len(p)):
        u = ends[action] - p[action] / 2
        update = reinforce(theta, np.array(u), paid, np.array(baseline), lr=0.1)
        assert int(update.action) == action
        updates.append((float(p[action]), update))
    return updates


def objective(theta: Floats, paid: Floats) -> float:
    """J by hand, without the module under test."""
    weights = np.exp(theta)
    return float((weights / weights.sum() * paid).sum())


@settings(derandomize=True, deadline=None)
@given(theta=policies, baseline=numbers, seed=st.integers(0, 99))
def test_the_mean_estimate_is_the_derivative_of_expected_reward_whatever_the_baseline(
    theta: Floats, baseline: float, seed: int
) -> None:
    paid = np.random.default_rng(seed).random(len(theta))
    estimate = sum(p * update.gradient for p, update in every_update(theta, paid, baseline))
    weights = np.exp(theta) / np.exp(theta).sum()
    exact = np.array([weights[b] * (paid[b] - objective(theta, paid)) for b in range(len(theta))])
    np.testing.assert_allclose(estimate, exact, atol=1e-10)
    eps = 1e-6
    for arm, unit in enumerate(np.eye(len(theta))):
        slope = (objective(theta + eps * unit, paid) - objective(theta - eps * unit, paid)) / (2 * eps)
        assert exact[arm] == pytest.approx(slope, abs=1e-8)


@settings(derandomize=True, deadline=None)
@given(theta=policies, baseline=numbers)
def test_the_variance_formula_is_the_enumerated_variance(theta: Floats, baseline: float) -> None:
    paid = np.array([float(arm % 2) for arm in range(len(theta))])
    weighed = every_update(theta, paid, baseline)
    mean = sum(p * update.gradient for p, update in weighed)
    variance = sum(p * float(((update.gradient - mean) ** 2).sum()) for p, update in weighed)
    assert float(gradient_variance(softmax(theta), paid, np.array(baseline))) == pytest.approx(variance, abs=1e-10)


def test_an_update_is_the_one_worked_by_hand() -> None:
    paid = np.array([0.0, 1.0])
    update = reinforce(np.zeros(2), np.array(0.75), paid, np.array(0.25), lr=2.0)
    assert update.action == 1
    assert [float(update.reward), float(update.advantage)] == [1.0, 0.75]
    assert update.direction.tolist() == [-0.5, 0.5]
    assert update.gradient.tolist() == [-0.375, 0.375]
    assert update.new_theta.tolist() == [-0.75, 0.75]
    assert update.new_p.tolist() == pytest.approx([1 / (1 + np.exp(1.5)), 1 / (1 + np.exp(-1.5))])


def test_a_thousand_runs_at_once_are_a_thousand_single_runs() -> None:
    draw = np.random.default_rng(0)
    thetas, draws, baselines = draw.normal(size=(1000, 4)), draw.random(1000), draw.random(1000)
    together = reinforce(thetas, draws, rewards(), baselines, 0.3)
    for run in (0, 1, 499, 999):
        alone = reinforce(thetas[run], draws[run], rewards(), baselines[run], 0.3)
        for part, of_all in zip(alone, together, strict=True):
            np.testing.assert_array_equal(part, of_all[run])


def test_the_verifier_pays_the_arms() -> None:
    assert EXAMPLE["expected_answer"] == 17 * 19
    assert dict(zip(ARMS, rewards().tolist(), strict=True)) == {
        "The answer is 323.": 0.0,
        "Final: 323": 1.0,
        "Final: 332": 0.0,
        "Final: 323\n": 1.0,
    }
