"""Math-Verify as its README calls it: parse both, then verify, gold first."""

from importlib import import_module
from typing import Any

from field.asking import answer_cases


def verify(expected: str, completion: str) -> float:
    of: Any = import_module("math_verify")
    return float(of.verify(of.parse(expected), of.parse(completion)))


if __name__ == "__main__":
    answer_cases({"boxed": verify, "plain": verify})
