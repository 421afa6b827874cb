"""A policy on a leash: as much reward as it can get for what it pays for leaving a reference policy.

Notation as in ``softmax``, and
    reference   K probabilities, all above 0: the policy one starts from
    rewards     K numbers, what each action is paid
    beta        how dear a nat of KL(p ‖ reference) is; a large one is a tight leash
    J           Σ_a p_a r_a − beta · KL(p ‖ reference), the objective
    f           K numbers, each action's reward after the leash is paid; their mean under p is J

Left out of what large systems do: the KL is exact here, where they estimate it from sampled tokens; and J's maximum
has a closed form, where a language model has too many completions to be written down.
"""

import numpy as np

from course.policies.softmax import Floats, softmax


def closed_form(reference: Floats, rewards: Floats, beta: float) -> Floats:
    """The p that maximises J: p_a = reference_a exp(r_a / beta) / Σ_b reference_b exp(r_b / beta).

    Defined for beta > 0, infinity included: there it is the reference. Safe for tiny beta, as only differences from
    the best reward are divided. Source: equation 4 of Rafailov et al. 2023, arXiv 2305.18290.
    """
    if not beta > 0:
        raise ValueError("beta > 0: without a leash any policy on the best actions is best")
    _check_reference(reference)
    with np.errstate(over="ignore"):  # −infinity is right: such an action gets 0
        gain = (rewards - rewards.max()) / beta
    return softmax(np.log(reference) + gain)


def leashed_reward(p: Floats, reference: Floats, rewards: Floats, beta: float) -> Floats:
    """f_a = r_a − beta (ln p_a − ln reference_a). Every p_a must be above 0, as a softmax's are."""
    _check_reference(reference)
    if not (p > 0).all():
        raise ValueError("p > 0 for every action")
    return np.asarray(rewards - beta * (np.log(p) - np.log(reference)))


def objective(p: Floats, reference: Floats, rewards: Floats, beta: float) -> Floats:
    """J = Σ_a p_a f_a, which is Σ_a p_a r_a − beta · KL(p ‖ reference)."""
    return np.asarray((p * leashed_reward(p, reference, rewards, beta)).sum(axis=-1))


def objective_gradient(p: Floats, reference: Floats, rewards: Floats, beta: float) -> Floats:
    """∂J / ∂ theta_b = p_b (f_b − J), for p = softmax(theta).

    The equation of ``expected_reward_gradient`` with f for r. That f changes with p adds nothing: Σ_a p_a ∂f_a is
    −beta Σ_a ∂p_a, and probabilities that add up to 1 change by 0 in sum.
    """
    f = leashed_reward(p, reference, rewards, beta)
    return np.asarray(p * (f - (p * f).sum(axis=-1, keepdims=True)))


def natural_gradient(p: Floats, reference: Floats, rewards: Floats, beta: float) -> Floats:
    """(∂J / ∂ theta_b) / p_b = f_b − J: the same slope, in the measure of how far the policy moves. Kakade 2001.

    It is the gradient times the pseudo-inverse of the Fisher matrix diag(p) − p pᵀ, up to a constant that a softmax
    does not see. The plain gradient has the factor p_b, so a rare action hardly moves, however well it is paid.
    """
    return np.asarray(objective_gradient(p, reference, rewards, beta) / p)


def best_of_n(reference: Floats, rewards: Floats, n: int) -> Floats:
    """What best-of-N delivers: p_a = reference_a Σ_{i<N} F⁻(a)^i F(a)^(N−1−i). Exact, ties go to the first drawn.

    F(a): the chance that one draw is paid at most r_a; F⁻(a): less than r_a. A term of the sum: the winner is draw i,
    the i before it are worse and those after it no better. The sum telescopes to (F^N − F⁻^N) / (F − F⁻), what
    Beirami et al. 2024 (arXiv 2401.01879) give; as a sum it loses no digits for a rare action.
    """
    if n < 1:
        raise ValueError("N at least 1")
    _check_reference(reference)
    at_most = (rewards[None, :] <= rewards[:, None]) @ reference
    less = (rewards[None, :] < rewards[:, None]) @ reference
    before = np.arange(n)
    terms = less[:, None] ** before * at_most[:, None] ** (n - 1 - before)
    return np.asarray(reference * terms.sum(axis=-1))


def _check_reference(reference: Floats) -> None:
    if not (reference > 0).all():
        raise ValueError("a reference that gives every action a chance")
