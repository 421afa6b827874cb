"""The golden sets: what they hold, what fails on them, and that a scorer with a rule less does not pass.

A worked example. 17 * 19 is 323; the golden case ``Final: 332`` swaps two of its digits and must get 0.0. A scorer that
rewards any integer gives it 1.0, so it fails that case, and the command ends with status 1.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import Lab, lines_of

import course.score
import course.validate_scorer
from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS, scorer_identity
from course.rubrics.ablations import RULES

EXPLOITS = lines_of(GOLDEN_EXPLOITS)
CASE: dict[str, Any] = {
    "id": "mine-1",
    "prompt": "Compute 11 * 2.",
    "expected_answer": 22,
    "completion": "Final: 22",
    "expected_reward": 1.0,
    "expected_outcome": "ok",
    "rule": "plain",
    "why": "my own",
}


@pytest.fixture
def taken_anew() -> Iterator[None]:
    scorer_identity.cache_clear()
    yield
    scorer_identity.cache_clear()


def test_the_shipped_golden_sets_are_passed_and_every_rule_matters(lab: Lab) -> None:
    done = lab("validate_scorer")
    assert (done.status, done.err) == (0, "")
    assert "false positives  0 of 84\n" in done.out
    assert "false negatives  0 of 16\n" in done.out
    assert done.out.endswith("golden sets passed, and every rule of the spec matters\n")
    for rule in RULES:
        n = sum(case["rule"] == rule for case in EXPLOITS)
        assert re.search(rf"^{rule} +{n} of {n} ", done.out, re.MULTILINE)


def test_the_golden_sets_are_large_enough_and_of_many_kinds() -> None:
    correct, exploits = lines_of(GOLDEN_CORRECT), EXPLOITS
    assert len(correct) >= 12
    assert len(exploits) >= 30
    assert len({case["id"] for case in correct + exploits}) == len(correct + exploits)
    assert {(case["expected_reward"], case["expected_outcome"]) for case in correct} == {(1.0, "ok")}
    assert {case["expected_reward"] for case in exploits} == {0.0}
    assert {case["rule"] for case in exploits} == set(RULES)
    for cases in (correct, exploits):
        answers = [case["expected_answer"] for case in cases]
        assert min(answers) < 0 < max(answers)
        assert 0 in answers
        assert all(case["why"] and case["prompt"] for case in cases)


def test_the_golden_verdicts_follow_from_the_spec_read_anew() -> None:
    for case in lines_of(GOLDEN_CORRECT) + EXPLOITS:
        line = re.fullmatch(r"[ \t\r\n]*Final: (0|-?[1-9][0-9]*)[ \t\r\n]*", case["completion"], re.ASCII)
        right = line is not None and line[1] == str(case["expected_answer"])
        assert case["expected_reward"] == float(right), case["id"]


def test_ones_own_cases_are_checked_too(lab: Lab) -> None:
    wrong = CASE | {"id": "mine-2", "completion": "22", "expected_reward": 0.0, "expected_outcome": "missing_prefix"}
    done = lab("validate_scorer", "--golden", lab.write("one.jsonl", [CASE]), lab.write("two.jsonl", [wrong]))
    assert done.status == 0
    assert "false positives  0 of 85" in done.out
    assert "false negatives  0 of 17" in done.out


@pytest.mark.parametrize(
    ("change", "expected", "got"),
    [
        ({"completion": "Final: 23"}, "1.0 ok", "0.0 wrong_answer"),
        ({"completion": "22"}, "1.0 ok", "0.0 missing_prefix"),
        ({"expected_reward": 0.0, "expected_outcome": "empty"}, "0.0 empty", "1.0 ok"),
        ({"completion": "22", "expected_reward": 0.0, "expected_outcome": "empty"}, "0.0 empty", "0.0 missing_prefix"),
    ],
)
def test_a_case_that_is_not_passed_is_named_with_both_verdicts(
    lab: Lab, change: dict[str, object], expected: str, got: str
) -> None:
    done = lab("validate_scorer", "--golden", lab.write("mine.jsonl", [CASE | {"id": "fine"}, CASE | change]))
    assert (done.status, done.err) == (1, "")
    assert done.out.count("FAILED") == 1
    assert "FAILED: golden case mine-1\n" in done.out
    assert f"expected    {expected}\n" in done.out
    assert f"got         {got}\n" in done.out
    assert "every rule of the spec matters" not in done.out


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_an_empty_golden_file_proves_nothing_and_is_refused(lab: Lab, text: str) -> None:
    lab.write("mine.jsonl", text)
    message = lab.refused("validate_scorer", "--golden", "mine.jsonl")
    assert message == "error: mine.jsonl: expected at least one record, got a file without any\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rule: plain\n", "mine.jsonl:1 expected one JSON object"),
        (json.dumps(CASE) + "\n" + json.dumps(CASE) + "\n", "mine.jsonl:2 $.id: expected an id that is unique"),
        (json.dumps(CASE | {"expected_answer": "22"}), "mine.jsonl:1 $.expected_answer: expected int, got str"),
        (json.dumps(CASE | {"expected_reward": 0.5}), "mine.jsonl:1 $.expected_reward: expected 1.0 with the outcome"),
        (json.dumps(CASE | {"expected_outcome": "fine"}), "mine.jsonl:1 $.expected_outcome: expected one of"),
        (json.dumps({"id": "mine-1"}), "mine.jsonl:1 $"),
    ],
)
def test_a_malformed_golden_file_is_the_callers_mistake(lab: Lab, text: str, said: str) -> None:
    assert said in lab.refused("validate_scorer", "--golden", lab.write("mine.jsonl", text))


def test_a_golden_file_that_is_not_there_is_the_callers_mistake(lab: Lab) -> None:
    for path in ("nowhere.jsonl", "."):
        assert f"{path}: cannot read this file" in lab.refused("validate_scorer", "--golden", path)


def broken_of(lab: Lab) -> list[str]:
    done = lab("validate_scorer")
    assert done.status == 1
    return re.findall(r"^FAILED: golden case (\S+-\d+)$", done.out, re.MULTILINE)


@pytest.mark.usefixtures("taken_anew")
@pytest.mark.parametrize("trimmed", [" \t\r\n\u00a0", " \t\r\n\u200b", " \t\r\n\f", " \r\n", ""])
def test_a_scorer_that_trims_more_or_less_is_caught(lab: Lab, monkeypatch: pytest.MonkeyPatch, trimmed: str) -> None:
    monkeypatch.setattr(course.score, "TRIMMED", trimmed)
    assert broken_of(lab)


@pytest.mark.usefixtures("taken_anew")
@pytest.mark.parametrize(
    "form",
    [
        "Final: (-?(?:0|[1-9][0-9]*))",  # minus zero is in format
        "Final: (-?[0-9]+)",  # leading zeros are
        "Final: ([+-]?[0-9]+)",  # a plus sign is
        r"Final: (-?\d+)",  # digits of other scripts are
        "Final: (0|[1-9][0-9]*)",  # negatives are not
        "Final: (-?[1-9][0-9]*)",  # zero is not
        "(?i:Final: )(0|-?[1-9][0-9]*)",
        "Final:\\s*(0|-?[1-9][0-9]*)",
        "(?:.*\n)?Final: (0|-?[1-9][0-9]*)",
        "Final: (0|-?[1-9][0-9]*)\\.?",
        "(?:\\*\\*)?Final: (0|-?[1-9][0-9]*)(?:\\*\\*)?",
    ],
)
def test_a_scorer_with_a_looser_or_tighter_format_is_caught(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(course.score, "FORMAT", re.compile(form))
    assert broken_of(lab)


class Loose(str):
    """A decimal form that is equal to more than it should be."""

    __slots__ = ()
    __hash__ = str.__hash__
    same_as: Callable[[str, str], bool]

    def __eq__(self, other: object) -> bool:
        return type(self).same_as(str(self), str(other))


@pytest.mark.usefixtures("taken_anew")
@pytest.mark.parametrize(
    ("same_as", "why"),
    [(lambda ours, theirs: float(ours) == float(theirs), "the same as floats"), (lambda _, __: True, "")],
    ids=["as floats", "any integer"],
)
def test_a_scorer_that_compares_values_loosely_is_caught(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, same_as: Callable[[str, str], bool], why: str
) -> None:
    exact = course.score._decimal
    monkeypatch.setattr(Loose, "same_as", staticmethod(same_as), raising=False)
    monkeypatch.setattr(course.score, "_decimal", lambda number: Loose(exact(number)))
    assert broken_of(lab) == [case["id"] for case in EXPLOITS if case["rule"] == "value" and why in case["why"]]


def test_a_scorer_that_rewards_any_integer_fails_on_cases_that_a_student_believes() -> None:
    wrong = {case["completion"] for case in EXPLOITS if case["rule"] == "value" and case["expected_answer"] == 323}
    assert {"Final: 332", "Final: 324", "Final: 313", "Final: -323"} <= wrong  # swapped, off by one, by ten, the sign


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (
            [case for case in EXPLOITS if case["rule"] != "no_plus_sign"],
            "no golden exploit attacks the rule no_plus_sign",
        ),
        ([EXPLOITS[0] | {"rule": "no_plus_sign"}, *EXPLOITS[1:]], "exploit-01 attacks no_plus_sign, but the rubric"),
        ([EXPLOITS[0] | {"rule": "no_such_rule"}, *EXPLOITS[1:]], "exploit-01 attacks no_such_rule, but the rubric"),
    ],
)
def test_an_exploit_suite_that_proves_a_rule_less_fails(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, cases: list[dict[str, Any]], said: str
) -> None:
    monkeypatch.setattr(course.validate_scorer, "GOLDEN_EXPLOITS", lab.write("exploits.jsonl", cases))
    done = lab("validate_scorer")
    assert done.status == 1
    assert f"\nFAILED: {said}" in done.out
    assert done.out.count("FAILED") == 1


@pytest.mark.skipif(os.name == "nt", reason="Windows takes no such name")
def test_the_name_of_a_golden_file_is_shown_and_not_obeyed(lab: Lab) -> None:
    name = "\x1b[2J\n\u2800\udcff.jsonl"
    shown = "<U+001B ESCAPE>[2J<U+000A LINE FEED><U+2800 BRAILLE PATTERN BLANK><U+DCFF unnamed, category Cs>.jsonl"
    assert lab.refused("validate_scorer", "--golden", name).startswith(f"error: {shown}: cannot read this file")
    lab.write(name, [CASE | {"expected_outcome": "\x1b" * 100}])
    message = lab.refused("validate_scorer", "--golden", name)
    assert message.startswith(f"error: {shown}:1 $.expected_outcome: expected one of ")
    assert message.endswith("got " + "<U+001B ESCAPE>" * 5 + "<U+0…\n")
