"""Verifiers that believe too much: each rewards its own exploit, on every kind of example, where the scorer does not.

A worked example. ``suffix`` asks whether the line ends in the expected integer: ``Final: 711`` ends in 11, so for an
expected 11 it gives 1.0. The scorer compares the whole integer, and 711 is not 11.
"""

import pytest

from course.rubrics.hackable import (
    GAPS,
    any_candidate,
    anywhere,
    cast,
    format_bonus,
    format_only,
    in_words,
    last_number,
    suffix,
    without_punctuation,
)
from course.score import score

ANSWERS = [22, 1, 7, 10, -8, -1, -100, 0, 1024, 2**53 + 1, -(10**30)]


def example(answer: int) -> dict[str, object]:
    return {"id": "q1", "prompt": "Compute it.", "expected_answer": answer}


@pytest.mark.parametrize("name", GAPS)
def test_a_gap_rewards_its_exploit_and_the_scorer_does_not(name: str) -> None:
    gap = GAPS[name]
    exploits = {answer: gap.exploit(answer) for answer in ANSWERS}
    assert {n: text for n, text in exploits.items() if not gap.rubric(example(n), text)["reward"] > 0} == {}
    assert {n: text for n, text in exploits.items() if score(example(n), text)["reward"] != 0.0} == {}


@pytest.mark.parametrize("name", GAPS)
def test_a_gap_is_named_and_says_what_it_overlooks(name: str) -> None:
    gap = GAPS[name]
    details = in_words(gap.rubric(example(22), "Final: 22"), "Final: 22")["details"]
    assert gap.rubric.__name__ == name
    assert gap.overlooks
    assert details["scorer"] == {"name": name, "version": "wrong on purpose"}
    assert details["message"].startswith((gap.rubric.__doc__ or "").strip())


@pytest.mark.parametrize(
    ("rubric", "answer", "completion", "reward"),
    [
        (anywhere, 22, "somewhere between 21 and 22", 1.0),
        (anywhere, 22, "221 or 122", 0.0),
        (last_number, 22, "not 23, I said 22!", 1.0),
        (last_number, 22, "22, not 23", 0.0),
        (suffix, 11, "Final: 711", 1.0),
        (suffix, 11, "Final: 117", 0.0),
        (suffix, 11, "711", 0.0),
        (any_candidate, 22, "Final: 21 or 22", 1.0),
        (any_candidate, 22, "Final: 221, 122", 0.0),
        (without_punctuation, 22, "Final: ?", 1.0),
        (without_punctuation, 22, "Final: 23", 0.0),
        (format_only, 22, "Final: -999", 1.0),
        (format_only, 22, "22", 0.0),
        (format_bonus, 22, "Final: 22", 1 / 3),
        (format_bonus, 22, "Final: 22 Final", 2 / 3),
        (format_bonus, 22, "Final: 22" * 99, 1.0),
        (format_bonus, 22, "Final: 221 Final: 22", 2 / 3),
        (format_bonus, 22, "Final: 21 Final: 22", 0.0),
        (format_bonus, 22, "22", 0.0),
        (cast, 22, "Final: +0_2_2", 1.0),
        (cast, 22, "٢٢", 1.0),
        (cast, 22, "Final: twenty-two", 0.0),
        (cast, 22, "Final: 23", 0.0),
    ],
)
def test_each_believes_just_what_its_docstring_says(
    rubric: object, answer: int, completion: str, reward: float
) -> None:
    assert callable(rubric)
    result = rubric(example(answer), completion)
    assert result["reward"] == pytest.approx(reward)
    expected = "partial_credit"
    if reward == 1:
        expected = "ok"
    if reward == 0:
        expected = "no_credit"
    assert result["details"]["outcome"] == expected
