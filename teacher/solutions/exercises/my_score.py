"""A solution of exercises/my_score.py."""

import re
from typing import Any


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
