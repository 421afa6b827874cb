"""Yours to write: the reward spec, from its three sentences. Do not look into course/score.py until it is right.

    python3 -m check level_1

tries your rule on the golden sets and on thousands of other texts, and shows the shortest text that it gets wrong.
"""

from typing import Any


def score(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """The reward of one completion, and why: ``{"reward": 1.0 or 0.0, "details": {"message": "one sentence"}}``.

    1. Trim: take ASCII space, tab, CR and LF off both ends of the completion, and nothing else.
    2. Format: what is left is, from its first character to its last, ``Final: `` and an integer: 0, or a digit from 1
       to 9 and any number of digits from 0 to 9 after it, with or without one ``-`` in front. ASCII only.
    3. Value: that integer, as it is written, is ``example["expected_answer"]`` in base ten. Reward 1.0; else 0.0.

    Nothing is coerced and nothing raises: a completion that is no str gets 0.0, and so does an example that is no dict
    with a ``prompt`` (str) and an ``expected_answer`` (int, and True is none). The same two get the same answer every
    time. ``message`` says what was expected and what was there.
    """
    raise NotImplementedError
