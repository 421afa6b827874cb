"""What course.validate_scorer prints.

An example: of two right completions one got 0.0, a false negative; of one wrong completion none got 1.0.
"""

import re

from course.artifacts.scorer_identity import GoldenVerdict
from course.datasets.records import GoldenCase
from course.show.measurement import verdict_text
from course.validate_scorer import ablations_text, confusion_text


def verdict(expected: float, reward: float, completion: str = "Final: 7\x1b") -> GoldenVerdict:
    outcome = "ok" if expected else "empty"
    case = GoldenCase(
        id="c1",
        prompt="3 + 4?",
        expected_answer=7,
        completion=completion,
        expected_reward=expected,
        expected_outcome=outcome,
        rule="single_line",
        why="because",
    )
    return GoldenVerdict(case, reward, "ok" if reward else "empty", "the scorer's words")


def test_both_ways_to_be_wrong_are_counted() -> None:
    text = confusion_text([verdict(1.0, 1.0), verdict(1.0, 0.0), verdict(0.0, 0.0)])
    assert text.endswith("false positives  0 of 1\nfalse negatives  1 of 2")


def test_a_rate_of_no_cases_is_undefined() -> None:
    assert "false positives: undefined, no such case" in confusion_text([verdict(1.0, 1.0)])


def test_a_failed_case_says_what_was_expected_and_what_the_scorer_said() -> None:
    text = verdict_text(verdict(1.0, 0.0))
    assert "expected    1.0 ok" in text
    assert "got         0.0 empty" in text
    assert "<U+001B ESCAPE>" in text


def test_each_rule_stands_with_the_exploits_that_need_it() -> None:
    cases = [verdict(0.0, 0.0).case]
    assert re.search("single_line +1 of 1 ", ablations_text(["single_line"], cases, []))
    assert re.search("single_line +0 of 1 ", ablations_text(["single_line"], cases, cases))
