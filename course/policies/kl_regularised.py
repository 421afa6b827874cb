"""Machinery: the KL-regularised optimum, as much reward as a policy can get for the price of leaving its reference.

Notation as in ``softmax``, and
    reference   K probabilities, all above 0: the policy that training starts from
    rewards     K numbers, the reward of each action
    beta        the KL penalty's coefficient, the price of one nat of KL(p ‖ reference)
    J           the objective, Σ_a p_a r_a − beta · KL(p ‖ reference)

Left out of what large systems do: the KL is exact here, where they estimate it from sampled tokens; and J's maximum
has a closed form, where a language model has too many completions to list.
"""

import numpy as np

from course.policies.softmax import Floats, softmax


def closed_form(reference: Floats, rewards: Floats, beta: float) -> Floats:
    """The p that maximises J: p_a = reference_a exp(r_a / beta) / Σ_b reference_b exp(r_b / beta).

    Defined for beta > 0; at infinity it is the reference. Safe for tiny beta: only differences from the best reward
    are divided. Source: equation 4 of Rafailov et al. 2023, arXiv 2305.18290.
    """
    if not beta > 0:
        raise ValueError("expected beta > 0: without a penalty every mix of the best actions is optimal")
    if not (reference > 0).all():
        raise ValueError("expected a reference that gives every action a probability above 0")
    with np.errstate(over="ignore"):  # −infinity is right: such an action gets 0
        gain = (rewards - rewards.max()) / beta
    return softmax(np.log(reference) + gain)


def best_of_n(reference: Floats, rewards: Floats, n: int) -> Floats:
    """What best-of-N delivers: p_a = reference_a Σ_{i<N} F⁻(a)^i F(a)^(N−1−i). Exact; ties go to the first sample.

    F(a): the probability that one sample has a reward of at most r_a; F⁻(a): of less than r_a. A term of the sum: the
    winner is sample i, the i before it are worse and those after it no better. The sum telescopes to
    (F^N − F⁻^N) / (F − F⁻), as in Beirami et al. 2024 (arXiv 2401.01879); the sum keeps the digits of a rare action.
    """
    if n < 1:
        raise ValueError("expected N of at least 1")
    at_most = (rewards[None, :] <= rewards[:, None]) @ reference
    less = (rewards[None, :] < rewards[:, None]) @ reference
    before = np.arange(n)
    terms = less[:, None] ** before * at_most[:, None] ** (n - 1 - before)
    return np.asarray(reference * terms.sum(axis=-1))
