"""The update on the average: everything that can be written, weighed with its probability, no sampling left."""

import itertools
import math
from functools import cache

import numpy as np
import pytest
from tiny_policies import PROMPTS, assert_close, everything_written, log_p, seen_of, slopes, stacked, tiny

from course.policies.softmax import Floats
from course.policies.token_learner import baseline_of
from course.policies.token_policy import Policy, Weights, gradient

pytestmark = pytest.mark.medium

POLICY, REFERENCE = tiny(0), tiny(1)
ROWS = list(everything_written(3, 3))
PAID = np.random.default_rng(5).choice([0.0, 1.0, 0.3, -2.0], len(ROWS))  # a reward for each of them
K = len(ROWS)


def chances(policy: Policy, prompt: str) -> Floats:
    seen = seen_of(policy, prompt)
    return np.array([math.exp(log_p(policy, seen, row)) for row in ROWS])


@cache
def exact(prompt: str) -> Weights:
    """∂J / ∂ weights by differences of J = Σ p(completion) · reward."""
    return slopes(lambda policy: float(chances(policy, prompt) @ PAID), POLICY)


def mean_estimate(prompt: str, group: int, objective: Floats, baselines: Floats) -> Weights:
    """Σ over all groups of p(group) · Σ_i advantage_i / N · ∂ log p(completion_i), as the update puts them together."""
    places = np.array(list(itertools.product(range(K), repeat=group)))  # [K^group, group]
    weight = chances(POLICY, prompt)[places].prod(axis=1)
    assert math.fsum(weight) == pytest.approx(1.0, abs=1e-12)
    push = weight[:, None] * (objective[places] - baselines.reshape(places.shape)) / group
    rows = [ROWS[place] for place in places.ravel()]
    return gradient(POLICY, POLICY.view([prompt] * len(rows)), stacked(3, rows), push.ravel())


def groups_of(group: int, objective: Floats) -> Floats:
    """The objectives of all groups, one after the other: as many steps side by side."""
    return np.array(list(itertools.product(objective, repeat=group))).ravel()


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("kind", ["none", "running"])
def test_without_a_group_the_mean_estimate_is_the_derivative_of_expected_reward(prompt: str, kind: str) -> None:
    baselines = baseline_of("none" if kind == "none" else "running", PAID, 1, 0.625)
    assert baselines.tolist() == [0.0 if kind == "none" else 0.625] * K
    assert_close(mean_estimate(prompt, 1, PAID, baselines), exact(prompt), 1e-8)


@pytest.mark.parametrize(("prompt", "group"), [*((prompt, 2) for prompt in PROMPTS), ("bab", 3)])
def test_with_the_mean_of_the_others_in_the_group_it_is_too(prompt: str, group: int) -> None:
    baselines = baseline_of("group", groups_of(group, PAID), group, 99.0)
    assert_close(mean_estimate(prompt, group, PAID, baselines), exact(prompt), 1e-8)


@pytest.mark.parametrize("group", [2, 3])
def test_with_ones_own_reward_in_the_mean_it_is_too_small_by_the_factor_that_is_named(group: int) -> None:
    objective = groups_of(group, PAID)
    whole = np.repeat(objective.reshape(-1, group).mean(axis=1), group)
    others = baseline_of("group", objective, group, 99.0)
    np.testing.assert_allclose(objective - whole, (group - 1) / group * (objective - others), atol=1e-14)
    shrunk = Weights(*((group - 1) / group * part for part in exact("a")))
    assert_close(mean_estimate("a", group, PAID, whole), shrunk, 1e-8)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_leash_in_the_objective_is_the_derivative_of_the_kl_over_completions(prompt: str) -> None:
    beta, seen = 0.7, seen_of(POLICY, prompt)
    theirs = np.array([log_p(REFERENCE, seen, row) for row in ROWS])

    def leashed(policy: Policy) -> float:
        p = chances(policy, prompt)
        return float(p @ PAID - beta * (p @ (np.log(p) - theirs)))

    objective = PAID - beta * (np.log(chances(POLICY, prompt)) - theirs)
    baselines = baseline_of("group", groups_of(2, objective), 2, 99.0)
    assert_close(mean_estimate(prompt, 2, objective, baselines), slopes(leashed, POLICY), 1e-8)


def test_the_baselines_are_those_worked_by_hand() -> None:
    objective = np.array([1.0, 0.0, 0.5, 0.0, 0.0, 3.0])
    assert baseline_of("none", objective, 3, 0.25).tolist() == [0.0] * 6
    assert baseline_of("running", objective, 3, 0.25).tolist() == [0.25] * 6
    assert baseline_of("group", objective, 3, 0.25).tolist() == [0.25, 0.75, 0.5, 1.5, 1.5, 0.0]
    assert baseline_of("group", objective, 2, 0.25).tolist() == [0.0, 1.0, 0.0, 0.5, 3.0, 0.0]


def test_a_group_of_one_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(ValueError, match="at least two completions"):
        baseline_of("group", np.array([1.0, 0.0]), 1, 0.0)
