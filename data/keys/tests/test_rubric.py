"""Tests of the reward spec that let no wrong verifier of the course through. One of many right solutions.

Each row is one completion, chosen where the spec draws a line. A test asks for the reward, for the outcome and for what
was read; it takes nothing else for given, so that it fails, and does not crash, where a verifier gives no details.
"""

import time
from collections.abc import Callable
from typing import Any

import pytest

Rubric = Callable[[object, object], Any]

RIGHT = [
    (323, "Final: 323"),
    (323, " \t\r\nFinal: 323\n\r\t "),
    (323, "\tFinal: 323"),
    (323, "Final: 323\n"),
    (323, "Final: 323 "),
    (-7, "Final: -7"),
    (7, "Final: 7"),
    (0, "Final: 0"),
    (10**12, "Final: 1000000000000"),
    (323, " " * 1_000 + "Final: 323" + "\n" * 1_000),
]

WRONG = [
    # the two ends: other white space is not trimmed
    (0, "Final: 0\xa0", "not_ascii"),
    (0, "Final: 0\u200b", "not_ascii"),
    (0, "Final: 0\u3000", "not_ascii"),
    (0, "Final: 0\x00", "extra_whitespace"),
    (0, "Final: 0\x0b", "not_single_line"),
    (0, "Final: 0\x0c", "not_single_line"),
    (0, "Final: 0\x85", "not_single_line"),
    (0, "Final: 0\u2028", "not_single_line"),
    (0, "\xa0Final: 0", "missing_prefix"),
    (0, "\u200bFinal: 0", "missing_prefix"),
    (0, "\u3000Final: 0", "missing_prefix"),
    (0, "\x00Final: 0", "missing_prefix"),
    (0, "\ufeffFinal: 0", "missing_prefix"),
    (0, "\vFinal: 0", "not_single_line"),
    # lines
    (323, "So.\nFinal: 323", "not_single_line"),
    (323, "Final: 323\nSo.", "not_single_line"),
    (323, "Final:\n323", "not_single_line"),
    (323, "Final: 323\rSo.", "not_single_line"),
    (323, "Final: 3\u202823", "not_single_line"),
    (323, "So.\nSo.", "not_single_line"),
    # the prefix
    (323, "323", "missing_prefix"),
    (323, "323 x", "missing_prefix"),
    (323, "x 323", "missing_prefix"),
    (323, "Final:323", "missing_prefix"),
    (323, "Final 323", "missing_prefix"),
    (323, "Final : 323", "missing_prefix"),
    (323, "final: 323", "missing_prefix"),
    (323, "FINAL: 323", "missing_prefix"),
    (323, "Answer: 323", "missing_prefix"),
    (323, "Final answer: 323", "missing_prefix"),
    (323, "So, Final: 323", "missing_prefix"),
    (323, "Final = 323", "missing_prefix"),
    (323, "Final:\t323", "missing_prefix"),
    (323, "Final:\xa0323", "missing_prefix"),
    (323, "*Final: 323*", "missing_prefix"),
    (323, "`Final: 323`", "missing_prefix"),
    (323, '"Final: 323"', "missing_prefix"),
    (323, "(Final: 323)", "missing_prefix"),
    (323, "x", "missing_prefix"),
    (323, "Final:", "missing_prefix"),
    (323, "", "empty"),
    # white space within, signs, digits, zeros
    (323, "Final:  323", "extra_whitespace"),
    (323, "Final: 3 23", "extra_whitespace"),
    (323, "Final: +323", "plus_sign"),
    (0, "Final: +0", "plus_sign"),
    (-7, "Final: +-7", "plus_sign"),
    (-7, "Final: \u22127", "not_ascii"),
    (-7, "Final: \u20137", "not_ascii"),
    (-7, "Final: \uff0d7", "not_ascii"),
    (323, "Final: --323", "not_an_integer"),
    (323, "Final: \uff0b323", "not_ascii"),
    (323, "Final: \u0663\u0662\u0663", "not_ascii"),
    (323, "Final: \u0969\u0968\u0969", "not_ascii"),
    (323, "Final: \uff13\uff12\uff13", "not_ascii"),
    (323, "Final: \u2083\u2082\u2083", "not_ascii"),
    (0, "Final: -0", "negative_zero"),
    (323, "Final: -0", "negative_zero"),
    (323, "Final: 0323", "leading_zeros"),
    (323, "Final: 00323", "leading_zeros"),
    (-7, "Final: -07", "leading_zeros"),
    # other notations, and what stands around the number
    (323, "Final: 323.", "not_an_integer"),
    (323, "Final: 323!", "not_an_integer"),
    (323, "Final: 323%", "not_an_integer"),
    (323, "Final: 323,", "not_an_integer"),
    (323, "Final: 323 apples", "not_an_integer"),
    (323, "Final: 323 (sure)", "not_an_integer"),
    (323, "Final: 323 so", "not_an_integer"),
    (323, "Final: 323.0", "not_an_integer"),
    (323, "Final: 323.00", "not_an_integer"),
    (323, "Final: 323.9", "not_an_integer"),
    (323, "Final: 323e0", "not_an_integer"),
    (323, "Final: 323e5", "not_an_integer"),
    (323, "Final: 323+0", "not_an_integer"),
    (323, "Final: 323-0", "not_an_integer"),
    (323, "Final: 323*1", "not_an_integer"),
    (323, "Final: 323/1", "not_an_integer"),
    (323, "Final: 323x", "not_an_integer"),
    (323, "Final: $323$", "not_an_integer"),
    (323, "Final: (323)", "not_an_integer"),
    (323, "Final: 3_23", "not_an_integer"),
    (323, "Final: 3,23", "not_an_integer"),
    (323, "Final: 0x143", "not_an_integer"),
    (323, "Final: ?", "not_an_integer"),
    (323, "Final: x 323", "not_an_integer"),
    (323, "Final: 324, 323", "not_an_integer"),
    (323, "Final: 323 or 324", "not_an_integer"),
    (323, "Final: 324/323", "not_an_integer"),
    (323, "Final: 323 Final: 323", "not_an_integer"),
    (323, "Final: 324 Final: 323", "not_an_integer"),
    # the value
    (323, "Final: -323", "wrong_answer"),
    (323, "Final: 322", "wrong_answer"),
    (323, "Final: 324", "wrong_answer"),
    (323, "Final: 325", "wrong_answer"),
    (323, "Final: 3230", "wrong_answer"),
    (323, "Final: 3233", "wrong_answer"),
    (323, "Final: 1323", "wrong_answer"),
    (323, "Final: 333", "wrong_answer"),
    (323, "Final: 423", "wrong_answer"),
    (323, "Final: 0", "wrong_answer"),
    (323, "Final: 7", "wrong_answer"),
    (323, "Final: 70", "wrong_answer"),
    (-7, "Final: 7", "wrong_answer"),
    (-7, "Final: -8", "wrong_answer"),
    (-7, "Final: -17", "wrong_answer"),
    (2**53 + 1, f"Final: {2**53}", "wrong_answer"),
    (323, "Final: " + "9" * 10_000, "wrong_answer"),
    # the middle of a long text counts
    (323, "Final: 323" + " " * 1_000 + "x", "not_an_integer"),
    (323, "x" + " " * 1_000 + "Final: 323", "missing_prefix"),
]
UNREADABLE = [None, True, "323", "x", 323.0, 0.5, [323]]


def example(gold: object) -> dict[str, object]:
    return {"id": "mine-001", "prompt": "Answer with one line: Final: <int>", "expected_answer": gold}


def details_of(result: Any, *names: str) -> list[object]:
    """Details by name, None for each that is not there."""
    details = result.get("details")
    if not isinstance(details, dict):
        return [None] * len(names)
    return [details.get(name) for name in names]


def is_reward(result: Any, reward: float) -> bool:
    return type(result["reward"]) is float and result["reward"] == reward


@pytest.mark.parametrize(("gold", "completion"), RIGHT)
def test_the_right_line_is_paid(rubric: Rubric, gold: int, completion: str) -> None:
    result = rubric(example(gold), completion)
    assert is_reward(result, 1.0)
    assert details_of(result, "outcome", "parsed_answer", "expected_answer") == ["ok", str(gold), str(gold)]


@pytest.mark.parametrize(("gold", "completion", "outcome"), WRONG)
def test_nothing_else_is_paid(rubric: Rubric, gold: int, completion: str, outcome: str) -> None:
    result = rubric(example(gold), completion)
    assert is_reward(result, 0.0)
    assert details_of(result, "outcome", "expected_answer") == [outcome, str(gold)]


def test_a_wrong_value_is_shown(rubric: Rubric) -> None:
    assert details_of(rubric(example(323), "Final: 324"), "parsed_answer", "expected_answer") == ["324", "323"]


def test_the_checks_are_shown(rubric: Rubric) -> None:
    (checks,) = details_of(rubric(example(323), "Final: 324"), "checks")
    assert isinstance(checks, dict)
    assert checks.get("value") == "failed"


@pytest.mark.parametrize("completion", [None, 323, True, ["Final: 323"], b"Final: 323"])
def test_a_completion_is_text(rubric: Rubric, completion: object) -> None:
    result = rubric(example(323), completion)
    assert is_reward(result, 0.0)
    assert details_of(result, "outcome") == ["completion_not_text"]


@pytest.mark.parametrize("gold", UNREADABLE)
@pytest.mark.parametrize("completion", ["Final: 323", "Final: 1", "Final: 0", "Final: 323.0", "Final: x", "", "x"])
def test_an_answer_that_cannot_be_read_pays_nothing(rubric: Rubric, gold: object, completion: str) -> None:
    result = rubric(example(gold), completion)
    assert is_reward(result, 0.0)
    assert details_of(result, "outcome") == ["invalid_example"]


@pytest.mark.parametrize("completion", ["Final: 323", "Final: 324"])
def test_the_same_text_gets_the_same_result(rubric: Rubric, completion: str) -> None:
    first, second, third = (rubric(example(323), completion) for _ in range(3))
    assert first == second == third


@pytest.mark.parametrize("completion", ["Final: 323" + " " * 6_000, "Final: " + "0" * 6_000])
def test_a_long_text_is_quick(rubric: Rubric, completion: str) -> None:
    start = time.monotonic()
    rubric(example(323), completion)
    assert time.monotonic() - start < 0.3
