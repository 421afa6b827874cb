"""Yours to write: one update of REINFORCE, from a reward to new logits. Plain Python is enough: import math.

    python3 -m check level_3

compares the three functions with their exact values, on inputs of its own choice, and names the mistake if it knows it.
"""


def advantage(rewards: list[float], baseline: float) -> list[float]:
    """For each completion, by how much its reward is above the baseline; below 0 where it is lower.

    Worked out: rewards [1, 0], baseline 0.25. The advantages are 0.75 and -0.25.
    """
    raise NotImplementedError


def leave_one_out(rewards: list[float]) -> list[float]:
    """For each completion of a group its baseline: the mean reward of the others in the group, its own left out.

    ``rewards``: of two completions or more, all of one prompt.

    Worked out: rewards [1, 0, 0.5]. The baselines are 0.25, 0.75 and 0.5.
    """
    raise NotImplementedError


def reinforce_step(
    theta: list[list[float]], actions: list[int], reward: float, baseline: float, lr: float
) -> list[list[float]]:
    """The new logits after one episode of T steps with one reward at its end.

    ``theta``: for each step t its K logits, the policy's parameters there. ``actions``: which action was taken at each
    step. Every step is credited with the reward at the end; the advantage is that reward minus the baseline. At each
    step the logits change by lr times the advantage times the gradient of the log-probability of the action taken,
    which is 1 - p for that action's logit, and -p for each other's, p being the softmax of that step's logits. A logit
    may be as large as 1,000, whose exp() no float holds: take a step's largest logit off all of its logits first, which
    changes no probability.

    Worked out: theta [[0, 0], [0, 0]], actions [0, 1], reward 1, baseline 0.5, lr 0.4. The new logits are
    [[0.1, -0.1], [-0.1, 0.1]].
    """
    raise NotImplementedError
