"""REINFORCE (Williams 1992): the equations that every learner of Loop C is made of.

Notation as in ``softmax``, and
    reward      the verifier's reward for one action
    return_     the sum of the rewards from a step on; with one step it is the reward
    baseline    the number with which a return is compared. It does not depend on the action, so it cannot bias the
                estimate. A mean of rewards cancels a constant that is added to every reward, except in the first
                update, where a running mean is still 0. For its effect on the variance see ``best_baseline``
    advantage   return_ − baseline
    direction   advantage · ∂ log p(action) / ∂ theta, an estimate of ∂J / ∂ theta

Large systems also have, and this file leaves out: a critic (the baseline here is a mean), importance ratios and
clipping (here a sample is used once, by the policy that drew it).
"""

from typing import NamedTuple, TypeVar

import numpy as np

from course.errors import UserError
from course.policies.softmax import Floats, Ints, expected_reward, expected_reward_gradient

Number = TypeVar("Number", float, Floats)


class Update(NamedTuple):
    """One update of one policy, or of N policies side by side, with everything that went into it."""

    theta: Floats  # [..., K] before
    p: Floats  # [..., K] before
    action: Ints  # [...]
    reward: Floats  # [...]
    baseline: Floats | float  # [...] the one that this update used
    advantage: Floats  # [...] reward − baseline
    direction: Floats  # [..., K] advantage · ∂ log p_action / ∂ theta
    new_theta: Floats  # [..., K] theta + lr · direction


def apply_gradient(theta: Floats, direction: Floats, lr: float) -> Floats:
    """Gradient ascent: theta + lr · direction raises the objective. Raises UserError if a logit would overflow."""
    with np.errstate(over="ignore"):
        new_theta = theta + lr * direction
    if not np.isfinite(new_theta).all():
        raise UserError("cannot apply the update: a logit would overflow; use a smaller --lr or --reward-offset")
    return new_theta


def running_mean(mean: Number, value: Number, count: int) -> Number:
    """The mean of ``count`` values, from the mean of all but the last, and the last: mean + (value − mean) / count."""
    return mean + (value - mean) / count


def return_to_go(reward: Floats) -> Floats:
    """[T] G_t = r_t + r_{t+1} + …: each step is credited with every reward from it on."""
    return np.asarray(np.cumsum(reward[::-1])[::-1])


def leave_one_out(return_: Floats, group_size: int) -> Floats:
    """[N] The baseline of each completion: the mean return of the others in its group, whose returns stand in a row.

    A completion's own return would bias the gradient. This baseline is RLOO (Kool et al. 2019); GRPO's mean over the
    whole group gives the same advantage times (G − 1) / G. A mean of G − 1 others is itself noisy, and the completions
    of a group share rewards. With two arms, one of them right, this baseline therefore lowers the variance of the
    group's mean gradient only if p is below (2G − 4)/(3G − 5): never for G = 2, below 4/7 for G = 4, 12/19 for G = 8,
    and 2/3 in the limit (``best_baseline``). Raises ValueError for a group of one.
    """
    if group_size < 2:
        raise ValueError("expected a group_size of at least 2: a completion is compared with the others in its group")
    groups = return_.reshape(-1, group_size)
    others = (groups.sum(axis=1, keepdims=True) - groups) / (group_size - 1)
    return np.asarray(others.ravel())


def gradient_variance(p: Floats, rewards: Floats, baseline: Floats | float) -> Floats:
    """Total variance of one estimate: Σ_a p_a (r_a − b)² ‖∂ log p_a‖² − ‖∂J‖².

    Exact: every action is weighted by its probability. The baseline b changes the variance and not the mean.
    """
    second_moment = (p * (rewards - np.asarray(baseline)[..., None]) ** 2 * squared_norms(p)).sum(axis=-1)
    return np.asarray(second_moment - (expected_reward_gradient(p, rewards) ** 2).sum(axis=-1))


def best_baseline(p: Floats, rewards: Floats) -> Floats:
    """b* = E[r ‖∂ log p‖²] / E[‖∂ log p‖²]: the constant baseline with the lowest variance of the estimate.

    The variance with b minus the variance with no baseline is b (b − 2b*) E[‖∂ log p‖²], so b lowers the variance only
    between 0 and 2b*. The mean reward J is not b*, because ‖∂ log p‖² is small for actions that the policy takes often.
    Example: with two arms of rewards 0 and 1, the right one of probability p, b* = 1 − p and J = p, so beyond p = 2/3
    the baseline J is worse than none. If the policy is certain, every constant gives the variance 0, and J is returned.
    """
    weights = p * squared_norms(p)
    total = weights.sum(axis=-1)
    best = (weights * rewards).sum(axis=-1) / np.where(total > 0, total, 1)
    return np.where(total > 0, best, expected_reward(p, rewards))


def squared_norms(p: Floats) -> Floats:
    """[..., K] ‖∂ log p_a / ∂ theta‖² = 1 − 2p_a + Σ_b p_b², of each action."""
    return np.asarray(1 - 2 * p + (p**2).sum(axis=-1, keepdims=True))
