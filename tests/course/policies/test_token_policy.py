"""The network, its gradient and its distance to another, against the same worked out in loops and by differences."""

import math

import numpy as np
import pytest
from tiny_policies import (
    AB,
    PROMPTS,
    assert_close,
    everything_written,
    gradient_by_loops,
    log_p,
    next_p,
    same_bits,
    seen_of,
    slopes,
    stacked,
    tiny,
)

from course.policies.softmax import Floats
from course.policies.token_policy import (
    RECENT,
    Policy,
    Weights,
    completions_of,
    forward,
    gradient,
    kl_along,
    log_probs,
    untrained,
)
from course.policies.vocabulary import Pieces

ROWS = [[1, 2, 2, 1, 0], [0], [2, 1, 2, 1, 2, 1], [2, 0]]  # one for each of PROMPTS; the third was cut at the limit
POLICY = tiny(limit=6)
PUSHES = [[1.0] * 4, [0.25, -0.75, 2.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0, 0.0, -3.5, 1e-3]]


def test_what_is_seen_of_a_prompt_is_what_stands_at_the_places_and_nothing_where_nothing_stands() -> None:
    assert POLICY.view(PROMPTS).tolist() == [[2, 2], [1, 3], [3, 3], [1, 2]]
    assert POLICY.view(["a?b", "??"]).tolist() == [[1, 2], [3, 3]]
    assert tiny(places=()).view(PROMPTS).shape == (4, 0)
    assert POLICY.view([]).shape == (0, 2)


def test_the_log_probability_of_each_token_is_that_of_the_network_in_loops_and_zero_beyond_the_last() -> None:
    found = log_probs(POLICY, POLICY.view(PROMPTS), stacked(3, ROWS))
    assert found.shape == (4, 6)
    for row, prompt, values in zip(ROWS, PROMPTS, found, strict=True):
        seen = seen_of(POLICY, prompt)
        whole = [log_p(POLICY, seen, row[: t + 1]) for t in range(len(row))]
        assert np.cumsum(values[: len(row)]).tolist() == pytest.approx(whole, abs=1e-12)
        assert values[len(row) :].tolist() == [0.0] * (6 - len(row))


def test_a_policy_sees_its_last_three_tokens_and_none_before_them() -> None:
    assert RECENT == 3
    view, tails = POLICY.view(["bab", "bab"]), [[1, 1, 2, 1, 2], [2, 1, 2, 1, 2]]
    one, other = log_probs(POLICY, view, stacked(3, tails))
    assert one[4] == other[4]  # the first token is out of view
    assert one[3] != other[3]


@pytest.mark.parametrize("prompt", PROMPTS)
@pytest.mark.parametrize("limit", [1, 4, 5])
def test_the_probabilities_of_all_that_can_be_written_sum_to_one(prompt: str, limit: int) -> None:
    rows = list(everything_written(3, limit))
    assert len(rows) == len(set(map(tuple, rows))) == 2 ** (limit + 1) - 1
    found = log_probs(POLICY, POLICY.view([prompt] * len(rows)), stacked(3, rows)).sum(axis=1)
    assert math.fsum(np.exp(found)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("push", PUSHES)
@pytest.mark.parametrize("policy", [POLICY, tiny(1, limit=6, scale=1.5)])
def test_the_gradient_is_the_finite_difference_in_every_weight(policy: Policy, push: list[float]) -> None:
    seen = [seen_of(policy, prompt) for prompt in PROMPTS]

    def pushed(one: Policy) -> float:
        return sum(p * log_p(one, view, row) for p, view, row in zip(push, seen, ROWS, strict=True))

    found = gradient(policy, policy.view(PROMPTS), stacked(3, ROWS), np.array(push))
    assert_close(found, slopes(pushed, policy), 1e-6)
    assert_close(found, gradient_by_loops(policy, seen, ROWS, push), 1e-12)
    assert all(np.any(part != 0) for part in found)


def test_the_gradient_reaches_the_vector_of_nothing_and_that_of_each_token_seen() -> None:
    found = gradient(POLICY, POLICY.view([""]), stacked(3, [[1, 0]]), np.ones(1))
    assert [bool(row.any()) for row in found.vectors] == [False, True, False, True]


def test_a_move_is_weights_plus_lr_times_direction_and_leaves_the_old_policy_alone() -> None:
    before, direction = tiny(0), tiny(1).weights
    moved = before.moved(direction, 0.25)
    assert moved[:3] == before[:3]
    for old, change, new in zip(before.weights, direction, moved.weights, strict=True):
        for x, y, found in zip(old.ravel().tolist(), change.ravel().tolist(), new.ravel().tolist(), strict=True):
            assert found == pytest.approx(x + 0.25 * y, abs=1e-15)
    assert same_bits(before, tiny(0))
    assert not same_bits(before, moved)


def test_large_weights_overflow_nowhere() -> None:
    weights = POLICY.weights._replace(out_bias=np.array([1e4, -1e4, 1e4]))
    step = forward(weights, np.array([[3, 3, 3, 3, 3]]))
    assert step.p[0, 1] == 0.0
    assert step.log_p[0, 1] == pytest.approx(-2e4, abs=10)
    assert step.p.sum() == pytest.approx(1.0, abs=1e-15)
    assert step.log_p[0, 0] == pytest.approx(math.log(step.p[0, 0]), abs=1e-12)


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
    written = completions_of(AB, ["ab", "", "bbb"])
    assert written.tokens.tolist() == [[1, 2, 0, 3], [0, 3, 3, 3], [2, 2, 2, 0]]
    assert written.lengths.tolist() == [3, 1, 4]
    assert written.written.tolist() == [[True, True, True, False], [True, False, False, False], [True] * 4]


@pytest.mark.parametrize("prompt", PROMPTS)
def test_kl_along_what_is_written_is_on_the_average_the_kl_over_whole_completions(prompt: str) -> None:
    policy, reference, rows = tiny(0, limit=4), tiny(1, limit=4), list(everything_written(3, 4))
    seen = seen_of(policy, prompt)
    found = kl_along(policy, reference, policy.view([prompt] * len(rows)), stacked(3, rows))
    ours, theirs = ([log_p(one, seen, row) for row in rows] for one in (policy, reference))
    exact = sum(math.exp(p) * (p - q) for p, q in zip(ours, theirs, strict=True))
    assert exact > 0.05
    assert found.min() >= 0.0
    assert float(np.exp(ours) @ found) == pytest.approx(exact, abs=1e-12)


def test_kl_along_one_completion_is_the_sum_over_its_prefixes_in_loops() -> None:
    reference = tiny(1, limit=6)
    found = kl_along(POLICY, reference, POLICY.view(PROMPTS), stacked(3, ROWS))
    for row, prompt, value in zip(ROWS, PROMPTS, found.tolist(), strict=True):
        before = [[3, 3, 3, *row][t : t + 3] for t in range(len(row))]
        pairs = [[next_p(one, [*seen_of(one, prompt), *context]) for one in (POLICY, reference)] for context in before]
        assert value == pytest.approx(
            sum(p * math.log(p / q) for ours, theirs in pairs for p, q in zip(ours, theirs, strict=True)), abs=1e-12
        )


def test_a_policy_is_at_no_distance_from_itself() -> None:
    found = kl_along(POLICY, tiny(limit=6), POLICY.view(PROMPTS), stacked(3, ROWS))
    assert found.dtype == np.float64
    assert found.tolist() == [0.0] * 4


def fresh(seed: int = 0, prompts: list[str] | None = None, width: int = 2, hidden: int = 4) -> Policy:
    return untrained(
        prompts or ["Add 1 + 2.", "Add 13 + 2.", "Add 1 + 4."], width, hidden, 9, np.random.default_rng(seed)
    )


def test_an_untrained_policy_writes_every_token_with_the_same_probability() -> None:
    policy = fresh()
    rows = [[1, 2, 3, 4, 0], [0], [18, 17]]
    prompts = ["Add 1 + 2.", "Add 13 + 2.", "?"]
    found: Floats = log_probs(policy, policy.view(prompts), stacked(len(policy.pieces), rows))
    for row, values in zip(rows, found.tolist(), strict=True):
        assert values[: len(row)] == pytest.approx([-math.log(len(policy.pieces))] * len(row), abs=1e-14)


def test_it_has_the_pieces_the_prompts_need_and_the_shapes_that_go_with_them() -> None:
    policy = fresh()
    assert policy.pieces == Pieces.of(["Add 1 + 2.", "Add 13 + 2.", "Add 1 + 4."])
    assert policy.limit == 9
    size, inputs = len(policy.pieces), (len(policy.places) + 3) * 2
    assert [weight.shape for weight in policy.weights] == [(size + 1, 2), (inputs, 4), (4,), (4, size), (size,)]
    assert all(weight.dtype == np.float64 for weight in policy.weights)


def test_it_looks_only_where_the_prompts_differ() -> None:
    assert fresh().places == (3, 4, 5, 6, 7, 8)  # from the 3 of the second on, which moves the rest of it
    assert fresh(prompts=["Add 1 + 2.", "Add 3 + 2.", "Add 1 + 4."]).places == (2, 6)
    assert fresh(prompts=["Add 1.", "Add 1.", "Add 1.?"]).places == (4,)
    assert fresh(prompts=["Add 1 + 2."]).places == ()


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
    found = gradient(POLICY, POLICY.view(PROMPTS), stacked(3, ROWS), np.ones(4))
    assert isinstance(found, Weights)
    assert [part.shape for part in found] == [weight.shape for weight in POLICY.weights]
