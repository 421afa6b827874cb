"""The smallest world of Loop C: one prompt, four completions to choose from, and the verifier that pays.

State: the prompt, always the same. Action (an arm): a whole completion. Reward: what ``score`` pays for it. The
episode ends there, so the return is the reward. That is a bandit, the special case of RL with one step.

Two of the arms are paid: the verifier trims a newline, so both are the right line. Nothing tells the learner which
they are but the rewards of the arms that it happens to pull.
"""

from typing import Any

import numpy as np

from course.policies.softmax import Floats
from course.score import score

EXAMPLE: dict[str, Any] = {
    "id": "bandit",
    "prompt": "Compute 17 * 19. Answer with exactly one line: Final: <int>",
    "expected_answer": 323,
}
ARMS = ("The answer is 323.", "Final: 323", "Final: 332", "Final: 323\n")


def rewards() -> Floats:
    """[K] what the verifier pays for each arm. A learner is told only the reward of the arm it pulled."""
    return np.array([score(EXAMPLE, arm)["reward"] for arm in ARMS])
