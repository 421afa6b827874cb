"""reasoning-gym: extract_answer, then the score_answer that its datasets inherit, and that of a sum of integers."""

from importlib import import_module
from typing import Any

from field.asking import Verifier, answer_cases


def verifier(dataset: str) -> Verifier:
    extract: Any = import_module("reasoning_gym.utils").extract_answer
    data: Any = import_module("reasoning_gym").create_dataset(dataset, size=1, seed=1)

    def ask(expected: str, completion: str) -> float:
        return float(data.score_answer(extract(completion), {"answer": expected}))

    return ask


if __name__ == "__main__":
    # The answers of number_sequence are integers too, and it inherits its score_answer.
    answer_cases({"gym": verifier("number_sequence"), "sum": verifier("chain_sum")})
