"""Token policies so small that all they can write can be listed, and their network a second time, from its definition.

The second network multiplies a one-hot row by the table and loops over prefixes, tokens and numbers. It shares no line
with the course's.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from course.policies.softmax import Floats
from course.policies.token_policy import Completions, Policy, Vocabulary, Weights

AB = Vocabulary(("", "a", "b"))
SEEN = 3  # tokens of its own that a policy sees
PROMPTS = ["bab", "a", "", "abbb"]  # at the positions 0 and 2 there is something, nothing beside it, nothing at all


def tiny(
    seed: int = 0,
    *,
    vocabulary: Vocabulary = AB,
    positions: tuple[int, ...] = (0, 2),
    max_tokens: int = 3,
    scale: float = 0.8,
) -> Policy:
    """A policy in which no weight is zero, so that every part of it counts."""
    rng, size, width, units = np.random.default_rng(seed), len(vocabulary), 2, 3
    shapes = [(size + 1, width), ((len(positions) + SEEN) * width, units), (units,), (units, size), (size,)]
    return Policy(vocabulary, positions, max_tokens, Weights(*(rng.normal(0, scale, shape) for shape in shapes)))


def all_completions(vocabulary: int, limit: int) -> Iterator[list[int]]:
    """Each completion there can be: those that end with END (0), and those cut at the limit."""
    others = range(1, vocabulary)
    for length in range(limit):
        yield from ([*begun, 0] for begun in itertools.product(others, repeat=length))
    yield from map(list, itertools.product(others, repeat=limit))


def stacked(vocabulary: int, rows: Sequence[Sequence[int]]) -> Completions:
    """Rows of tokens side by side, filled up with V."""
    longest = max(map(len, rows))
    tokens = [[*row, *[vocabulary] * (longest - len(row))] for row in rows]
    return Completions(np.array(tokens), np.array([len(row) for row in rows]))


def unstacked(completions: Completions) -> list[list[int]]:
    return [row[:n] for row, n in zip(completions.tokens.tolist(), completions.lengths.tolist(), strict=True)]


def seen_of(policy: Policy, prompt: str) -> list[int]:
    """The tokens at the policy's positions of a prompt made of one-character tokens, V where there is none."""
    return [
        policy.vocabulary.index(prompt[place]) if place < len(prompt) else len(policy.vocabulary)
        for place in policy.positions
    ]


def contexts(policy: Policy, seen: Sequence[int], row: Sequence[int]) -> Iterator[list[int]]:
    """The tokens that are read when each token of a row is sampled."""
    for t in range(len(row)):
        written = [len(policy.vocabulary)] * SEEN + list(row[:t])
        yield [*seen, *written[-SEEN:]]


def next_p(policy: Policy, context: Sequence[int]) -> list[float]:
    """p of each next token, in plain numbers."""
    vectors, hidden, hidden_bias, out, out_bias = (weight.tolist() for weight in policy.weights)
    x = [
        sum((v == token) * vectors[v][d] for v in range(len(vectors)))
        for token in context
        for d in range(len(vectors[0]))
    ]
    h = [math.tanh(sum(x[i] * hidden[i][j] for i in range(len(x))) + hidden_bias[j]) for j in range(len(hidden_bias))]
    theta = [sum(h[j] * out[j][b] for j in range(len(h))) + out_bias[b] for b in range(len(out_bias))]
    weights = [math.exp(preference) for preference in theta]
    return [weight / sum(weights) for weight in weights]


def log_p(policy: Policy, seen: Sequence[int], row: Sequence[int]) -> float:
    """log p(completion)."""
    chosen = zip(contexts(policy, seen, row), row, strict=True)
    return sum(math.log(next_p(policy, context)[token]) for context, token in chosen)


def slopes(value: Callable[[Policy], float], policy: Policy, eps: float = 1e-5) -> Weights:
    """Central finite differences of a number that depends on the policy, for each single weight."""

    def slope(name: str, place: tuple[int, ...]) -> float:
        ends = []
        for step in (eps, -eps):
            weight = getattr(policy.weights, name).copy()
            weight[place] += step
            ends.append(value(policy._replace(weights=policy.weights._replace(**{name: weight}))))
        return (ends[0] - ends[1]) / (2 * eps)

    shaped = {name: getattr(policy.weights, name).shape for name in Weights._fields}
    found = {
        name: np.array([slope(name, place) for place in np.ndindex(shape)]).reshape(shape)
        for name, shape in shaped.items()
    }
    return Weights(**found)


def gradient_by_loops(
    policy: Policy, seen: Sequence[Sequence[int]], rows: Sequence[Sequence[int]], weight: Sequence[float]
) -> Weights:
    """Σ weight · ∂ log p / ∂ weights, token after token, with one-hot rows: the chain rule as a textbook writes it."""
    weights = policy.weights
    total = Weights(*(np.zeros_like(weight) for weight in weights))
    for one_seen, row, factor in zip(seen, rows, weight, strict=True):
        for context, token in zip(contexts(policy, one_seen, row), row, strict=True):
            hot = np.zeros((len(context), len(weights.vectors)))
            for place, one in enumerate(context):
                hot[place, one] = 1.0
            x = (hot @ weights.vectors).ravel()
            h = np.tanh(x @ weights.hidden + weights.hidden_bias)
            theta = h @ weights.out + weights.out_bias
            p = np.exp(theta) / np.exp(theta).sum()
            at_theta = factor * np.array([(b == token) - p[b] for b in range(len(p))])
            at_hidden = (weights.out @ at_theta) * (1 - h * h)
            at_x = weights.hidden @ at_hidden
            at_vectors = hot.T @ at_x.reshape(len(context), -1)
            parts = (at_vectors, np.outer(x, at_hidden), at_hidden, np.outer(h, at_theta), at_theta)
            for summed, part in zip(total, parts, strict=True):
                summed += part
    return total


def assert_close(found: Sequence[Floats], expected: Sequence[Floats], tolerance: float) -> None:
    """All arrays of one set of weights, or of a gradient, are those of the other."""
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


def same_bits(one: Policy, other: Policy) -> bool:
    return one[:3] == other[:3] and all(
        a.tobytes() == b.tobytes() and a.shape == b.shape for a, b in zip(one.weights, other.weights, strict=True)
    )
