"""Machinery: the right value of each function that a student writes, and what each common mistake makes of it.

The functions are data, ``data/exercises/functions.toml``; here stand the equations that their expressions call. Plain
Python on plain lists, and none of ``course.policies``: two ways to one number, which the tests compare.

Notation: x the K logits of one choice, p K probabilities, theta [T][K], actions [T], r a reward or several, b the
baseline.
"""

import tomllib
from collections.abc import Callable, Sequence
from math import exp, fsum, log
from statistics import mean
from typing import Any, NamedTuple

from course.datasets.files import LAB

Vector = list[float]
Matrix = list[Vector]
Group = list[tuple[int, str, float]]  # index, completion and reward of each sample


class Quantity(NamedTuple):
    """One function; what its fields mean stands at the top of ``data/exercises/functions.toml``."""

    file: str
    arguments: list[str]
    right: str
    inputs: list[list[Any]]
    mistakes: dict[str, str]

    def value(self, expression: str, arguments: Sequence[Any]) -> Any:
        """What an expression makes of these arguments; None where it would raise."""
        try:
            return eval(expression, globals() | dict(zip(self.arguments, arguments, strict=True)))
        except (ArithmeticError, ValueError):
            return None


def log_softmax(x: Vector) -> Vector:
    """ln p_a = x_a − ln Σ_b exp(x_b), with the largest x taken off first: no exp overflows."""
    top = max(x)
    total = top + log(fsum(exp(each - top) for each in x))
    return [each - total for each in x]


def softmax(x: Vector) -> Vector:
    """The softmax of x."""
    return [exp(each) for each in log_softmax(x)]


def mean_of_others(r: Vector) -> Vector:
    """b_i = the mean of the rewards of the others."""
    return [mean(r[:i] + r[i + 1 :]) for i in range(len(r))]


def reinforce_update(theta: Matrix, actions: list[int], r: float, b: float, lr: float) -> Matrix:
    """theta_t + lr · (r − b) · ∂ ln p(action_t) / ∂ theta_t at every step t, where ∂ ln p_a / ∂ x_i = [i = a] − p_i."""
    return update_logits(theta, actions, lambda taken, p, _: lr * (r - b) * (taken - p))


def update_logits(theta: Matrix, actions: list[int], change: Callable[[int, float, float], float]) -> Matrix:
    """theta plus, for each logit, ``change(whether its action was taken, its p, the p of the action taken)``."""
    updated = []
    for x, action in zip(theta, actions, strict=True):
        p = softmax(x)
        updated.append([each + change(int(i == action), p[i], p[action]) for i, each in enumerate(x)])
    return updated


def first_of_best(group: Group) -> int:
    """The index of the highest reward; of several the lowest index, in whatever order they stand."""
    return min(group, key=lambda sample: (-sample[2], sample[0]))[0]


_TABLE = LAB / "data" / "exercises" / "functions.toml"
FUNCTIONS = {name: Quantity(**row) for name, row in tomllib.loads(_TABLE.read_text(encoding="utf-8")).items()}
