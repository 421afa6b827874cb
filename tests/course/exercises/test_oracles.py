"""The exact values, by hand and by a second road, and the mistakes, which are none of them right and all different.

By hand: probabilities 1/2 and 3/4 make ln(3/8); KL([1/2, 1/2] || [1/4, 3/4]) is half of ln 2 + ln(2/3), so half of
ln(4/3). The second road is the course's own policies, which compute with arrays, and finite differences.
"""

from math import log
from random import Random
from typing import Any

import numpy as np
import pytest

from course.exercises import oracles
from course.exercises.functions import close
from course.exercises.oracles import QUANTITIES, Quantity, mistaken, mistakes_of
from course.policies import reinforce, softmax

FUNCTIONS = {quantity.oracle.__name__: quantity for quantities in QUANTITIES.values() for quantity in quantities}
PICK_BEST = Quantity(oracles.pick_best, ([(0, "a", 1.0), (1, "b", 1.0)],), lambda rng: (group(rng),))
ALL = FUNCTIONS | {"pick_best": PICK_BEST}
functions = pytest.mark.parametrize("function", FUNCTIONS)


def group(rng: Random) -> list[tuple[int, str, float]]:
    drawn = [(i, "x" * rng.randint(1, 9), rng.choice((0.0, 1.0, 2.5, -1.0))) for i in range(5)]
    return rng.sample(drawn, 5)


def drawn(function: str, seed: int, n: int = 25) -> list[tuple[Any, ...]]:
    return [ALL[function].draw(Random(f"{seed} {function} {i}")) for i in range(n)]


@pytest.mark.parametrize(
    ("function", "value"),
    [
        ("log_prob", log(3 / 8)),
        ("kl", log(4 / 3) / 2),
        ("advantage", [0.75, -0.25]),
        ("leave_one_out", [0.25, 0.75, 0.5]),
        ("reinforce_step", [[0.1, -0.1], [-0.1, 0.1]]),
        ("pick_best", 0),
    ],
)
def test_the_example_of_each_stub_by_hand(function: str, value: Any) -> None:
    oracle, example, _ = ALL[function]
    assert close(oracle(*example), value)


@pytest.mark.parametrize("seed", range(4))
def test_two_roads_lead_to_one_number(seed: int) -> None:
    for logits, tokens in drawn("log_prob", seed):
        p = softmax.softmax(np.array(logits))
        assert close(oracles.log_prob(logits, tokens), float(np.log(p[np.arange(len(tokens)), tokens]).sum()))
    for p, q in drawn("kl", seed):
        assert close(oracles.kl(p, q), float(softmax.kl(np.array(p), np.array(q))))
    for (rewards,) in drawn("leave_one_out", seed):
        assert close(oracles.leave_one_out(rewards), reinforce.leave_one_out(np.array(rewards), len(rewards)).tolist())
    for theta, actions, r, b, lr in drawn("reinforce_step", seed):
        x = np.array(theta)
        direction = (r - b) * softmax.grad_log_prob(softmax.softmax(x), np.array(actions))
        assert close(
            oracles.reinforce_step(theta, actions, r, b, lr), reinforce.apply_gradient(x, direction, lr).tolist()
        )


def test_a_step_follows_the_gradient_of_the_log_probability() -> None:
    """Central differences, each logit by itself: the step is lr · (r − b) times the slope of ``log_prob``."""
    theta, actions = [[0.3, -1.2, 0.5], [0.0, 2.0, 1.0]], [2, 0]
    stepped, small = oracles.reinforce_step(theta, actions, 2.0, 0.5, 0.1), 1e-5
    for t, a in np.ndindex(2, 3):
        up, down = ([[*row] for row in theta] for _ in range(2))
        up[t][a] += small
        down[t][a] -= small
        slope = (oracles.log_prob(up, actions) - oracles.log_prob(down, actions)) / (2 * small)
        assert stepped[t][a] - theta[t][a] == pytest.approx(0.15 * slope, abs=1e-7)


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("seed", range(4))
def test_each_mistake_is_wrong_and_differs_from_every_other(function: str, seed: int) -> None:
    oracle, inputs = ALL[function].oracle, drawn(function, seed)
    mistakes = {"right": [oracle(*one) for one in inputs]}
    for sentence, expression in mistakes_of(function).items():
        mistakes[sentence] = [mistaken(expression, oracle, one) for one in inputs]
    for sentence, values in mistakes.items():
        alike = [
            other
            for other, others in mistakes.items()
            if all(one is None or two is None or close(one, two) for one, two in zip(values, others, strict=True))
        ]
        assert alike == [sentence]


@functions
def test_the_inputs_are_another_seeds_and_reach_the_corners(function: str) -> None:
    assert drawn(function, 0) == drawn(function, 0)
    assert drawn(function, 0) != drawn(function, 1)
    if function == "log_prob":
        assert any(max(map(max, logits)) > 900 for logits, _ in drawn(function, 0))
    if function == "kl":
        assert any(0 in p for p, _ in drawn(function, 0))
        assert not any(0 in q for _, q in drawn(function, 0))
    if function == "reinforce_step":
        assert {r > b for *_, r, b, _ in drawn(function, 0)} == {True, False}


def test_an_expression_that_would_raise_is_none() -> None:
    assert mistaken("kl(q, p)", oracles.kl, ([0.0, 1.0], [0.5, 0.5])) is None
