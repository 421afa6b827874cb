"""A solution of exercises/my_score.py.

The spec

    1. Trim: ASCII space, tab, CR and LF go off both ends, and nothing else.
    2. Format: the rest is ``Final: `` and an integer, in ASCII, without a plus, zeros in front or ``-0``.
    3. Value: the integer, as it is written, is the expected answer: 1.0. Everything else gets 0.0.

Its changes

    1: the spec of the course
"""

import re
from typing import Any

VERSION = "1"


def score(example: dict[str, Any], completion: str) -> dict[str, Any]:
    prompt, answer = (example.get("prompt"), example.get("expected_answer")) if type(example) is dict else (None, None)
    if type(prompt) is not str or type(answer) is not int:
        return _result(0.0, "expected an example with a prompt and an integer")
    if type(completion) is not str:
        return _result(0.0, f"expected a text, got {type(completion).__name__}")
    text = completion.strip(" \t\r\n")
    match = re.fullmatch("Final: (0|-?[1-9][0-9]*)", text)
    if match is None:
        return _result(0.0, f"expected 'Final: ' and a plain integer, got {text[:80]!r}")
    return _result(float(match[1] == str(answer)), f"expected {answer}, got {match[1][:80]}")


def _result(reward: float, message: str) -> dict[str, Any]:
    return {"reward": reward, "details": {"message": message}}
