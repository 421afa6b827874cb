"""A solution of exercises/reinforce.py."""

import math


def advantage(rewards: list[float], baseline: float) -> list[float]:
    return [reward - baseline for reward in rewards]


def leave_one_out(rewards: list[float]) -> list[float]:
    total = sum(rewards)
    return [(total - reward) / (len(rewards) - 1) for reward in rewards]


def reinforce_step(
    theta: list[list[float]], actions: list[int], reward: float, baseline: float, lr: float
) -> list[list[float]]:
    new_theta = []
    for x, action in zip(theta, actions, strict=True):
        weights = [math.exp(each - max(x)) for each in x]
        p = [weight / sum(weights) for weight in weights]
        gradient = [(i == action) - p[i] for i in range(len(x))]
        new_theta.append([each + lr * (reward - baseline) * g for each, g in zip(x, gradient, strict=True)])
    return new_theta
