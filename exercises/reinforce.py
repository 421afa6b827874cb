"""Yours to write, for level 3: one update of REINFORCE, from a reward to new logits. Plain Python and math are enough.

    python3 -m check level_3

compares the three functions with their exact values, on inputs of its own, and names the mistake if it recognises it.
Then the bandit learns with your step:

    python3 -m course.bandit_train --update exercises/reinforce.py:reinforce_step
"""


def advantage(rewards: list[float], baseline: float) -> list[float]:
    """For each completion, its reward minus the baseline: above 0 if the completion earned more than the baseline.

    Worked out: rewards [1, 0], baseline 0.25. The advantages are 0.75 and -0.25.
    """
    raise NotImplementedError("write advantage in exercises/reinforce.py")


def leave_one_out(rewards: list[float]) -> list[float]:
    """For each completion of a group, its baseline: the mean reward of the other completions in the group.

    ``rewards``: the rewards of two or more completions, all of one prompt.

    Worked out: rewards [1, 0, 0.5]. The baselines are 0.25, 0.75 and 0.5.
    """
    raise NotImplementedError("write leave_one_out in exercises/reinforce.py")


def reinforce_step(
    theta: list[list[float]], actions: list[int], reward: float, baseline: float, lr: float
) -> list[list[float]]:
    """The new logits after one episode of T steps with one reward at its end.

    ``theta``: for each step t, its K logits, which are the policy's parameters at that step. ``actions``: for each
    step, the number of the action that was taken. Every step is credited with the reward at the end, so the advantage
    of every step is that reward minus the baseline. The logits of a step change by lr times the advantage times the
    gradient of the log-probability of the action taken. That gradient is 1 - p for the logit of the action taken, and
    -p for every other logit, where p is the softmax of the step's logits. A logit may be as large as 1,000, and no
    float holds exp(1000): first subtract a step's largest logit from all logits of the step, which changes no
    probability.

    Worked out: theta [[0, 0], [0, 0]], actions [0, 1], reward 1, baseline 0.5, lr 0.4. The new logits are
    [[0.1, -0.1], [-0.1, 0.1]].
    """
    raise NotImplementedError("write reinforce_step in exercises/reinforce.py")
