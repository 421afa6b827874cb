"""A distribution over K actions, and the few equations that all of Loop C is made of.

Notation
    theta       K preferences, any real numbers; the policy's parameters
    p           K probabilities, softmax(theta)
    a           the sampled action, 0 ≤ a < K
    u           one uniform draw from [0, 1): the only randomness, always an argument

Every function takes a last axis of K and any axes before it, so that a thousand runs at once are the same code as one.

Left out of REINFORCE as published (Williams 1992): nothing; a softmax policy is its simplest case.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def softmax(theta: Floats) -> Floats:
    """p_a = exp(theta_a) / Σ_b exp(theta_b). The largest theta is taken off first: that only prevents overflow."""
    weights = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def sample(p: Floats, u: Floats | float) -> Ints:
    """The action on whose stretch of [0, 1) the draw u falls, with the probabilities laid end to end."""
    ends = np.cumsum(p, axis=-1)
    beyond = ends > np.asarray(u)[..., None]
    action = beyond.argmax(axis=-1)
    if not beyond[..., -1].all():  # the ends may stop a hair short of u: then the last with any probability
        action = np.where(beyond[..., -1], action, (ends < ends[..., -1:]).sum(axis=-1))
    return np.asarray(action)


def grad_log_prob(p: Floats, action: Ints) -> Floats:
    """∂ log p_a / ∂ theta_b = [a = b] − p_b: up for the sampled action, down for each other one."""
    return np.eye(p.shape[-1])[action] - p


def expected_reward(p: Floats, rewards: Floats) -> Floats:
    """J = Σ_a p_a r_a: what the objective is, where every reward is known."""
    return np.asarray((p * rewards).sum(axis=-1))


def expected_reward_gradient(p: Floats, rewards: Floats) -> Floats:
    """∂J / ∂ theta_b = p_b (r_b − J): what the estimate (r − baseline) ∂ log p_a / ∂ theta is on the average."""
    return np.asarray(p * (rewards - expected_reward(p, rewards)[..., None]))


def kl(p: Floats, q: Floats) -> Floats:
    """KL(p ‖ q) = Σ_a p_a ln(p_a / q_a) in nats. Raises ValueError where p has mass and q has none: it is infinite."""
    if np.any((p > 0) & (q <= 0)):
        raise ValueError("KL(p ‖ q) needs q > 0 wherever p > 0")
    ones = np.ones_like(p)
    return np.asarray((p * (np.log(np.where(p > 0, p, ones)) - np.log(np.where(p > 0, q, ones)))).sum(axis=-1))
