"""The network, its gradient and its KL to another, against the same in loops and by finite differences.

The worked example. The untrained policy has zero output weights, so each of its V tokens has probability 1 / V: the
completion "ab" with its END, three tokens, has the log-probability −3 ln V. One step of maximum likelihood on it with
the gradient [a = b] − p raises that, and it lowers that of every other completion of the same prefix.
"""

import math
from typing import Any

import numpy as np
import pytest
from tiny_policies import (
    PROMPTS,
    all_completions,
    assert_close,
    gradient_by_loops,
    log_p,
    next_p,
    same_bits,
    seen_of,
    slopes,
    stacked,
    tiny,
)

from course.policies import token_policy
from course.policies.softmax import Floats
from course.policies.token_policy import (
    RECENT,
    Activations,
    Policy,
    Vocabulary,
    Weights,
    forward,
    gradient,
    initial_policy,
    log_probs,
    log_ratio,
    sequence_kl,
)

ROWS = [[1, 2, 2, 1, 0], [0], [2, 1, 2, 1, 2, 1], [2, 0]]  # one for each of PROMPTS; the third was cut at the limit
POLICY = tiny(max_tokens=6)
WEIGHTS = [[1.0] * 4, [0.25, -0.75, 2.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -3.5, 1e-3]]


def test_the_worked_example() -> None:
    policy = initial_policy(["a", "b"], 2, 3, 9, np.random.default_rng(0))
    prompts = policy.encode_prompts(["a", "a"])
    both = policy.encode_completions(["12", "4"])
    before = log_probs(policy, prompts, both)
    assert before[0, :3].tolist() == pytest.approx([-math.log(len(policy.vocabulary))] * 3)
    stepped = policy.apply_gradient(gradient(policy, prompts, both, np.array([[1.0], [0.0]])), 0.5)
    after = log_probs(stepped, prompts, both)
    assert after[0].sum() > before[0].sum()
    assert after[1, 0] < before[1, 0]


def test_the_tokens_of_a_prompt_are_those_at_the_positions_and_padding_where_there_are_none() -> None:
    assert POLICY.encode_prompts(PROMPTS).tolist() == [[2, 2], [1, 3], [3, 3], [1, 2]]
    assert POLICY.encode_prompts(["a?b", "??"]).tolist() == [[1, 2], [3, 3]]
    assert tiny(positions=()).encode_prompts(PROMPTS).shape == (4, 0)
    assert POLICY.encode_prompts([]).shape == (0, 2)


def test_the_log_probability_of_each_token_is_that_of_the_network_in_loops_and_zero_beyond_the_last() -> None:
    computed = log_probs(POLICY, POLICY.encode_prompts(PROMPTS), stacked(3, ROWS))
    assert computed.shape == (4, 6)
    for row, prompt, values in zip(ROWS, PROMPTS, computed, strict=True):
        seen = seen_of(POLICY, prompt)
        whole = [log_p(POLICY, seen, row[: t + 1]) for t in range(len(row))]
        assert np.cumsum(values[: len(row)]).tolist() == pytest.approx(whole, abs=1e-12)
        assert values[len(row) :].tolist() == [0.0] * (6 - len(row))


def test_a_policy_sees_its_last_three_tokens_and_none_before_them() -> None:
    assert RECENT == 3
    view = POLICY.encode_prompts(["bab", "bab"])
    tails = [[1, 1, 2, 1, 2], [2, 1, 2, 1, 2]]
    one, other = log_probs(POLICY, view, stacked(3, tails))
    assert one[4] == other[4]  # the first token is out of view
    assert one[3] != other[3]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("limit", [1, 4, 5])
def test_the_probabilities_of_all_that_can_be_written_sum_to_one(prompt: str, limit: int) -> None:
    rows = list(all_completions(3, limit))
    assert len(rows) == len(set(map(tuple, rows))) == 2 ** (limit + 1) - 1
    computed = log_probs(POLICY, POLICY.encode_prompts([prompt] * len(rows)), stacked(3, rows)).sum(axis=1)
    assert math.fsum(np.exp(computed)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("weight", WEIGHTS)
@pytest.mark.parametrize("policy", [POLICY, tiny(1, max_tokens=6, scale=1.5)])
def test_the_gradient_is_the_finite_difference_in_every_weight(policy: Policy, weight: list[float]) -> None:
    seen = [seen_of(policy, prompt) for prompt in PROMPTS]

    def weighted(one: Policy) -> float:
        return sum(p * log_p(one, view, row) for p, view, row in zip(weight, seen, ROWS, strict=True))

    direction = gradient(policy, policy.encode_prompts(PROMPTS), stacked(3, ROWS), np.array(weight)[:, None])
    assert_close(direction, slopes(weighted, policy), 1e-6)
    assert_close(direction, gradient_by_loops(policy, seen, ROWS, weight), 1e-12)
    assert all(np.any(part != 0) for part in direction)


def test_a_credit_for_each_token_is_the_finite_difference_too() -> None:
    """A token without credit, such as the END, is not pushed, and is still read by the tokens behind it."""
    credit = np.random.default_rng(0).normal(size=(4, 6))
    credit[0] = [0.0, 0.0, 0.0, 0.0, 1.5, 0.0]
    credit[3, 1] = 0.0
    seen = [seen_of(POLICY, prompt) for prompt in PROMPTS]

    def credited(one: Policy) -> float:
        total = 0.0
        for view, row, shares in zip(seen, ROWS, credit.tolist(), strict=True):
            so_far = [0.0] + [log_p(one, view, row[: t + 1]) for t in range(len(row))]
            total += sum(shares[t] * (so_far[t + 1] - so_far[t]) for t in range(len(row)))
        return total

    direction = gradient(POLICY, POLICY.encode_prompts(PROMPTS), stacked(3, ROWS), credit)
    assert_close(direction, slopes(credited, POLICY), 1e-6)


def test_a_credit_without_its_column_is_refused_because_n_may_be_t() -> None:
    with pytest.raises(ValueError, match=r"\[N, T\] or \[N, 1\], got \[4\]"):
        gradient(POLICY, POLICY.encode_prompts(PROMPTS), stacked(3, ROWS), np.ones(4))


def test_a_completion_of_weight_zero_adds_nothing_and_costs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    prefixes: list[int] = []

    def counted(weights: Weights, context: Any) -> Activations:
        prefixes.append(len(context))
        return forward(weights, context)

    monkeypatch.setattr(token_policy, "forward", counted)
    seen = [seen_of(POLICY, prompt) for prompt in PROMPTS]
    prompts = POLICY.encode_prompts(PROMPTS)
    for weight in ([0.0, 0.7, 0.0, -0.2], [0.0] * 4):
        direction = gradient(POLICY, prompts, stacked(3, ROWS), np.array(weight)[:, None])
        assert_close(direction, gradient_by_loops(POLICY, seen, ROWS, weight), 1e-12)
    assert prefixes == [len(ROWS[1]) + len(ROWS[3]), 0]


def test_the_gradient_reaches_the_vector_of_nothing_and_that_of_each_token_seen() -> None:
    direction = gradient(POLICY, POLICY.encode_prompts([""]), stacked(3, [[1, 0]]), np.ones((1, 1)))
    assert [bool(row.any()) for row in direction.vectors] == [False, True, False, True]


def test_apply_gradient_is_weights_plus_lr_times_direction_and_leaves_the_old_policy_alone() -> None:
    before, direction = tiny(0), tiny(1).weights
    stepped = before.apply_gradient(direction, 0.25)
    assert stepped[:3] == before[:3]
    for old, change, new in zip(before.weights, direction, stepped.weights, strict=True):
        for x, y, found in zip(old.ravel().tolist(), change.ravel().tolist(), new.ravel().tolist(), strict=True):
            assert found == pytest.approx(x + 0.25 * y, abs=1e-15)
    assert same_bits(before, tiny(0))
    assert not same_bits(before, stepped)


def test_large_weights_overflow_nowhere() -> None:
    weights = POLICY.weights._replace(out_bias=np.array([1e4, -1e4, 1e4]))
    network = forward(weights, np.array([[3, 3, 3, 3, 3]]))
    assert network.p[0, 1] == 0.0
    assert network.log_p[0, 1] == pytest.approx(-2e4, abs=10)
    assert network.p.sum() == pytest.approx(1.0, abs=1e-15)
    assert network.log_p[0, 0] == pytest.approx(math.log(network.p[0, 0]), abs=1e-12)


def test_nor_does_one_prefix_push_another_under_the_smallest_number() -> None:
    weights = POLICY.weights._replace(out=1e4 * POLICY.weights.out, out_bias=np.zeros(3))
    contexts = np.array([[1, 2, 3, 1, 2], [2, 1, 1, 2, 1], [3, 3, 3, 3, 3]])
    together = forward(weights, contexts)
    assert np.ptp(together.hidden @ weights.out) > 2e4
    for row, context in enumerate(contexts):
        alone = forward(weights, context[None])
        assert together.log_p[row].tolist() == pytest.approx(alone.log_p[0].tolist(), rel=1e-12)
        assert together.p[row].sum() == pytest.approx(1.0, abs=1e-15)


def test_texts_become_tokens_with_an_end_each() -> None:
    written = tiny().encode_completions(["ab", "", "bbb"])
    assert written.tokens.tolist() == [[1, 2, 0, 3], [0, 3, 3, 3], [2, 2, 2, 0]]
    assert written.lengths.tolist() == [3, 1, 4]
    assert written.mask.tolist() == [[True, True, True, False], [True, False, False, False], [True] * 4]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_the_mean_sequence_kl_is_the_kl_over_whole_completions(prompt: str) -> None:
    policy = tiny(0, max_tokens=4)
    reference = tiny(1, max_tokens=4)
    rows = list(all_completions(3, 4))
    seen = seen_of(policy, prompt)
    kl = sequence_kl(policy, reference, policy.encode_prompts([prompt] * len(rows)), stacked(3, rows))
    ours = [log_p(policy, seen, row) for row in rows]
    theirs = [log_p(reference, seen, row) for row in rows]
    exact = sum(math.exp(p) * (p - q) for p, q in zip(ours, theirs, strict=True))
    assert exact > 0.05
    assert kl.min() >= 0.0
    assert float(np.exp(ours) @ kl) == pytest.approx(exact, abs=1e-12)
    ratios = log_ratio(policy, reference, policy.encode_prompts([prompt] * len(rows)), stacked(3, rows))
    assert ratios.tolist() == pytest.approx([p - q for p, q in zip(ours, theirs, strict=True)], abs=1e-12)


def test_the_sequence_kl_of_one_completion_is_the_sum_over_its_prefixes_in_loops() -> None:
    reference = tiny(1, max_tokens=6)
    kl = sequence_kl(POLICY, reference, POLICY.encode_prompts(PROMPTS), stacked(3, ROWS))
    for row, prompt, value in zip(ROWS, PROMPTS, kl.tolist(), strict=True):
        padded = [3, 3, 3, *row]
        expected = 0.0
        for t in range(len(row)):
            ours = next_p(POLICY, seen_of(POLICY, prompt) + padded[t : t + 3])
            theirs = next_p(reference, seen_of(reference, prompt) + padded[t : t + 3])
            expected += sum(p * math.log(p / q) for p, q in zip(ours, theirs, strict=True))
        assert value == pytest.approx(expected, abs=1e-12)


def test_a_policy_is_at_no_distance_from_itself() -> None:
    kl = sequence_kl(POLICY, tiny(max_tokens=6), POLICY.encode_prompts(PROMPTS), stacked(3, ROWS))
    assert kl.dtype == np.float64
    assert kl.tolist() == [0.0] * 4


def fresh(seed: int = 0, prompts: list[str] | None = None, width: int = 2, hidden: int = 4) -> Policy:
    return initial_policy(
        prompts or ["Add 1 + 2.", "Add 13 + 2.", "Add 1 + 4."], width, hidden, 9, np.random.default_rng(seed)
    )


def test_an_untrained_policy_writes_every_token_with_the_same_probability() -> None:
    policy = fresh()
    rows = [[1, 2, 3, 4, 0], [0], [18, 17]]
    prompts = ["Add 1 + 2.", "Add 13 + 2.", "?"]
    found: Floats = log_probs(policy, policy.encode_prompts(prompts), stacked(len(policy.vocabulary), rows))
    for row, values in zip(rows, found.tolist(), strict=True):
        assert values[: len(row)] == pytest.approx([-math.log(len(policy.vocabulary))] * len(row), abs=1e-14)


def test_it_has_the_pieces_the_prompts_need_and_the_shapes_that_go_with_them() -> None:
    policy = fresh()
    assert policy.vocabulary == Vocabulary.of(["Add 1 + 2.", "Add 13 + 2.", "Add 1 + 4."])
    assert policy.max_tokens == 9
    size = len(policy.vocabulary)
    inputs = (len(policy.positions) + 3) * 2
    assert [weight.shape for weight in policy.weights] == [(size + 1, 2), (inputs, 4), (4,), (4, size), (size,)]
    assert all(weight.dtype == np.float64 for weight in policy.weights)


def test_it_looks_only_where_the_prompts_differ() -> None:
    assert fresh().positions == (3, 4, 5, 6, 7, 8)  # from the 3 of the second on, which moves the rest of it
    assert fresh(prompts=["Add 1 + 2.", "Add 3 + 2.", "Add 1 + 4."]).positions == (2, 6)
    assert fresh(prompts=["Add 1.", "Add 1.", "Add 1.?"]).positions == (4,)
    assert fresh(prompts=["Add 1 + 2."]).positions == ()


def test_its_start_depends_on_the_generator_and_its_first_layers_are_drawn_wide_enough_to_learn_from() -> None:
    assert same_bits(fresh(3), fresh(3))
    assert not same_bits(fresh(3), fresh(4))
    wide = fresh(0, None, 300, 50)
    inputs = len(wide.weights.hidden)
    assert wide.weights.vectors.std() == pytest.approx(0.7, rel=0.05)
    assert wide.weights.hidden.std() == pytest.approx(inputs**-0.5, rel=0.05)
    assert wide.weights.vectors.mean() == pytest.approx(0, abs=0.05)
    assert [bool(weight.any()) for weight in wide.weights] == [True, True, False, False, False]


def test_a_gradient_can_be_handed_on_as_weights() -> None:
    direction = gradient(POLICY, POLICY.encode_prompts(PROMPTS), stacked(3, ROWS), np.ones((4, 1)))
    assert isinstance(direction, Weights)
    assert [part.shape for part in direction] == [weight.shape for weight in POLICY.weights]
