"""Machinery: the smallest world of Loop C, a bandit: one prompt, four completions, rewards from the verifier.

State: the prompt, always the same. Action (an arm): a whole completion. Reward: the ``score`` of that completion. The
episode ends there, so the return is the reward. A bandit is RL with episodes of one step.

One arm of the four gets reward 1. The others fail in three ways: no ``Final: ``, a wrong value, and words behind the
right value. The learner sees only the rewards of the arms that it samples.
"""

from typing import Any

import numpy as np

from course.policies.softmax import Floats
from course.score import score

EXAMPLE: dict[str, Any] = {
    "id": "17-times-19",
    "prompt": "Compute 17 * 19. Answer with exactly one line: Final: <int>",
    "expected_answer": 323,
}
ARMS = ("The answer is 323.", "Final: 323", "Final: 332", "Final: 323. I hope this helps!")


def arm_rewards() -> Floats:
    """[K] The verifier's reward for each arm."""
    return np.array([score(EXAMPLE, arm)["reward"] for arm in ARMS])
