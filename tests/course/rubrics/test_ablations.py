"""The spec less one rule: each golden exploit gets 0.0 from the scorer, and 1.0 from just the rubric it attacks.

A worked example. ``Final: +22`` gets 0.0 for an expected 22: the spec has no plus sign. The rubric without the rule
``no_plus_sign`` reads it as ``Final: 22`` and gives 1.0; no other rubric does.
"""

import json
from typing import Any

import pytest
from conftest import lines_of

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.rubrics import Rubric
from course.rubrics.ablations import RULES, without
from course.rubrics.hackable import GAPS, in_words
from course.score import score

EXPLOITS = lines_of(GOLDEN_EXPLOITS)
CORRECT = lines_of(GOLDEN_CORRECT)
RUBRICS: dict[str, Rubric] = {f"without {rule}": without(rule) for rule in RULES}


def careless(name: str) -> Rubric:
    """A careless verifier, with the details that a person reads."""
    return lambda example, completion: in_words(GAPS[name].rubric(example, completion), completion)


RUBRICS |= {name: careless(name) for name in GAPS}
EXAMPLES = [
    {"prompt": "p", "expected_answer": 22},
    {"id": "q1", "prompt": "p", "expected_answer": -8},
    {"id": "q1", "prompt": "", "expected_answer": 0, "metadata": {"kind": "none"}},
    {"prompt": "p", "expected_answer": 10**30 + 7},
    {"prompt": "p", "expected_answer": -(10**999)},
]
TEXTS = ["Final: 22", "Final: -8", "Final: 0", "22", "", " ", "Final: ", "no", "Final: 22 or 23", "٢٢", "Final: ²", "M"]
TEXTS += ["Final: 1\nFinal: 22", "Final: " + "9" * 5_000, "Final: " * 3_000, "\x1b[31m\u202e\0", "\ud800", "-"]
TEXTS += [
    "Final: 1/0",
    "Final: 9**9",
    "Final: " + "(" * 500,
    "Final: 1e999999",
    "Final: 0x",
    "Final: MMMM",
    "Final: --8",
]


def reward_of(rubric: Rubric, case: dict[str, Any]) -> float:
    example = {key: case[key] for key in ("id", "prompt", "expected_answer")}
    reward: float = rubric(example, case["completion"])["reward"]
    return reward


def test_the_scorer_rewards_no_exploit() -> None:
    assert [case["id"] for case in EXPLOITS if score(case, case["completion"])["reward"] != 0.0] == []


def test_an_exploit_is_rewarded_by_just_the_rubric_without_the_rule_it_attacks() -> None:
    for case in EXPLOITS:
        rewards = {rule: reward_of(without(rule), case) for rule in RULES}
        paying = {rule: reward for rule, reward in rewards.items() if reward}
        assert paying == {case["rule"]: 1.0}, case["id"]


def test_a_rule_less_still_rewards_what_is_right_and_only_without_the_value_what_is_wrong() -> None:
    for rule in RULES:
        for case in CORRECT:
            wrong = case | {"expected_answer": 1 - 2 * case["expected_answer"]}
            assert reward_of(without(rule), case) == 1.0, (rule, case["id"])
            assert reward_of(without(rule), wrong) == float(rule == "value"), (rule, case["id"])


def test_the_rules_are_fifteen_each_with_exploits() -> None:
    assert len(RULES) == len(set(RULES)) == 15
    assert {case["rule"] for case in EXPLOITS} == set(RULES)


def test_a_rubric_says_in_its_details_which_rule_it_lacks() -> None:
    said = {rule: without(rule)(EXAMPLES[0], "Final: 22")["details"]["scorer"] for rule in RULES}
    assert said == {rule: {"name": f"final_int without {rule}", "version": "1.2.0"} for rule in RULES}


def test_what_is_no_example_or_no_text_is_left_to_the_scorer() -> None:
    for example, completion in (
        ({}, "Final: 22"),
        (EXAMPLES[0], None),
        (None, None),
    ):
        outcomes = {rule: without(rule)(example, completion)["details"]["outcome"] for rule in RULES}  # type: ignore[arg-type]
        assert set(outcomes.values()) <= {"invalid_example", "completion_not_text"}, outcomes


@pytest.mark.parametrize("name", RUBRICS)
def test_every_rubric_keeps_the_scorers_contract(name: str) -> None:
    rubric = RUBRICS[name]
    for example in EXAMPLES:
        for text in TEXTS:
            before = json.dumps(example)
            result = rubric(example, text)
            first = json.dumps(result)  # serialisable, and a copy
            assert json.dumps(example) == before
            assert set(result) == {"reward", "details"}
            assert type(result["reward"]) is float
            assert 0.0 <= result["reward"] <= 1.0
            assert list(result["details"]) == list(score(example, text)["details"])
            assert len(result["details"]["completion_preview"]) <= 200
            assert result["details"]["completion_preview"].isprintable()
            assert result["details"]["message"].isprintable()
            assert len(first) < 4_000
            result["details"]["scorer"]["name"] = "spoilt"
            result["details"]["checks"].clear()
            result["details"]["outcome"] = "spoilt"
            assert json.dumps(rubric(example, text)) == first


def test_every_rubric_rewards_the_line_that_the_scorer_rewards() -> None:
    for example in EXAMPLES[:4]:
        line = f"Final: {example['expected_answer']}"
        assert score(example, line)["reward"] == 1.0
        rewards = {name: rubric(example, line)["reward"] for name, rubric in RUBRICS.items()}
        assert rewards.pop("format_bonus") == 1 / 3, line  # the rest is for saying it again
        assert {name: reward for name, reward in rewards.items() if reward != 1.0} == {}, line
