"""REINFORCE (Williams 1992): the named equations that every loop of Loop C is made of.

Notation as in ``softmax``, and
    reward      what the verifier pays for one action
    return_     what the whole episode is paid from a step on; with one step it is the reward
    baseline    what a return is compared with; known before the action, so it cannot bias the estimate
    advantage   return_ − baseline
    direction   advantage · ∂ log p(action) / ∂ theta, an estimate of ∂J / ∂ theta

Left out of what large systems do: a critic (the baseline here is a mean), importance ratios and clipping (a sample is
used once, by the policy that drew it).
"""

from typing import NamedTuple

import numpy as np

from course.policies.softmax import Floats, Ints, expected_reward_gradient


class Update(NamedTuple):
    """One update of one policy, or of N policies side by side, with everything that went into it."""

    theta: Floats  # [..., K] before
    p: Floats  # [..., K] before
    action: Ints  # [...]
    reward: Floats  # [...]
    baseline: Floats  # [...] the one that this update used
    advantage: Floats  # [...] reward − baseline
    direction: Floats  # [..., K] advantage · ∂ log p_action / ∂ theta
    new_theta: Floats  # [..., K] theta + lr · direction


def apply_gradient(theta: Floats, direction: Floats, lr: float) -> Floats:
    """The update: theta + lr · direction. Gradient ascent, for the objective is to be raised."""
    return theta + lr * direction


def running_mean(mean: Floats, value: Floats, count: int) -> Floats:
    """The mean of ``count`` values, from the mean of those before the last: mean + (value − mean) / count."""
    return mean + (value - mean) / count


def return_to_go(reward: Floats) -> Floats:
    """[T] G_t = r_t + r_{t+1} + …: a step is credited with all that was paid from it on."""
    return np.asarray(np.cumsum(reward[::-1])[::-1])


def leave_one_out(return_: Floats, group_size: int) -> Floats:
    """[N] for each completion the mean return of the others of its group; groups stand one after the other.

    No completion's own return enters its baseline: that would bias the gradient. This is RLOO (Kool et al. 2019);
    GRPO's mean over the whole group gives the same advantage times (G − 1) / G.
    """
    if group_size < 2:
        raise ValueError("a group needs at least two completions to be compared with each other")
    groups = return_.reshape(-1, group_size)
    others = (groups.sum(axis=1, keepdims=True) - groups) / (group_size - 1)
    return np.asarray(others.ravel())


def gradient_variance(p: Floats, rewards: Floats, baseline: Floats) -> Floats:
    """Total variance of one estimate: Σ_a p_a (r_a − b)² ‖∂ log p_a‖² − ‖∂J‖², where ‖∂ log p_a‖² = 1 − 2p_a + Σ p².

    Exact: every action is weighed with its probability. The baseline stands in the first term only: it moves the
    variance and not the mean. It lowers it while b < 2b*, b* = E[r ‖∂ log p‖²] / E[‖∂ log p‖²], and raises it beyond.
    """
    squares = (p**2).sum(axis=-1, keepdims=True)
    second_moment = (p * (rewards - baseline[..., None]) ** 2 * (1 - 2 * p + squares)).sum(axis=-1)
    return np.asarray(second_moment - (expected_reward_gradient(p, rewards) ** 2).sum(axis=-1))
