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
from course.rubrics.hackable import GAPS
from course.score import score

EXPLOITS = lines_of(GOLDEN_EXPLOITS)
CORRECT = lines_of(GOLDEN_CORRECT)
RUBRICS: dict[str, Rubric] = {f"without {rule}": without(rule) for rule in RULES}
RUBRICS |= {name: gap.rubric for name, gap in GAPS.items()}
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


@pytest.mark.parametrize("case", EXPLOITS, ids=lambda case: case["id"])
def test_an_exploit_is_rewarded_by_just_the_rubric_without_the_rule_it_attacks(case: dict[str, Any]) -> None:
    assert score(case, case["completion"])["reward"] == 0.0
    assert [rule for rule in RULES if reward_of(without(rule), case)] == [case["rule"]]
    assert reward_of(without(case["rule"]), case) == 1.0


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_less_still_rewards_what_is_right_and_only_without_the_value_what_is_wrong(rule: str) -> None:
    rubric = without(rule)
    for case in CORRECT:
        assert reward_of(rubric, case) == 1.0
        wrong = case | {"expected_answer": 1 - 2 * case["expected_answer"]}
        assert reward_of(rubric, wrong) == (1.0 if rule == "value" else 0.0)


def test_the_rules_are_fifteen_each_with_exploits() -> None:
    assert len(RULES) == len(set(RULES)) == 15
    assert {case["rule"] for case in EXPLOITS} == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_a_rubric_says_in_its_details_which_rule_it_lacks(rule: str) -> None:
    assert without(rule)(EXAMPLES[0], "Final: 22")["details"]["scorer"] == {
        "name": f"final_int without {rule}",
        "version": "1.1.0",
    }


@pytest.mark.parametrize("rule", RULES)
def test_what_is_no_example_or_no_text_is_left_to_the_scorer(rule: str) -> None:
    for example, completion in (({}, "Final: 22"), (EXAMPLES[0], None), (None, None)):
        details = without(rule)(example, completion)["details"]  # type: ignore[arg-type]
        assert details["outcome"] in ("invalid_example", "completion_not_text")


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


@pytest.mark.parametrize("name", RUBRICS)
def test_every_rubric_rewards_the_line_that_the_scorer_rewards(name: str) -> None:
    for example in EXAMPLES[:4]:
        line = f"Final: {example['expected_answer']}"
        assert score(example, line)["reward"] == 1.0
        assert RUBRICS[name](example, line)["reward"] == 1.0
