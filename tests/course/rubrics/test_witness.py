"""The texts that verifiers are tried on: in order, each once, and enough to find every gap that this course names."""

from functools import cache
from itertools import product
from typing import Any

import pytest

from course.rubrics import Rubric
from course.rubrics.ablations import RULES, without
from course.rubrics.hackable import GAPS
from course.rubrics.witness import candidates
from course.score import score

GOLDS = (323, -7, 0, 10)


@cache
def texts_for(gold: int) -> tuple[str, ...]:
    return tuple(candidates(gold))


def witness(rubric: Rubric) -> tuple[int, str] | None:
    for gold in GOLDS:
        example = {"prompt": "p", "expected_answer": gold}
        for text in texts_for(gold):
            if rubric(example, text)["reward"] != score(example, text)["reward"]:
                return gold, text
    return None


@pytest.mark.parametrize("gold", [*GOLDS, -1234567])
def test_each_text_comes_once_and_the_shortest_first(gold: int) -> None:
    texts = list(candidates(gold))
    assert len(texts) == len(set(texts))
    assert [len(text) for text in texts] == sorted(map(len, texts))
    assert texts == list(candidates(gold))


def test_all_strings_of_up_to_five_symbols_are_there() -> None:
    strings = {"".join(some) for some in product(["Final: ", "42", "\n", "-", "0"], repeat=5)}
    assert strings <= set(candidates(42))


def test_right_lines_are_there_and_the_spec_pays_no_others() -> None:
    paid = {text for text in candidates(323) if score({"prompt": "p", "expected_answer": 323}, text)["reward"]}
    assert {"Final: 323", " Final: 323", "Final: 323\n\n"} <= paid
    assert {text.strip(" \t\r\n") for text in paid} == {"Final: 323"}


@pytest.mark.parametrize("name", GAPS)
def test_each_hackable_rubric_has_a_witness(name: str) -> None:
    assert witness(GAPS[name].rubric) is not None


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_that_is_missing_has_a_witness(rule: str) -> None:
    assert witness(without(rule)) is not None


def test_a_right_verifier_has_none() -> None:
    def pays_the_spec(example: dict[str, Any], completion: str) -> dict[str, Any]:
        right = completion.strip(" \t\r\n") == f"Final: {example['expected_answer']}"
        return {"reward": 1.0 if right else 0.0}

    assert witness(pays_the_spec) is None
