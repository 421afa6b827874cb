"""Yours to write: how probable a text is, and how far two policies are apart. Plain Python is enough: import math.

    python3 -m check log_probs

holds both functions against their exact values, on inputs of its own choice, and names the mistake where it knows it.
"""


def log_prob(logits: list[list[float]], tokens: list[int]) -> float:
    """The natural logarithm of the probability that a policy writes this sequence of tokens.

    ``logits``: for each of the T tokens, a logit for each of the K tokens that could have been written there; softmax
    makes probabilities of them. ``tokens``: which was written, T numbers from 0 to K - 1. The probability of a sequence
    is the product of its tokens' probabilities, so its logarithm is the sum of theirs. A logit may be as large as
    1,000, whose exp() no float holds: take the largest logit off all of them first, which changes no probability.

    Worked out: logits [[0, 0], [0, ln 3]], tokens [0, 1]. Probabilities 1/2 and 3/4, so ln(3/8) = -0.9808.
    """
    raise NotImplementedError


def kl(p: list[float], q: list[float]) -> float:
    """KL(p || q), in nats: the mean, over actions drawn from p, of the natural logarithm of p over q.

    ``p``, ``q``: the probabilities of the same K actions under two policies. An action with p = 0 adds nothing; q is
    above 0 wherever p is.

    Worked out: p = [1/2, 1/2], q = [1/4, 3/4]. 1/2 ln 2 + 1/2 ln(2/3) = 0.1438.
    """
    raise NotImplementedError
