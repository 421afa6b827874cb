"""The versions of a function: each wrong one is wrong, each right one is right.

An example: the verifier that drops a full stop is wrong about ``Final: 0.``, and about nothing without a full stop.
"""

import time

import pytest

from check.judging import VERIFIERS
from check.versions import breadth, find_witness, pick_versions, read_versions, step_versions
from course.picking import Sample, first_of_best
from course.score import score

SETS = {name: read_versions(VERIFIERS / f"{name}.py") for name in ("right", "shown", "held_out")}
WRONG = [*SETS["shown"], *SETS["held_out"]]
# Only the same text twice, a text of thousands of characters or a large number shows that these are wrong.
SHOWN_OTHERWISE = {"not_deterministic", "slow", "raises", "too_strict"}


def test_each_wrong_verifier_is_wrong_and_each_right_one_is_right() -> None:
    unseen = {version.kind for version in WRONG if find_witness(version) is None}
    assert unseen <= SHOWN_OTHERWISE
    assert [breadth(version) for version in SETS["right"]] == [0] * 4
    for version in WRONG:
        witness = find_witness(version)
        if witness:
            gold, completion = witness
            example = {"prompt": "p", "expected_answer": gold}
            try:
                answer = version.function(example, completion)
            except Exception:
                continue
            assert repr(answer) != repr(score(example, completion)), version.id


def test_what_is_held_out_was_hinted_at_by_a_shown_class_and_no_two_say_the_same() -> None:
    kinds = {version.kind for version in SETS["shown"]}
    assert {version.kind for version in WRONG} <= kinds
    assert len({version.id for version in WRONG}) == len({version.believes for version in WRONG}) == len(WRONG)
    assert all(version.believes for version in WRONG)


def test_a_witness_is_short_and_a_narrow_verifier_is_wrong_about_less() -> None:
    by_id = {version.id: version for version in SETS["shown"]}
    assert find_witness(by_id["suffix_2"]) == (0, "Final: 0.")
    assert find_witness(by_id["prefix_1"]) == (0, "0")
    assert find_witness(by_id["slow_1"]) is None
    assert breadth(by_id["suffix_2"]) < breadth(by_id["substring_1"])


def test_slow_verifiers_are_slow_on_long_texts_alone() -> None:
    example = {"prompt": "p", "expected_answer": 323}
    for version in SETS["shown"]:
        if version.kind == "slow":
            for text, is_slow in (("Final: 323" + " x" * 100, False), ("Final: 323" + " x" * 6_000, True)):
                start = time.monotonic()
                version.function(example, text)
                assert (time.monotonic() - start >= 0.5) is is_slow


def test_the_versions_of_an_exercise_are_the_mistakes_that_its_check_names() -> None:
    (right,), wrong = pick_versions()
    samples = [Sample(2, "c", 1.0), Sample(0, "aaa", 0.5), Sample(1, "bb", 1.0)]
    assert right.function(samples) == first_of_best(samples) == Sample(1, "bb", 1.0)
    assert {version.id: version.function(samples).index for version in wrong}["the lowest reward"] == 0
    (right,), wrong = step_versions()
    worked = ([[0.0, 0.0], [0.0, 0.0]], [0, 1], 1.0, 0.5, 0.4)  # in the stub
    expected = [[0.1, -0.1], [-0.1, 0.1]]
    assert right.function(*worked) == [pytest.approx(row) for row in expected]
    other = ([[0.3, -0.2, 0.5], [0.1, 0.0, -0.4]], [2, 0], 1.0, 0.4, 0.1)
    assert [version.id for version in wrong if version.function(*other) == right.function(*other)] == []
