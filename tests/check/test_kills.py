"""What the kills say of a student's tests: what a wrong test believes, which tests are padding, which few are enough.

An example: a test that wants the reward for ``Final: 323.`` misreads the spec, and agrees with the verifier that allows
a full stop at the end.
"""

from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from check.judging import SETS
from check.kills import CORRECT_CLASS, find_padding, find_smallest, judge
from check.run_tests import run_tests
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource


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


def test_a_misreading_is_told_what_it_believes() -> None:
    verifiers = read_records(SETS / "shown.jsonl", VerifierSource)
    met = [verifier for verifier in verifiers if verifier.witness or verifier.kind == CORRECT_CLASS]
    source = "\n".join(f"def test_{n}(rubric):\n    {body}" for n, (body, _) in enumerate(MISREADINGS))
    run = run_tests(source.encode(), met)
    judgement = judge(run, {"shown": met})
    assert run.error == ""
    assert judgement.kills == {}
    beliefs = {verifier.id: verifier.believes for verifier in met}
    named = 0
    for n, (body, ids) in enumerate(MISREADINGS):
        fault = judgement.faults[f"test_{n}"]
        is_named = any(fault.endswith(beliefs[id_]) for id_ in ids.split())
        named += is_named
        print(f"{'+' if is_named else '-'} {body}\n    {fault}")
    print(f"{named} of {len(MISREADINGS)} named")
    assert len(MISREADINGS) >= 60
    assert named >= 0.7 * len(MISREADINGS)


KILLS = st.dictionaries(st.sampled_from("abcdefg"), st.frozensets(st.sampled_from("123456")), min_size=1)


@settings(max_examples=50)
@given(KILLS)
def test_no_smaller_set_of_tests_kills_as_much(kills: dict[str, frozenset[str]]) -> None:
    everything = frozenset().union(*kills.values())
    chosen, is_smallest = find_smallest(kills)
    assert is_smallest
    assert frozenset().union(*(kills[test] for test in chosen)) == everything
    for fewer in combinations(kills, max(len(chosen) - 1, 0)):
        assert not chosen or frozenset().union(*(kills[test] for test in fewer)) != everything


def test_padding_is_what_one_other_test_does_as_well() -> None:
    kills = {"a": "12", "b": "1", "c": "12", "d": "3", "e": "", "f": "23"}
    padding = find_padding({test: frozenset(killed) for test, killed in kills.items()})
    assert padding == ["b", "c", "d", "e"]
