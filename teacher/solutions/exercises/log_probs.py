"""A solution of exercises/log_probs.py."""

import math


def log_prob(logits: list[list[float]], tokens: list[int]) -> float:
    total = 0.0
    for x, token in zip(logits, tokens, strict=True):
        largest = max(x)
        total += x[token] - largest - math.log(sum(math.exp(each - largest) for each in x))
    return total


def kl(p: list[float], q: list[float]) -> float:
    return sum(a * math.log(a / b) for a, b in zip(p, q, strict=True) if a > 0)
