"""The supervised start: which demonstrations it sees, what it makes of them, and that it gets better at them."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tiny_policies import assert_close, gradient_by_loops, same_bits

from course.policies.demonstrations import demonstrate
from course.policies.presets import Plan
from course.policies.softmax import Ints
from course.policies.token_learner import DEMONSTRATIONS, generator, imitate
from course.policies.token_policy import Policy, completions_of, log_probs

pytestmark = pytest.mark.medium

EXAMPLES: list[dict[str, Any]] = [
    {"id": f"{a}+{b}", "prompt": f"Compute {a} + {b}.", "expected_answer": a + b} for a in range(1, 4) for b in (2, 7)
]
ANSWERS = [3, 8, 4, 9, 5, 10]
PLAN = Plan(
    sft_steps=3,
    sft_lr=0.5,
    steps=0,
    prompts_a_step=1,
    group_size=1,
    lr=0.0,
    baseline="none",
    kl_coef=0.0,
    limit=12,
    width=3,
    hidden=5,
)


def demonstrated(seed: int, steps: int) -> list[tuple[Ints, list[str]]]:
    """The demonstrations of the first steps of a seed: which prompts, and the texts."""
    rng = generator(seed, "demonstrations")
    found = []
    for _ in range(steps):
        shown = rng.integers(len(EXAMPLES), size=256)
        found.append((shown, demonstrate(ANSWERS, shown, rng)))
    return found


def log_likelihood(policy: Policy, shown: Ints, texts: list[str]) -> float:
    view = policy.view([example["prompt"] for example in EXAMPLES])[shown]
    return float(log_probs(policy, view, completions_of(policy.pieces, texts)).sum(axis=1).mean())


def test_it_begins_with_a_policy_that_writes_every_token_with_the_same_probability() -> None:
    first = next(imitate(EXAMPLES, PLAN, 0))
    view = first.view([EXAMPLES[0]["prompt"]] * 2)
    texts = completions_of(first.pieces, ["Final: 3", "The answer is 7."])
    found = log_probs(first, view, texts)
    assert found[texts.written].tolist() == pytest.approx([-math.log(len(first.pieces))] * 10, abs=1e-14)


def test_it_yields_the_beginning_and_the_policy_after_each_step() -> None:
    assert len(list(imitate(EXAMPLES, PLAN, 0))) == 4
    assert len(list(imitate(EXAMPLES, PLAN._replace(sft_steps=0), 0))) == 1


def test_the_policy_has_the_sizes_of_the_plan_and_looks_where_the_prompts_differ() -> None:
    first = next(imitate(EXAMPLES, PLAN, 0))
    assert [len(first.weights.vectors.T), len(first.weights.hidden_bias), first.limit] == [3, 5, 12]
    assert first.places == (2, 6)  # Compute, space, digit, space, plus, space, digit, full stop


def test_each_step_is_one_of_maximum_likelihood_on_demonstrations_of_its_own() -> None:
    assert DEMONSTRATIONS == 256
    policies = list(imitate(EXAMPLES, PLAN, 5))
    for (before, after), (shown, texts) in zip(pairwise(policies), demonstrated(5, 3), strict=True):
        seen = before.view([EXAMPLES[prompt]["prompt"] for prompt in shown.tolist()]).tolist()
        rows = [[*before.pieces.tokens(text), 0] for text in texts]
        direction = gradient_by_loops(before, seen, rows, [1 / 256] * 256)
        expected = [old + 0.5 * change for old, change in zip(before.weights, direction, strict=True)]
        assert_close(after.weights, expected, 1e-12)


def test_the_likelihood_of_demonstrations_it_never_saw_rises() -> None:
    policies = list(imitate(EXAMPLES, PLAN._replace(sft_steps=120), 0))
    (shown, texts), *_ = demonstrated(99, 1)
    looks = [log_likelihood(policy, shown, texts) for policy in policies[::40]]
    length = np.mean([len(policies[0].pieces.tokens(text)) + 1 for text in texts])
    assert looks[0] == pytest.approx(-length * math.log(len(policies[0].pieces)))
    assert all(later > earlier + 0.05 for earlier, later in pairwise(looks))


def test_one_seed_gives_one_start_and_another_seed_another() -> None:
    one, again, other = (list(imitate(EXAMPLES, PLAN, seed)) for seed in (1, 1, 2))
    assert all(same_bits(*pair) for pair in zip(one, again, strict=True))
    assert not any(same_bits(*pair) for pair in zip(one, other, strict=True))


def test_the_first_weights_come_from_draws_of_their_own() -> None:
    first = next(imitate(EXAMPLES, PLAN, 7))
    shape = first.weights.vectors.shape
    assert first.weights.vectors.tolist() == np.random.default_rng([7, 0]).normal(0, 0.7, shape).tolist()
