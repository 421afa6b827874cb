"""Machinery: a verifier that errs at random, and the reward that corrects for it on average.

Notation
    rho_0    false positives: how often it pays a completion that the rubric does not pay
    rho_1    false negatives: how often it does not pay one that the rubric pays

Covered
    Errors that are independent of the completion, a coin for each. A hackable rubric errs by a rule instead.
"""

import numpy as np

from course.policies.softmax import Floats


def with_random_errors(reward: Floats, u: Floats, rho_0: float, rho_1: float) -> Floats:
    """[N] the 0/1 rewards, some of them flipped. ``u``: [N] draws from [0, 1), one for each completion."""
    return np.where(u < np.where(reward > 0, rho_1, rho_0), 1 - reward, reward)


def corrected_reward(reward: Floats, rho_0: float, rho_1: float) -> Floats:
    """[N] (reward − rho_0) / (1 − rho_0 − rho_1), whose mean over the errors is the reward without them.

    arXiv 2510.00915. The difference of two such rewards is that of the plain ones, divided: to a learner that compares
    completions with each other the correction is a larger learning rate and nothing else. Raises ValueError where the
    rates add up to 1 or more: then being paid says nothing, or the opposite.
    """
    if rho_0 + rho_1 >= 1:
        raise ValueError("expected error rates that add up to less than 1")
    return (reward - rho_0) / (1 - rho_0 - rho_1)
