"""Machinery: the right value of each function that a student writes, and what each common mistake makes of it.

Plain Python on plain lists, and none of ``course.policies``: two ways to one number, which the tests compare.
The mistakes are data, ``data/exercises/mistakes.toml``: a sentence, and the expression that makes that mistake.

Notation
    x           the logits of one choice, K numbers; p, q: K probabilities
    logits      [T][K] the logits of each of T tokens; theta likewise, the policy's parameters
    tokens      [T] which of K was written; actions likewise
    r, b        rewards, or one reward; the baseline
"""

import tomllib
from collections.abc import Callable
from functools import cache
from inspect import signature
from math import exp, fsum, log
from random import Random
from statistics import mean
from typing import Any, NamedTuple

from course.datasets.files import LAB

Vector = list[float]
Matrix = list[Vector]
Group = list[tuple[int, str, float]]  # index, completion and reward of each sample
MISTAKES = LAB / "data" / "exercises" / "mistakes.toml"


class Quantity(NamedTuple):
    """One function. ``example``: the arguments worked out in the stub; ``draw``: others, of a generator's choice."""

    oracle: Callable[..., Any]
    example: tuple[Any, ...]
    draw: Callable[[Random], tuple[Any, ...]]


def log_softmax(x: Vector) -> Vector:
    """ln p_a = x_a − ln Σ_b exp(x_b), with the largest x taken off first: no exp overflows."""
    top = max(x)
    total = top + log(fsum(exp(each - top) for each in x))
    return [each - total for each in x]


def softmax(x: Vector) -> Vector:
    return [exp(each) for each in log_softmax(x)]


def token_log_probs(logits: Matrix, tokens: list[int]) -> Vector:
    """[T] ln p of each token that was written."""
    return [log_softmax(x)[token] for x, token in zip(logits, tokens, strict=True)]


def log_prob(logits: Matrix, tokens: list[int]) -> float:
    """ln p(sequence) = Σ_t ln p(token_t)."""
    return fsum(token_log_probs(logits, tokens))


def kl(p: Vector, q: Vector) -> float:
    """KL(p ‖ q) = Σ_a p_a ln(p_a / q_a), in nats; an action with p_a = 0 adds nothing."""
    return fsum(a * log(a / b) for a, b in zip(p, q, strict=True) if a)


def advantage(r: Vector, b: float) -> Vector:
    """A_i = r_i − b."""
    return [each - b for each in r]


def leave_one_out(r: Vector) -> Vector:
    """b_i = the mean of the rewards of the others."""
    return [mean(r[:i] + r[i + 1 :]) for i in range(len(r))]


def reinforce_step(theta: Matrix, actions: list[int], r: float, b: float, lr: float) -> Matrix:
    """theta_t + lr · (r − b) · ∂ ln p(action_t) / ∂ theta_t at every step t, where ∂ ln p_a / ∂ x_i = [i = a] − p_i."""
    return updated(theta, actions, lambda taken, p, _: lr * (r - b) * (taken - p))


def pick_best(group: Group) -> int:
    """The index of the highest reward; of several the lowest index, in whatever order they stand."""
    return min(group, key=lambda sample: (-sample[2], sample[0]))[0]


def updated(theta: Matrix, actions: list[int], change: Callable[[int, float, float], float]) -> Matrix:
    """theta plus for each logit ``change(whether its action was taken, its probability, that of the action taken)``."""
    new = []
    for x, action in zip(theta, actions, strict=True):
        p = softmax(x)
        new.append([each + change(int(i == action), p[i], p[action]) for i, each in enumerate(x)])
    return new


@cache
def mistakes_of(function: str) -> dict[str, str]:
    """The sentence that names a mistake -> an expression of the oracle's arguments that makes it."""
    found: dict[str, str] = tomllib.loads(MISTAKES.read_text(encoding="utf-8"))[function]
    return found


def mistaken(expression: str, oracle: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a function with this mistake returns; None where it would raise."""
    try:
        return eval(expression, globals() | dict(zip(signature(oracle).parameters, arguments, strict=True)))
    except (ArithmeticError, ValueError):
        return None


def _draw_sequence(rng: Random) -> tuple[Matrix, list[int]]:
    steps, choices, shift = rng.randint(2, 4), rng.randint(2, 4), rng.choice((0.0, 0.0, 1000.0))  # exp(1000) overflows
    logits = [[round(rng.gauss(0, 1.5), 2) + shift for _ in range(choices)] for _ in range(steps)]
    return logits, [rng.randrange(choices) for _ in range(steps)]


def _draw_distributions(rng: Random) -> tuple[Vector, Vector]:
    p, q = ([rng.randint(1, 9) for _ in range(4)] for _ in range(2))
    p[0] *= rng.choice((0, 1, 1))
    return [each / sum(p) for each in p], [each / sum(q) for each in q]


def _draw_rewards(rng: Random) -> Vector:
    return [rng.choice((0.0, 1.0, round(rng.uniform(-1, 2), 2))) for _ in range(rng.randint(3, 6))]


def _draw_step(rng: Random) -> tuple[Matrix, list[int], float, float, float]:
    r, b = rng.sample((0.25, 0.5, 0.75, 1.0, 2.0), 2)
    return *_draw_sequence(rng), r, b, rng.choice((0.1, 0.5, 2.0))


QUANTITIES = {
    "log_probs": (
        Quantity(log_prob, ([[0.0, 0.0], [0.0, log(3)]], [0, 1]), _draw_sequence),
        Quantity(kl, ([0.5, 0.5], [0.25, 0.75]), _draw_distributions),
    ),
    "reinforce": (
        Quantity(advantage, ([1.0, 0.0], 0.25), lambda rng: (_draw_rewards(rng), rng.choice((0.25, 0.5, 1.5)))),
        Quantity(leave_one_out, ([1.0, 0.0, 0.5],), lambda rng: (_draw_rewards(rng),)),
        Quantity(reinforce_step, ([[0.0, 0.0], [0.0, 0.0]], [0, 1], 1.0, 0.5, 0.4), _draw_step),
    ),
}
