"""A policy over K actions as a softmax of theta, and what can be said of it exactly: gradient, expected reward, KL.

Notation
    theta       K logits, any real numbers: the policy's parameters
    p           K probabilities, softmax(theta)
    action      the sampled one, written a in equations, 0 ≤ a < K
    u           one uniform draw from [0, 1): the only randomness, and always an argument

Every function works on the last axis, of length K, so a thousand runs side by side take the same code as one run.
"""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def softmax(theta: Floats) -> Floats:
    """p_a = exp(theta_a) / Σ_b exp(theta_b). Subtracting the largest theta first only prevents overflow."""
    weights = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def sample(p: Floats, u: Floats | float) -> Ints:
    """Inverse-CDF sampling: the first action whose cumulative probability exceeds u."""
    cumulative = np.cumsum(p, axis=-1)
    exceeds = cumulative > np.asarray(u)[..., None]
    action = exceeds.argmax(axis=-1)
    past_end = ~exceeds[..., -1]  # rounding left the last sum at or below u
    if past_end.any():  # take the last action with any probability
        action = np.where(past_end, (cumulative < cumulative[..., -1:]).sum(axis=-1), action)
    return np.asarray(action)


def grad_log_prob(p: Floats, action: Ints) -> Floats:
    """∂ log p_a / ∂ theta_b = [a = b] − p_b: positive for the sampled action, negative for the others."""
    return np.eye(p.shape[-1])[action] - p


def expected_reward(p: Floats, rewards: Floats) -> Floats:
    """J = Σ_a p_a r_a: the objective, exact because every action's reward is known."""
    return np.asarray((p * rewards).sum(axis=-1))


def expected_reward_gradient(p: Floats, rewards: Floats) -> Floats:
    """∂J / ∂ theta_b = p_b (r_b − J): the mean of the estimate (r − baseline) ∂ log p_a / ∂ theta."""
    return np.asarray(p * (rewards - expected_reward(p, rewards)[..., None]))


def kl(p: Floats, q: Floats) -> Floats:
    """KL(p ‖ q) = Σ_a p_a ln(p_a / q_a), in nats. Raises ValueError where p_a > 0 and q_a = 0: the KL is infinite."""
    if np.any((p > 0) & (q <= 0)):
        raise ValueError("KL(p ‖ q) needs q > 0 wherever p > 0")
    ones = np.ones_like(p)
    return np.asarray((p * (np.log(np.where(p > 0, p, ones)) - np.log(np.where(p > 0, q, ones)))).sum(axis=-1))
