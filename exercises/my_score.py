"""Yours to write, from level 1 on: the reward spec in words, its version, and the same as code.

    python3 -m check level_1

compares your rewards with the spec on the golden sets and on thousands of other texts, and shows one that gets a wrong
reward. Do not look into course/score.py until your rule is right. Then ``course.eval`` measures with it:

    python3 -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl --rubric exercises/my_score.py:score

The spec

    1. Trim: take ASCII space, tab, CR and LF off both ends of the completion, and nothing else.
    2. Format: the whole rest is ``Final: `` and an integer, in ASCII. The integer is 0, or a digit from 1 to 9 followed
       by any number of digits from 0 to 9, with or without one ``-`` in front. ``-0`` is not allowed.
    3. Value: the integer, as it is written, is ``example["expected_answer"]`` in base ten. Then the reward is 1.0. In
       every other case the reward is 0.0.

Its changes

    1: the spec of the course
"""

from typing import Any

VERSION = "1"  # a new one for each change of the spec; every run that this file measures records it


def score(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """The reward of one completion, and why: ``{"reward": 1.0 or 0.0, "details": {"message": "one sentence"}}``.

    Nothing is coerced, and nothing raises. A completion that is not a str gets 0.0. So does every completion if the
    example is not a dict with a ``prompt`` (str) and an ``expected_answer`` (int; True is not an int here). The same
    example and completion get the same result every time. ``message`` says what was expected and what was there.
    """
    raise NotImplementedError("write score in exercises/my_score.py")
