"""What the kills say of a student's tests: which are right, and what a wrong one believes.

An example: a test that wants the reward for ``Final: 323.`` misreads the spec, and agrees with the verifier that allows
a full stop at the end.
"""

from pathlib import Path

import pytest

from check import kills
from check.judge import run_tests
from check.judging import VERIFIERS
from check.kills import Cell, find_fault, judge
from check.versions import Version, differs, read_versions


def paid(gold: object, completion: object, reward: str = "== 1.0") -> str:
    return f"assert rubric({{'prompt': 'p', 'expected_answer': {gold!r}}}, {completion!r})['reward'] {reward}"


def shown(gold: object, completion: object, name: str, value: object) -> str:
    return f"{paid(gold, completion, '')}".replace("['reward'] ", f"['details'][{name!r}] == {value!r}")


MISREADINGS = [  # a test, and the verifiers that believe the same
    (paid(323, "Final: 323\xa0"), "white_space_2"),
    (paid(0, "\xa0Final: 0"), "white_space_2"),
    (paid(323, "\vFinal: 323"), "white_space_1"),
    (paid(323, "Final: 323\u3000"), "white_space_1"),
    (paid(-7, "Final: -7\f"), "white_space_1"),
    (paid(323, " Final: 323", "== 0.0"), "trimming_1"),
    (paid(323, "Final: 323\n", "== 0.0"), "trimming_1"),
    (paid(323, "Final:  323"), "inner_space_1"),
    (paid(7, "Final:    7"), "inner_space_1"),
    (paid(323, "Final: 3 23"), "inner_space_2"),
    (paid(1000, "Final: 1 000"), "inner_space_2"),
    (paid(323, "17 * 19 is\nFinal: 323"), "line_boundaries_1"),
    (paid(323, "Let me see.\n\nFinal: 323"), "line_boundaries_1"),
    (paid(323, "Final: 323\u2028"), "line_boundaries_2"),
    (paid(323, "Final: \u2028323"), "line_boundaries_2"),
    (paid(323, "Final: \uff13\uff12\uff13"), "other_digits_1"),
    (paid(323, "Final: 32\u0663"), "other_digits_1"),
    (paid(10, "Final: \u0967\u0966"), "other_digits_1"),
    (paid(323, "Final: +323"), "plus_sign_1"),
    (paid(0, "Final: +0"), "plus_sign_1"),
    (paid(-7, "Final: \u22127"), "minus_sign_1"),
    (paid(-323, "Final: \u2212323"), "minus_sign_1"),
    (paid(-7, "Final: 7"), "absolute_value_1"),
    (paid(7, "Final: -7"), "absolute_value_1"),
    (paid(323, "Final: -323"), "absolute_value_1"),
    (paid(0, "Final: -0"), "negative_zero_1"),
    (paid(323, "Final: 0323"), "leading_zeros_1"),
    (paid(323, "Final: 00323"), "leading_zeros_1"),
    (paid(7, "Final: 007"), "leading_zeros_1"),
    (paid(323, "final: 323"), "case_1"),
    (paid(323, "FINAL: 323"), "case_1"),
    (paid(323, "323"), "prefix_1"),
    (paid(-7, "-7"), "prefix_1"),
    (paid(323, "Answer: 323"), "prefix_2"),
    (paid(323, "The answer is 323, I think"), "substring_1 first_match_1 last_match_1"),
    (paid(323, "I get 320, then 323, then 326"), "substring_1"),
    (paid(323, "323 is it, not 324"), "first_match_1"),
    (paid(323, "Final: 323 or 324"), "first_match_1"),
    (paid(323, "Final: 324; no: 323"), "last_match_1"),
    (paid(323, "17 * 19 = 323"), "last_match_1"),
    (paid(323, "Final: 323 apples"), "suffix_1"),
    (paid(323, "Final: 323 is the answer"), "suffix_1"),
    (paid(323, "Final: 323."), "suffix_2"),
    (paid(0, "Final: 0."), "suffix_2"),
    (paid(11, "Final: 711"), "part_of_number_1"),
    (paid(323, "Final: 322"), "tolerance_1"),
    (paid(323, "Final: 324"), "tolerance_1"),
    (paid(323, "Final: 323.0"), "decimals_1"),
    (paid(323, "Final: 323.00"), "decimals_1"),
    (paid(1000, "Final: 1_000"), "notation_1"),
    (paid(323, "Final: 300+23"), "expression_1"),
    (paid(323, "Final: 320 + 3"), "expression_1"),
    (paid(323, "Final: 322, 323"), "several_answers_1"),
    (paid(323, "**Final: 323**"), "markup_1"),
    (shown(323, None, "outcome", "empty"), "completion_type_1"),
    (paid("323", "Final: 323"), "gold_type_1"),
    (paid(None, "Final: 5"), "unparsable_gold_1"),
    (shown(323, "Final: 324", "outcome", "not_an_integer"), "wrong_outcome_1"),
    (shown(323, "323", "outcome", "not_single_line"), "wrong_outcome_2"),
    (shown(323, "Final: 323", "parsed_answer", 3), "parsed_answer_1"),
    (paid(323, "Final: 323", "is True"), "reward_value_1"),
    (paid(323, "Final: 324", "== 0.5"), "reward_value_2"),
    (paid(323, "Final: 5"), "any_value_1"),
    (paid(-7, "Final: -7", "== 0.0"), "too_strict_1"),
    (paid(323, ""), "nothing_there_1"),
    (paid(323, "Final: 323" + " " * 600 + "x"), "length_1"),
    (paid(323, "Final: 323", "").replace("['reward'] ", "['details'] == {}"), "empty_details_1"),
]


def test_a_misreading_is_told_what_it_believes(tmp_path: Path) -> None:
    right, shown = (read_versions(VERIFIERS / name) for name in ("right.py", "shown.py"))
    source = "\n".join(f"def test_{n}(rubric):\n    {body}" for n, (body, _) in enumerate(MISREADINGS))
    (tmp_path / "test_mine.py").write_text(source, encoding="utf-8", newline="\n")
    run = run_tests(tmp_path / "test_mine.py", "rubric", [*right, *shown], differs)
    judgement = judge(run, right, {"shown": shown})
    assert run.error == ""
    assert judgement.killed == set()
    beliefs = {version.id: version.believes for version in shown}
    unnamed = [
        body
        for n, (body, ids) in enumerate(MISREADINGS)
        if not any(judgement.faults[f"test_{n}"].endswith(beliefs[id_]) for id_ in ids.split())
    ]
    assert len(unnamed) <= 0.1 * len(MISREADINGS), unnamed


RIGHT = [Version("right_1", "right", "is the scorer itself", len), Version("right_2", "right", "adds a note", len)]
WRONG = [Version("wrong_1", "wrong", "pays all", len), Version("wrong_2", "wrong", "pays none", len)]
PASSED, FAILED, MISSED = Cell("passed"), Cell("failed"), Cell("passed", differed=True)
CRASHED, SKIPPED = Cell("failed", "KeyError: 'x'"), Cell("skipped")


@pytest.mark.parametrize(
    ("cells", "fault"),
    [
        ([PASSED, PASSED, FAILED, MISSED], ""),
        ([PASSED, FAILED, FAILED, FAILED], "asks for more than the spec: it fails a correct verifier that adds a note"),
        ([FAILED, FAILED, FAILED, FAILED], "misreads the spec: every correct verifier fails it"),
        ([CRASHED, CRASHED, CRASHED, CRASHED], "ends in an exception with every verifier: KeyError: 'x'"),
        ([SKIPPED, SKIPPED, SKIPPED, SKIPPED], ""),
    ],
)
def test_a_test_is_right_if_every_right_verifier_passes_it(cells: list[Cell], fault: str) -> None:
    row = dict(zip(("right_1", "right_2", "wrong_1", "wrong_2"), cells, strict=True))
    assert find_fault(row, RIGHT, WRONG) == fault


def test_a_right_test_kills_what_fails_it_and_a_wrong_test_kills_nothing() -> None:
    good = {"right_1": PASSED, "right_2": PASSED, "wrong_1": FAILED, "wrong_2": MISSED}
    bad = {"right_1": FAILED, "right_2": PASSED, "wrong_1": FAILED, "wrong_2": FAILED}
    run = kills.TestRun({"test_good": good, "test_bad": bad, "test_marked": {}})
    judgement = judge(run, RIGHT, {"shown": WRONG})
    assert (judgement.killed, judgement.rates) == ({"wrong_1"}, {"shown": (1, 2)})
    assert [*judgement.faults] == ["test_bad", "test_marked"]
    assert judgement.faults["test_marked"].startswith("did not run")
