"""Sampled completions against their exact probabilities, and the two settings against their definitions.

The worked example. With p = [0.5, 0.3, 0.2], temperature 0.5 squares them: [0.25, 0.09, 0.04] / 0.38. top_p 0.7 keeps
the two most probable, which hold 0.8, and scales them: [0.625, 0.375, 0].
"""

import math
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy_when_asked import scipy
from tiny_policies import PROMPTS, all_completions, contexts, log_p, next_p, seen_of, stacked, tiny, unstacked

from course.policies.softmax import Floats
from course.policies.token_policy import sample_completions, sampling_distribution

POLICY = tiny(max_tokens=4)
LIMIT = 4
ROWS = list(all_completions(3, LIMIT))
SETTINGS = [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 0.5), (1.0, 0.9), (0.5, 0.9), (2.0, 0.75), (1.0, 1e-9)]


def test_the_worked_example() -> None:
    log_p = np.log([[0.5, 0.3, 0.2]])
    assert sampling_distribution(log_p, 0.5, 1.0)[0] == pytest.approx([0.25 / 0.38, 0.09 / 0.38, 0.04 / 0.38])
    assert sampling_distribution(log_p, 1.0, 0.7)[0] == pytest.approx([0.625, 0.375, 0.0])


def defined(p: list[float], temperature: float, top_p: float) -> list[float]:
    """p, sharpened, then cut: from the two definitions."""
    if temperature == 0:
        return [float(a == p.index(max(p))) for a in range(len(p))]
    powers = [(x / max(p)) ** (1 / temperature) for x in p]
    sharp = [power / sum(powers) for power in powers]
    kept: list[int] = []
    while top_p < 1 and sum(sharp[a] for a in kept) < top_p:
        kept.append(max((a for a in range(len(p)) if a not in kept), key=lambda a: (sharp[a], -a)))
    kept = kept or list(range(len(p)))
    whole = sum(sharp[a] for a in kept)
    return [sharp[a] / whole if a in kept else 0.0 for a in range(len(p))]


def in_logs(p: list[float]) -> Floats:
    return np.asarray(np.log([p]))


thetas = st.lists(st.floats(-6, 6) | st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=8)
temperatures = st.sampled_from([0.0, 0.05, 0.5, 1.0, 2.0, 10.0])
cuts = st.sampled_from([1e-9, 0.1, 0.5, 0.9, 0.999, 1.0])


@settings(max_examples=3 * settings().max_examples)
@given(theta=thetas, temperature=temperatures, top_p=cuts)
def test_what_is_drawn_from_is_sharpened_then_cut_as_defined(
    theta: list[float], temperature: float, top_p: float
) -> None:
    p = [math.exp(x) / sum(map(math.exp, theta)) for x in theta]
    assume(all(a == b or b - a > 1e-12 for a, b in pairwise(sorted(p))))
    if temperature and top_p < 1:  # what only rounding decides proves nothing: neither the order above nor this sum
        ranked = np.cumsum(sorted(defined(p, temperature, 1.0), reverse=True))
        assume(np.abs(ranked - top_p).min() > 1e-9)
    expected = defined(p, temperature, top_p)
    assert sampling_distribution(in_logs(p), temperature, top_p)[0].tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "temperature", "top_p", "expected"),
    [
        ([0.5, 0.3, 0.2], 1.0, 1.0, [0.5, 0.3, 0.2]),
        ([0.5, 0.3, 0.2], 0.5, 1.0, [25 / 38, 9 / 38, 4 / 38]),
        ([0.64, 0.16, 0.04, 0.16], 2.0, 1.0, [8 / 18, 4 / 18, 2 / 18, 4 / 18]),
        ([0.2, 0.5, 0.3], 1.0, 0.6, [0.0, 5 / 8, 3 / 8]),
        ([0.2, 0.5, 0.3], 1.0, 0.4, [0.0, 1.0, 0.0]),
        ([0.2, 0.5, 0.3], 1.0, 1e-9, [0.0, 1.0, 0.0]),
        ([0.2, 0.5, 0.3], 0.5, 0.6, [0.0, 1.0, 0.0]),  # sharpened first: 25/38 is enough alone
        ([0.2, 0.5, 0.3], 0.0, 1e-9, [0.0, 1.0, 0.0]),
        ([0.2, 0.4, 0.4], 0.0, 1.0, [0.0, 1.0, 0.0]),  # the first of equals
        ([0.25] * 4, 1.0, 0.5, [0.5, 0.5, 0.0, 0.0]),  # two hold exactly enough
        ([0.25] * 4, 1.0, 0.51, [1 / 3, 1 / 3, 1 / 3, 0.0]),
        ([0.25] * 4, 0.5, 0.25, [1.0, 0.0, 0.0, 0.0]),
        ([1.0], 0.5, 0.5, [1.0]),
    ],
)
def test_the_two_settings_by_hand(p: list[float], temperature: float, top_p: float, expected: list[float]) -> None:
    assert sampling_distribution(in_logs(p), temperature, top_p)[0].tolist() == pytest.approx(expected, abs=1e-15)


def test_each_row_is_settled_by_itself() -> None:
    p = [[0.2, 0.5, 0.3], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8]]
    for temperature, top_p in [
        (0.0, 1.0),
        (0.5, 0.6),
        (1.0, 0.95),
        (2.0, 1.0),
    ]:
        together = sampling_distribution(np.log(np.array(p)), temperature, top_p)
        for row, values in zip(p, together.tolist(), strict=True):
            assert values == pytest.approx(defined(row, temperature, top_p), abs=1e-12)


def test_at_one_nothing_is_cut_however_improbable() -> None:
    log_p = np.array([[-60.0, 0.0, -50.0]])
    assert sampling_distribution(log_p, 1.0, 1.0)[0].tolist() == pytest.approx(
        [math.exp(-60), 1.0, math.exp(-50)], rel=1e-12, abs=0
    )
    assert sampling_distribution(log_p, 0.5, 1.0)[0].tolist() == pytest.approx(
        [math.exp(-120), 1.0, math.exp(-100)], rel=1e-12, abs=0
    )


def test_a_temperature_near_zero_is_no_overflow() -> None:
    rows = np.log([[0.2, 0.5, 0.3], [0.98, 0.01, 0.01], [0.4, 0.4, 0.2]])
    assert sampling_distribution(rows, 1e-6, 1.0).tolist() == [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]


@pytest.mark.parametrize(("temperature", "top_p"), SETTINGS)
def test_each_completion_has_exactly_the_stretches_of_its_tokens_and_ends_where_it_ends(
    temperature: float, top_p: float
) -> None:
    """For every completion: draws just inside both ends of each token's stretch, and in its middle, write just it.

    The stretches of a prefix leave nothing of [0, 1) free, so their product is the completion's chance.
    """
    prompts, rows, draws = [], [], []
    for prompt in PROMPTS:
        whole = 0.0
        for row in ROWS:
            ps = [
                defined(next_p(POLICY, c), temperature, top_p) for c in contexts(POLICY, seen_of(POLICY, prompt), row)
            ]
            stretches = [(sum(p[:token]), sum(p[: token + 1])) for p, token in zip(ps, row, strict=True)]
            if chance := math.prod(end - start for start, end in stretches):
                whole += chance
                for where in (1e-9, 0.5, 1 - 1e-9):
                    u = [start + where * (end - start) for start, end in stretches]
                    prompts.append(prompt)
                    rows.append(row)
                    draws.append(list(u) + [0.99] * (LIMIT - len(u)))  # what is drawn for after the end is not used
        assert whole == pytest.approx(1.0, abs=1e-12)
    completions = sample_completions(POLICY, POLICY.encode_prompts(prompts), np.array(draws), temperature, top_p)
    expected = stacked(3, rows)
    assert completions.tokens.tolist() == expected.tokens.tolist()  # V, nothing, beyond the end
    assert completions.lengths.tolist() == expected.lengths.tolist()


def test_the_frequencies_of_random_draws_are_those_chances() -> None:
    count = 20_000
    u = np.random.default_rng(11).random((count, LIMIT))
    counts = Counter(map(tuple, unstacked(sample_completions(POLICY, POLICY.encode_prompts(["bab"] * count), u))))
    expected = [count * math.exp(log_p(POLICY, seen_of(POLICY, "bab"), row)) for row in ROWS]
    assert counts.keys() <= set(map(tuple, ROWS))
    assert scipy.stats.chisquare([counts[tuple(row)] for row in ROWS], expected).pvalue > 0.01


def test_at_temperature_zero_the_draws_do_not_matter() -> None:
    policy = tiny(4, max_tokens=6)
    view = tiny(4).encode_prompts(PROMPTS)
    found = [
        unstacked(sample_completions(policy, view, u, 0.0, 1.0)) for u in (np.zeros((4, 6)), np.full((4, 6), 0.999))
    ]
    assert found[0] == found[1]
    for prompt, row in zip(PROMPTS, found[0], strict=True):
        steps = list(contexts(policy, seen_of(policy, prompt), row))
        assert row == [int(np.argmax(next_p(policy, context))) for context in steps]
        assert 0 not in row[:-1]
        assert len(row) == 6 or row[-1] == 0


def test_the_draws_say_how_long_a_completion_may_become() -> None:
    unending = POLICY._replace(weights=POLICY.weights._replace(out_bias=np.array([-1e4, 0.0, 0.0])))
    for limit in (1, 2, 7):  # whatever limit the policy has of its own
        completions = sample_completions(
            unending, POLICY.encode_prompts(PROMPTS), np.random.default_rng(0).random((4, limit))
        )
        assert completions.lengths.tolist() == [limit] * 4
        assert set(completions.tokens.ravel().tolist()) <= {1, 2}


def test_the_arrays_are_as_long_as_the_longest_completion() -> None:
    ending = POLICY._replace(weights=POLICY.weights._replace(out_bias=np.array([1e4, 0.0, 0.0])))
    completions = sample_completions(ending, POLICY.encode_prompts(PROMPTS), np.random.default_rng(0).random((4, 7)))
    assert completions.tokens.tolist() == [[0]] * 4
    assert completions.lengths.tolist() == [1] * 4


def test_many_completions_side_by_side_are_those_written_one_at_a_time() -> None:
    prompts = PROMPTS * 10
    u = np.random.default_rng(2).random((40, 5))
    together = unstacked(sample_completions(POLICY, POLICY.encode_prompts(prompts), u, 0.5, 0.9))
    assert len(set(map(tuple, together))) > 5
    for prompt, draws, row in zip(prompts, u, together, strict=True):
        assert unstacked(sample_completions(POLICY, POLICY.encode_prompts([prompt]), draws[None], 0.5, 0.9)) == [row]
