"""The KL-regularised optimum against exact enumeration, finite differences, SciPy and random policies.

The worked example. A reference of 1/2, 1/4, 1/4 and rewards of beta · ln 1, beta · ln 2, beta · ln 4: the closed form
weights them 1/2 · 1, 1/4 · 2, 1/4 · 4, which is 1/4, 1/4, 1/2 after division by their sum.
"""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy_when_asked import scipy

from course.policies.kl_regularised import best_of_n, closed_form
from course.policies.softmax import Floats
from course.stats import best_of_n_kl, best_of_n_kl_bound

REFERENCE = np.array([0.4, 0.3, 0.2, 0.07, 0.03])
REWARDS = np.array([0.1, 0.0, 0.5, 0.5, 1.0])
BETAS = (5.0, 1.0, 0.3, 0.1, 0.03)


def j(p: Floats, reference: Floats, rewards: Floats, beta: float) -> float:
    """The objective by SciPy."""
    return float(p @ rewards - beta * scipy.stats.entropy(p, reference))


@pytest.mark.parametrize("beta", [1.0, 0.25, 40.0])
def test_the_closed_form_by_hand(beta: float) -> None:
    reference = np.array([0.5, 0.25, 0.25])
    rewards = beta * np.log([1.0, 2.0, 4.0])
    assert closed_form(reference, rewards, beta) == pytest.approx(np.array([0.25, 0.25, 0.5]), abs=1e-15)
    assert closed_form(reference, rewards - 7, beta) == pytest.approx(np.array([0.25, 0.25, 0.5]), abs=1e-13)


@pytest.mark.parametrize("beta", BETAS)
def test_no_policy_of_ten_thousand_is_better_than_the_closed_form(beta: float) -> None:
    best = closed_form(REFERENCE, REWARDS, beta)
    draw = np.random.default_rng(11)
    anywhere = draw.dirichlet(np.ones(5), size=5_000)
    nearby = draw.dirichlet(1e4 * best + 1e-2, size=5_000)
    policies = np.concatenate([anywhere, nearby])
    scores = policies @ REWARDS - beta * scipy.stats.entropy(policies, REFERENCE[None, :], axis=-1)
    assert j(best, REFERENCE, REWARDS, beta) >= scores.max()
    assert j(best, REFERENCE, REWARDS, beta) - scores.max() < 1e-3  # they did come near


@pytest.mark.parametrize("beta", [5.0, 1.0, 0.3])
def test_plain_gradient_ascent_ends_at_the_closed_form(beta: float) -> None:
    theta = np.zeros(5)
    for _ in range(4_000):
        p = scipy.special.softmax(theta)
        value = REWARDS - beta * np.log(p / REFERENCE)
        theta = theta + p * (value - p @ value) / beta
    assert scipy.special.softmax(theta) == pytest.approx(closed_form(REFERENCE, REWARDS, beta), abs=1e-8)


def test_an_infinite_beta_gives_the_reference() -> None:
    assert closed_form(REFERENCE, REWARDS, math.inf) == pytest.approx(REFERENCE, abs=1e-15)


@pytest.mark.parametrize("beta", [1e-3, 1e-300, 5e-324])
def test_a_tiny_beta_leaves_the_best_actions_in_the_proportions_of_the_reference(beta: float) -> None:
    assert closed_form(REFERENCE, REWARDS, beta) == pytest.approx(np.array([0, 0, 0, 0, 1]), abs=1e-200)
    tied = np.array([0.0, 1.0, 0.0, 1.0, 0.0])
    assert closed_form(REFERENCE, 1e5 + tied, beta) == pytest.approx(
        np.array([0, 0.3 / 0.37, 0, 0.07 / 0.37, 0]), abs=1e-12
    )


@pytest.mark.parametrize("beta", [0.0, -1.0, math.nan])
def test_beta_must_be_above_0(beta: float) -> None:
    with pytest.raises(ValueError, match=r"^expected beta > 0: without a penalty every mix of the best actions"):
        closed_form(REFERENCE, REWARDS, beta)


def test_a_reference_without_a_probability_for_some_action_is_refused() -> None:
    without = np.array([0.5, 0.5, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"^expected a reference that gives every action a probability above 0$"):
        closed_form(without, REWARDS, 1.0)


@pytest.mark.parametrize(
    "rewards",
    [
        [0.1, 0.7, 0.3, 0.9],
        [1, 0, 1, 0],
        [2, 2, 2, 2],
        [0.5, 0.2, 0.5, 0.1],
    ],
)
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_best_of_n_is_what_all_draws_say_with_ties_to_the_first(rewards: list[float], n: int) -> None:
    reference = np.array([0.1, 0.2, 0.3, 0.4])
    chances = np.zeros(4)
    for draws in product(range(4), repeat=n):
        chosen = draws[0]
        for action in draws[1:]:
            if rewards[action] > rewards[chosen]:
                chosen = action
        chances[chosen] += math.prod(reference[action] for action in draws)
    assert best_of_n(reference, np.array(rewards), n) == pytest.approx(chances, abs=1e-14)


def test_best_of_one_is_the_reference_to_the_bit() -> None:
    assert best_of_n(REFERENCE, REWARDS, 1).tolist() == REFERENCE.tolist()


def test_a_rare_best_action_keeps_all_its_digits() -> None:
    rare = 1e-19
    assert best_of_n(np.array([1.0, rare]), np.array([0.0, 1.0]), 32)[1] == pytest.approx(32 * rare, rel=1e-12)


def test_best_of_0_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^expected N of at least 1$"):
        best_of_n(REFERENCE, REWARDS, 0)


@pytest.mark.parametrize("n", [1, 2, 4, 32])
@pytest.mark.parametrize("p", [0.5, 0.03, 0.9])
def test_a_reward_of_0_or_1_gives_the_binary_formula(p: float, n: int) -> None:
    reference = np.array([p / 3, 2 * p / 3, 1 - p])
    rewards = np.array([1.0, 1.0, 0.0])
    assert scipy.stats.entropy(best_of_n(reference, rewards, n), reference) == pytest.approx(
        best_of_n_kl(p, n), abs=1e-12
    )


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Floats, Floats]:
    """A reference and rewards, often tied."""
    weights = draw(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=6))
    rewards = draw(st.lists(st.integers(0, 4), min_size=len(weights), max_size=len(weights)))
    return np.array(weights) / sum(weights), np.array(rewards, dtype=float)


@given(worlds(), st.integers(1, 200))
def test_the_kl_of_best_of_n_never_passes_its_bound(world: tuple[Floats, Floats], n: int) -> None:
    reference, rewards = world
    chosen = best_of_n(reference, rewards, n)
    assert chosen.sum() == pytest.approx(1.0, abs=1e-12)
    assert -1e-12 <= scipy.stats.entropy(chosen, reference) <= best_of_n_kl_bound(n) + 1e-12


@pytest.mark.parametrize("n", [2] + [pytest.param(n, marks=pytest.mark.slow) for n in (4, 8, 16)])
def test_best_of_n_is_never_above_the_closed_form_at_the_same_kl(n: int) -> None:
    draw = np.random.default_rng(n)
    for _ in range(25):
        reference = draw.dirichlet(np.full(6, 2.0))
        rewards = draw.permutation(6) / 5
        chosen = best_of_n(reference, rewards, n)
        distance = float(scipy.stats.entropy(chosen, reference))

        def too_far(
            beta: float, reference: Floats = reference, rewards: Floats = rewards, kl: float = distance
        ) -> float:
            return float(scipy.stats.entropy(closed_form(reference, rewards, beta), reference)) - kl

        beta = scipy.optimize.brentq(too_far, 1e-3, 1e3, xtol=1e-13)
        assert chosen @ rewards < closed_form(reference, rewards, beta) @ rewards
