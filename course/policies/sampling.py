"""How completions are drawn from a token policy: one uniform number a token, and the two settings of every sampler."""

import numpy as np

from course.policies.softmax import Floats, Ints, sample
from course.policies.token_policy import RECENT, Completions, Policy, forward
from course.policies.vocabulary import END


def settled(log_p: Floats, temperature: float, top_p: float) -> Floats:
    """[M, V] what is drawn from: the policy's distribution, sharpened, then cut.

    ``temperature``: p ∝ exp(log p / temperature); at 0 all of it is on the most probable token, the first of equals.
    ``top_p``: of the sharpened distribution the smallest set of most probable tokens that holds at least this much is
    kept, and scaled to 1 (nucleus sampling, Holtzman et al. 2020). At 1 and 1 the policy's own p comes back.
    """
    if temperature == 0:
        return np.asarray(np.eye(log_p.shape[1])[log_p.argmax(axis=1)])
    sharp = (log_p - log_p.max(axis=1, keepdims=True)) / temperature
    p = np.exp(sharp)
    p /= p.sum(axis=1, keepdims=True)
    if top_p < 1:
        order = np.argsort(-p, axis=1, kind="stable")
        ranked = np.take_along_axis(p, order, axis=1)
        ranked[np.cumsum(ranked, axis=1) - ranked >= top_p] = 0.0  # what stands before it holds enough already
        np.put_along_axis(p, order, ranked / ranked.sum(axis=1, keepdims=True), axis=1)
    return np.asarray(p)


def drawn(policy: Policy, view: Ints, u: Floats, temperature: float = 1.0, top_p: float = 1.0) -> Completions:
    """N completions of N prompts. ``view``: [N, P]; ``u``: [N, T] draws from [0, 1), and T is the length limit.

    A completion that reaches the limit is cut there and has no END.
    """
    rows, limit = u.shape
    nothing = len(policy.pieces)
    tokens = np.full((rows, limit), nothing)
    lengths = np.full(rows, limit)
    writing = np.arange(rows)  # the completions that have not ended
    recent = np.full((rows, RECENT), nothing)
    for t in range(limit):
        step = forward(policy.weights, np.concatenate([view[writing], recent], axis=1))
        p = step.p if temperature == top_p == 1 else settled(step.log_p, temperature, top_p)
        token = sample(p, u[writing, t])
        tokens[writing, t] = token
        ended = token == END
        lengths[writing[ended]] = t + 1
        recent = np.concatenate([recent, token[:, None]], axis=1)[~ended, 1:]
        writing = writing[~ended]
        if not writing.size:
            break
    return Completions(tokens[:, : lengths.max()], lengths)
