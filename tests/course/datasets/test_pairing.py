"""Matching: every id once on either side, in dataset order, and a complaint that names what is missing or left over.

An example: a dataset has q1, q2, q3 and the completions q1, q3, q4. One record for each id was expected: none for
q2, and q4 is not in the dataset.
"""

from collections.abc import Iterable, Iterator
from itertools import count, islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.datasets.pairing import pair_by_id
from course.datasets.records import Example, Rollout
from course.errors import UserError


def matched(
    dataset: Iterable[str], answered: Iterable[str], *, missing_allowed: bool = False
) -> Iterator[tuple[Example, Rollout | None]]:
    """The pairs as they come. Both sides are read only as far as the pairs are."""
    examples = (Example(id_, "", 0) for id_ in dataset)
    answers = ((id_, Rollout(id_, f"by {id_}")) for id_ in answered)
    files = {"dataset": Path("d.jsonl"), "completions": Path("c.jsonl")}
    return pair_by_id(examples, answers, missing_allowed=missing_allowed, if_missing="or else", **files)


def match(
    dataset: list[str], answered: list[str], *, missing_allowed: bool = False
) -> list[tuple[Example, Rollout | None]]:
    return list(matched(dataset, answered, missing_allowed=missing_allowed))


def test_examples_come_in_dataset_order_each_with_its_own_answer() -> None:
    assert match(["b", "a"], ["a", "b"]) == [
        (Example("b", "", 0), Rollout("b", "by b")),
        (Example("a", "", 0), Rollout("a", "by a")),
    ]


def test_a_missing_answer_is_none_where_that_is_allowed() -> None:
    assert match(["a", "b"], ["b"], missing_allowed=True) == [
        (Example("a", "", 0), None),
        (Example("b", "", 0), Rollout("b", "by b")),
    ]


OR_ELSE = "; or else"
UNKNOWN = "that the dataset does not have; delete these records, or add their examples to the dataset"


@pytest.mark.parametrize(
    ("dataset", "answered", "got"),
    [
        (["a", "b"], ["b"], f"no record for 1 id (a){OR_ELSE}"),
        (["a", "b", "c"], ["b"], f"no record for 2 ids (a, c){OR_ELSE}"),
        (list("abcdefg"), ["a"], f"no record for 6 ids (b, c, d, e, f, …){OR_ELSE}"),
        (list("abcdef"), ["a"], f"no record for 5 ids (b, c, d, e, f){OR_ELSE}"),
        (["a"], ["a", "x"], f"records for 1 id (x) {UNKNOWN}"),
        (["a"], ["b"], f"no record for 1 id (a) and records for 1 id (b) {UNKNOWN}"),
        (["x\x1b\n"], [], f"no record for 1 id (x<U+001B ESCAPE><U+000A LINE FEED>){OR_ELSE}"),
        (["x" * 500], [], f"no record for 1 id ({'x' * 59}…){OR_ELSE}"),
        ([f"{n}" for n in range(1234)], [], f"no record for 1,234 ids (0, 1, 2, 3, 4, …){OR_ELSE}"),
    ],
    ids=lambda _: "",
)
def test_a_complaint_lists_the_first_few_ids(dataset: list[str], answered: list[str], got: str) -> None:
    with pytest.raises(UserError) as refused:
        match(dataset, answered)
    assert str(refused.value) == f"c.jsonl: expected one record for each id of d.jsonl, got {got}"


def test_answers_that_no_example_has_are_refused_even_where_missing_ones_are_allowed() -> None:
    with pytest.raises(
        UserError, match=r"got records for 1 id \(x\) that the dataset does not have; delete these records, "
    ):
        match(["a"], ["x"], missing_allowed=True)


def noted(ids: Iterable[str], read: list[str]) -> Iterator[str]:
    for id_ in ids:
        read.append(id_)
        yield id_


@pytest.mark.parametrize(
    ("answered", "read_by"),
    [
        ("abcd", ["a", "ab", "abc", "abcd"]),  # one order: side by side, and nothing is held
        ("cabd", ["ca", "cab", "cab", "cabd"]),  # c waits for its turn
        ("dcba", ["dcba"] * 4),
    ],
)
def test_answers_are_read_no_further_than_the_example_whose_turn_it_is(answered: str, read_by: list[str]) -> None:
    read: list[str] = []
    for (example, answer), so_far in zip(matched("abcd", noted(answered, read)), read_by, strict=True):
        assert answer == Rollout(example.id, f"by {example.id}")
        assert "".join(read) == so_far


def test_two_endless_files_in_one_order_are_matched_as_they_come() -> None:
    pairs = islice(matched(map(str, count()), map(str, count())), 1_000)
    assert [answer and answer.id for _, answer in pairs] == [str(n) for n in range(1_000)]


ids = st.lists(st.sampled_from("abcdef"), unique=True)


@settings(derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(st.tuples(ids, ids), ids.flatmap(lambda left: st.tuples(st.just(left), st.permutations(left)))))
def test_matching_succeeds_exactly_if_the_ids_are_the_same_and_drops_nothing(both: tuple[list[str], list[str]]) -> None:
    left, right = both
    if set(left) == set(right):
        assert [(example.id, answer and answer.id) for example, answer in match(left, right)] == [(i, i) for i in left]
    else:
        with pytest.raises(UserError):
            match(left, right)
    if set(right) <= set(left):
        pairs = match(left, right, missing_allowed=True)
        assert [example.id for example, _ in pairs] == left
        assert {example.id for example, answer in pairs if answer is not None} == set(right)
