"""The careless hand: how often it is right, in value and in form.

The worked example. For the prompt with the answer 107 a demonstration is "Final: 107" with the probability
9/20 · (0.45 + 0.55 / 50): nine of twenty forms, and the right value is written on purpose or by chance.
"""

import re
from collections import Counter
from functools import cache

import numpy as np
import pytest

from course.policies.softmax import Ints
from course.policies.token_learner import CORRECT, FORMS, demonstrate
from course.score import score

ANSWERS = [100 + place for place in range(50)]  # no two the same, and all of three digits
COUNT = 40_000
SHAPES = {  # a pattern of the text -> how many of the 20 forms have it; n is the value, o another prompt's answer
    "Final: n": 9,
    "The answer is n.": 3,
    "n": 2,
    "Final: n.": 2,
    "Final:n": 1,
    "o\nFinal: n": 1,
    "o n": 1,
    "o\nn": 1,
}


@cache
def shown_and_written(seed: int = 0, count: int = COUNT) -> tuple[Ints, list[str]]:
    shown = np.random.default_rng(99).integers(len(ANSWERS), size=count)
    return shown, demonstrate(ANSWERS, shown, np.random.default_rng(seed))


def value_of(text: str) -> int:
    """The value that a demonstration gives: of two numbers the last."""
    return int(re.findall("[0-9]+", text)[-1])


def shape_of(text: str) -> str:
    numbers = re.findall("[0-9]+", text)
    return re.sub("[0-9]+", "n", text) if len(numbers) == 1 else re.sub("[0-9]+", "n", re.sub("^[0-9]+", "o", text))


def near(share: float) -> object:
    """A share of COUNT draws, within five standard deviations."""
    return pytest.approx(share, abs=5 * (share * (1 - share) / COUNT) ** 0.5)


def test_the_forms_are_these_and_no_others_each_as_often_as_it_stands_in_the_list() -> None:
    _, texts = shown_and_written()
    counts = Counter(map(shape_of, texts))
    assert counts.keys() == SHAPES.keys()
    assert len(FORMS) == sum(SHAPES.values())
    for shape, forms in SHAPES.items():
        assert counts[shape] / COUNT == near(forms / 20)


def test_the_value_is_right_as_often_as_it_is_known_and_now_and_then_by_chance() -> None:
    shown, texts = shown_and_written()
    right = [value_of(text) == ANSWERS[prompt] for prompt, text in zip(shown.tolist(), texts, strict=True)]
    assert CORRECT == 0.45
    assert np.mean(right) == near(0.45 + 0.55 / 50)


def test_a_wrong_value_is_any_other_prompts_answer_with_the_same_chance() -> None:
    shown, texts = shown_and_written()
    values = [value_of(text) for text in texts]
    wrong = [value for prompt, value in zip(shown.tolist(), values, strict=True) if value != ANSWERS[prompt]]
    counts = Counter(wrong)
    assert counts.keys() == set(ANSWERS)
    for answer in ANSWERS:
        assert counts[answer] / len(wrong) == pytest.approx(1 / 50, abs=5 * (0.02 * 0.98 / len(wrong)) ** 0.5)


def test_the_other_number_says_nothing_about_the_prompt_nor_about_the_value() -> None:
    shown, texts = shown_and_written()
    pairs = [
        (int(re.findall("[0-9]+", text)[0]), value_of(text), ANSWERS[prompt])
        for prompt, text in zip(shown.tolist(), texts, strict=True)
        if shape_of(text).startswith("o")
    ]
    slack = 5 * (0.02 * 0.98 / len(pairs)) ** 0.5
    assert {other for other, _, _ in pairs} == set(ANSWERS)
    assert np.mean([other == answer for other, _, answer in pairs]) == pytest.approx(1 / 50, abs=slack)
    assert np.mean([other == value for other, value, _ in pairs]) == pytest.approx(1 / 50, abs=slack)


def test_form_and_value_are_careless_independently() -> None:
    shown, texts = shown_and_written()
    right = [
        value_of(text) == ANSWERS[prompt]
        for prompt, text in zip(shown.tolist(), texts, strict=True)
        if shape_of(text) == "Final: n"
    ]
    assert np.mean(right) == pytest.approx(0.461, abs=5 * (0.25 / len(right)) ** 0.5)


def test_the_scorer_pays_about_a_fifth_of_them() -> None:
    shown, texts = shown_and_written()
    examples = [{"id": "q", "prompt": "?", "expected_answer": answer} for answer in ANSWERS]
    rewards = [score(examples[prompt], text)["reward"] for prompt, text in zip(shown.tolist(), texts, strict=True)]
    assert np.mean(rewards) == near(9 / 20 * (0.45 + 0.55 / 50))


def test_one_for_each_prompt_shown_and_the_same_generator_writes_the_same() -> None:
    shown, texts = shown_and_written(3, 200)
    assert len(texts) == 200
    assert demonstrate(ANSWERS, shown, np.random.default_rng(3)) == texts
    others = demonstrate(ANSWERS, shown, np.random.default_rng(4))
    for kind in (shape_of, value_of):
        assert sum(kind(one) != kind(other) for one, other in zip(texts, others, strict=True)) > 50


def test_negative_answers_and_a_single_prompt_are_no_special_case() -> None:
    texts = demonstrate([-7], np.zeros(300, np.int64), np.random.default_rng(0))
    assert {re.sub("-7", "n", text) for text in texts} == {re.sub("^o", "n", shape) for shape in SHAPES}
