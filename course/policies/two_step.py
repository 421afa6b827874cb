"""The bandit plus time: two choices in a row, one reward at the end.

An episode writes a completion in two pieces. State at the first step: nothing written yet; at the second: the first
piece. Actions: two pieces at each step. Reward: 0 after the first piece; after the second, what ``score`` pays for the
whole text. Only one of the four trajectories is paid, and its first piece alone earns nothing: credit has to travel
back from the end. This is the smallest picture of a token policy, whose pieces are tokens.

Left out of REINFORCE as published (Williams 1992): nothing. A discount would be one more number; over two steps it
would teach nothing.
"""

from typing import Any, NamedTuple

import numpy as np

from course.policies.softmax import Floats, grad_log_prob, sample, softmax
from course.score import score

EXAMPLE: dict[str, Any] = {
    "id": "two-step",
    "prompt": "Compute 17 * 19. Answer with exactly one line: Final: <int>",
    "expected_answer": 323,
}
PIECES = (("Answer: ", "Final: "), ("332", "323"))  # [step][action]


class Theta(NamedTuple):
    """Preferences of the policy, one row of two for each state."""

    first: Floats  # [2] at the start
    second: Floats  # [2, 2] after each first piece


class Visit(NamedTuple):
    """One step of an episode: the state's preferences, what was sampled there, and the direction that raises it."""

    theta: Floats  # [2]
    p: Floats  # [2]
    action: int
    direction: Floats  # [2] ∂ log p_action / ∂ theta


def visit(theta: Floats, u: float) -> Visit:
    """Sample one of two actions at a state."""
    p = softmax(theta)
    action = sample(p, u)
    return Visit(theta, p, int(action), grad_log_prob(p, action))


def pay(first: int, second: int) -> float:
    """The reward at the end of a trajectory: the verifier's, for the whole text."""
    return float(score(EXAMPLE, PIECES[0][first] + PIECES[1][second])["reward"])


def return_to_go(rewards: list[float]) -> list[float]:
    """G_t = r_t + r_{t+1} + …: what came of a step is all that was paid from it on."""
    return [sum(rewards[step:]) for step in range(len(rewards))]


def expected_return(theta: Theta) -> float:
    """J = Σ over the four trajectories of p(first) · p(second | first) · reward."""
    p_first, p_second = softmax(theta.first), softmax(theta.second)
    return float(sum(p_first[a] * p_second[a, b] * pay(a, b) for a in (0, 1) for b in (0, 1)))


def start() -> Theta:
    """Even chances everywhere."""
    return Theta(np.zeros(2), np.zeros((2, 2)))
