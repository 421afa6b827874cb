"""REINFORCE on one choice: the update that every command of Loop C repeats, for one run or for a thousand at once.

Notation as in ``softmax``; arrays may have an axis of N runs in front. A step uses only what was known before it, so
its baseline comes from the rewards of earlier steps.

Left out of what large systems do: a critic (the baseline here is a mean), importance ratios and clipping (a sample is
used once, by the policy that drew it), a KL penalty, and batches (one sample a step). One choice needs none of them.
"""

from typing import NamedTuple

import numpy as np

from course.policies.softmax import Floats, Ints, expected_reward_gradient, grad_log_prob, sample, softmax


class Update(NamedTuple):
    """One step of N runs, with everything that went into it."""

    theta: Floats  # [N, K] before
    p: Floats  # [N, K] before
    action: Ints  # [N]
    reward: Floats  # [N]
    baseline: Floats  # [N], the one that this step used
    advantage: Floats  # [N] reward − baseline
    direction: Floats  # [N, K] ∂ log p_action / ∂ theta
    gradient: Floats  # [N, K] advantage · direction, the estimate of ∂J / ∂ theta
    new_theta: Floats  # [N, K] theta + lr · gradient
    new_p: Floats  # [N, K] after


def reinforce(theta: Floats, u: Floats, paid: Floats, baseline: Floats, lr: float) -> Update:
    """Sample, be paid, compare with the baseline, push: theta ← theta + lr · (r − b) · ∂ log p_a / ∂ theta.

    Williams 1992. ``u``: [N] draws; ``paid``: [K], what the verifier pays for each action, of which only the sampled
    one's reward is used.
    """
    p = softmax(theta)
    action = sample(p, u)
    reward = paid[action]
    advantage = reward - baseline
    direction = grad_log_prob(p, action)
    gradient = advantage[..., None] * direction
    new_theta = theta + lr * gradient
    return Update(theta, p, action, reward, baseline, advantage, direction, gradient, new_theta, softmax(new_theta))


def gradient_variance(p: Floats, paid: Floats, baseline: Floats) -> Floats:
    """Total variance of one estimate: Σ_a p_a (r_a − b)² ‖∂ log p_a‖² − ‖∂J‖², where ‖∂ log p_a‖² = 1 − 2p_a + Σ p².

    Exact: every action is weighed with its probability. The baseline stands in the first term only: it moves the
    variance and not the mean. Near J it lowers it; one that lags far behind can raise it.
    """
    squares = (p**2).sum(axis=-1, keepdims=True)
    second_moment = (p * (paid - baseline[..., None]) ** 2 * (1 - 2 * p + squares)).sum(axis=-1)
    return np.asarray(second_moment - (expected_reward_gradient(p, paid) ** 2).sum(axis=-1))
