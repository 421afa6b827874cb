"""The bandit plus time, an episode of two tokens and one reward at its end. The prompt is the bandit's, 17 * 19.

State 0: nothing is written. State 1 + a: the first token, a, is written. Action: one of two tokens. Reward: 0 after
the first token; after the second, the ``score`` of the whole text. Only one of the four trajectories gets reward 1,
and its first token earns nothing when it is written: credit has to travel back from the end.

Left out of REINFORCE as published (Williams 1992): nothing but a discount, which two steps do not need.
"""

from typing import NamedTuple

import numpy as np

from course.policies.bandit import EXAMPLE
from course.policies.softmax import Floats, Ints, sample, softmax
from course.score import score

TOKENS = (("Answer: ", "Final: "), ("332", "323"))  # [step][action]
STATES, ACTIONS = 3, 2


class EpisodeUpdate(NamedTuple):
    """One update from one episode of T = 2 steps, with everything that went into it."""

    theta: Floats  # [states, actions] before
    state: Ints  # [T]
    action: Ints  # [T]
    reward: Floats  # [T] 0 until the end
    return_: Floats  # [T] Σ of the rewards from each step on
    baseline: float  # the one that this update used
    advantage: Floats  # [T] return_ − baseline, and 0 for a step that gets no credit
    direction: Floats  # [states, actions] advantage · ∂ log p / ∂ theta; 0 at a state that was not visited
    new_theta: Floats  # [states, actions] theta + lr · direction


def sample_trajectory(theta: Floats, u: Floats) -> tuple[Ints, Ints]:
    """``(state, action)``, each [T]: the states visited and the tokens sampled. ``u``: [T] uniform draws."""
    first = sample(softmax(theta[0]), u[0])
    second = sample(softmax(theta[1 + first]), u[1])
    return np.array([0, 1 + first]), np.array([first, second])


def decode(action: Ints) -> str:
    """The text that the actions of a trajectory write."""
    return "".join(tokens[a] for tokens, a in zip(TOKENS, action.tolist(), strict=True))


def expected_return(theta: Floats) -> float:
    """J = Σ over the four trajectories of p(first) · p(second | first) · reward."""
    p = softmax(theta)
    j = 0.0
    for first, second in np.ndindex(ACTIONS, ACTIONS):
        j += p[0, first] * p[1 + first, second] * score(EXAMPLE, decode(np.array([first, second])))["reward"]
    return float(j)
