"""Machinery: sampling completions from a token policy, one uniform number a token; temperature and top_p."""

from collections.abc import Sequence

import numpy as np

from course.policies.softmax import Floats, Ints, sample
from course.policies.token_policy import RECENT, Completions, Policy, forward
from course.policies.vocabulary import END


def sampling_distribution(log_p: Floats, temperature: float, top_p: float) -> Floats:
    """[M, V] the distribution that is sampled from: the policy's, sharpened, then cut.

    ``temperature``: p ∝ exp(log p / temperature); at 0 all of it is on the most probable token, the first of equals.
    ``top_p``: of the sharpened distribution the smallest set of most probable tokens that holds at least this much is
    kept, and scaled to 1 (nucleus sampling, Holtzman et al. 2020). With both at 1 this is the policy's own p.
    """
    if temperature == 0:
        return np.asarray(np.eye(log_p.shape[1])[log_p.argmax(axis=1)])
    sharpened = (log_p - log_p.max(axis=1, keepdims=True)) / temperature
    p = np.exp(sharpened)
    p /= p.sum(axis=1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = np.take_along_axis(p, order, axis=1)
        ranked[np.cumsum(ranked, axis=1) - ranked >= top_p] = 0.0  # the more probable ones hold enough already
        np.put_along_axis(p, order, ranked / ranked.sum(axis=1, keepdims=True), axis=1)
    return np.asarray(p)


def sample_completions(
    policy: Policy, prompts: Ints, u: Floats, temperature: float = 1.0, top_p: float = 1.0
) -> Completions:
    """N completions of N prompts. ``prompts``: [N, P] tokens; ``u``: [N, T] draws from [0, 1), T tokens at most.

    A completion that reaches the limit is cut there and has no END.
    """
    rows, limit = u.shape
    padding = len(policy.vocabulary)
    tokens = np.full((rows, limit), padding)
    lengths = np.full(rows, limit)
    open_ = np.arange(rows)  # the completions that have not ended
    recent = np.full((rows, RECENT), padding)
    for t in range(limit):
        network = forward(policy.weights, np.concatenate([prompts[open_], recent], axis=1))
        p = network.p if temperature == top_p == 1 else sampling_distribution(network.log_p, temperature, top_p)
        token = sample(p, u[open_, t])
        tokens[open_, t] = token
        ended = token == END
        lengths[open_[ended]] = t + 1
        recent = np.concatenate([recent, token[:, None]], axis=1)[~ended, 1:]
        open_ = open_[~ended]
        if not open_.size:
            break
    return Completions(tokens[:, : lengths.max()], lengths)


def sample_texts(
    policy: Policy, prompts: Sequence[str], rng: np.random.Generator, temperature: float = 1.0, top_p: float = 1.0
) -> list[str]:
    u = rng.random((len(prompts), policy.max_tokens))
    return policy.decode_completions(sample_completions(policy, policy.encode_prompts(prompts), u, temperature, top_p))
