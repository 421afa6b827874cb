"""Looking at a policy on the way: what is seen, when, and that looking changes nothing."""

import math
from typing import Any

import numpy as np
import pytest
from tiny_policies import contexts, next_p, same_bits, seen_of, tiny

from course.artifacts.token_rows import measured_row
from course.policies.evaluation import Moment, Probe, moments, probe
from course.policies.presets import Plan
from course.policies.sampling import drawn
from course.policies.token_learner import imitate, learn
from course.policies.token_policy import Policy

pytestmark = pytest.mark.medium

LETTERS: list[dict[str, Any]] = [
    {"id": f"q{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate(["bab", "a", "", "abbb"])
]
UNSEEN: list[dict[str, Any]] = [
    {"id": f"h{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate(["bbb", "aba", "ab"])
]
SUMS: list[dict[str, Any]] = [
    {"id": f"{a}+{b}", "prompt": f"{a} + {b}", "expected_answer": a + b} for a in range(1, 4) for b in range(1, 4)
]
PLAN = Plan(
    sft_steps=150,
    sft_lr=1.0,
    steps=7,
    prompts_a_step=3,
    group_size=4,
    lr=0.5,
    baseline="group",
    kl_coef=0.1,
    limit=10,
    width=4,
    hidden=8,
)
REFERENCE = tiny(limit=5)


def letters(example: dict[str, Any], text: str) -> dict[str, Any]:
    return {"reward": text.count("a") + 0.1 * example["expected_answer"], "details": {}}


def looks(every: int = 3, holdout: list[dict[str, Any]] = UNSEEN, **changes: Any) -> list[Moment]:
    plan = PLAN._replace(limit=5)._replace(**changes)
    return list(moments(REFERENCE, LETTERS, holdout, letters, plan, 0, every))


@pytest.fixture(scope="module")
def imitator() -> Policy:
    return list(imitate(SUMS, PLAN, 0))[-1]


@pytest.mark.parametrize(
    ("steps", "every", "expected"),
    [
        (7, 3, [0, 3, 6, 7]),
        (6, 3, [0, 3, 6]),
        (7, 1, [0, 1, 2, 3, 4, 5, 6, 7]),
        (7, 1000, [0, 7]),
        (7, 7, [0, 7]),
        (0, 3, [0]),
    ],
)
def test_it_looks_before_the_first_update_after_each_so_many_and_after_the_last(
    steps: int, every: int, expected: list[int]
) -> None:
    assert [moment.step for moment in looks(every, steps=steps)] == expected


def test_the_policy_looked_at_is_the_one_after_so_many_updates() -> None:
    after = [REFERENCE, *(one.new_policy for one in learn(REFERENCE, LETTERS, letters, PLAN._replace(limit=5), 0))]
    for moment in looks():
        assert same_bits(moment.policy, after[moment.step])


def test_measuring_changes_nothing_in_learning() -> None:
    final = looks(1)[-1].policy
    assert not same_bits(final, REFERENCE)
    assert same_bits(looks(1000)[-1].policy, final)


def test_the_holdout_never_enters_an_update() -> None:
    final = looks()[-1].policy
    for holdout in ([], UNSEEN[:1], LETTERS, UNSEEN * 9):
        assert same_bits(looks(holdout=holdout)[-1].policy, final)


def test_the_holdout_is_measured_where_there_is_one() -> None:
    assert [moment.holdout for moment in looks(holdout=[])] == [None] * 4
    for moment in looks():
        assert moment.holdout is not None
        assert len(moment.holdout.texts) == len(moment.holdout.kl) == 3
        assert len(moment.train.texts) == len(moment.train.kl) == 4
        alone = probe(moment.policy, REFERENCE, UNSEEN, letters, 0)
        assert moment.holdout.texts == alone.texts
        assert moment.holdout.proxy.tolist() == alone.proxy.tolist()
        assert moment.holdout.kl.tolist() == alone.kl.tolist()


def test_what_is_looked_at_is_one_fresh_completion_of_each_prompt_of_the_policy_as_it_is() -> None:
    u = np.random.default_rng([0, 4]).random((4, 5))
    for moment in looks(lr=5.0):
        found = drawn(moment.policy, moment.policy.view([example["prompt"] for example in LETTERS]), u)
        rows = [row[:n] for row, n in zip(found.tokens.tolist(), found.lengths.tolist(), strict=True)]
        assert moment.train.texts == ["".join("?ab"[token] for token in row if token) for row in rows]
        assert moment.train.lengths.tolist() == [len(row) for row in rows]
    assert moment.train.texts != looks()[0].train.texts


def test_the_same_draws_each_time_and_other_draws_with_another_seed() -> None:
    one, again, other = (probe(REFERENCE, REFERENCE, LETTERS * 9, letters, seed) for seed in (1, 1, 2))
    assert one.texts == again.texts != other.texts


def test_the_rewards_are_the_rubrics_and_those_of_a_strict_check(imitator: Policy) -> None:
    def ends_well(example: dict[str, Any], text: str) -> dict[str, Any]:
        return {"reward": float(text.endswith(str(example["expected_answer"]))), "details": {}}

    examples = SUMS * 60
    found = probe(imitator, imitator, examples, ends_well, 3)
    pairs = list(zip(examples, found.texts, strict=True))
    strict = [float(text.strip(" \t\r\n") == f"Final: {example['expected_answer']}") for example, text in pairs]
    assert found.true.tolist() == strict
    assert found.proxy.tolist() == [float(text.endswith(str(example["expected_answer"]))) for example, text in pairs]
    assert 20 < sum(strict) < sum(found.proxy) < 520


def test_the_distance_is_measured_from_the_reference_along_what_the_policy_wrote() -> None:
    policy = tiny(1, limit=5)
    found = probe(policy, REFERENCE, LETTERS, letters, 0)
    for example, text, length, value in zip(LETTERS, found.texts, found.lengths, found.kl, strict=True):
        row = [*(" ab".index(char) for char in text), 0][:length]
        pairs = [
            [next_p(one, context) for one in (policy, REFERENCE)]
            for context in contexts(policy, seen_of(policy, example["prompt"]), row)
        ]
        expected = sum(p * math.log(p / q) for ours, theirs in pairs for p, q in zip(ours, theirs, strict=True))
        assert value == pytest.approx(expected, abs=1e-12)


def test_it_is_zero_before_the_first_update_and_not_after() -> None:
    first, *_, last = looks()
    assert first.train.kl.tolist() == [0.0] * 4
    assert (last.train.kl > 0).all()


def test_a_row_of_the_log_holds_the_means() -> None:
    train = Probe(["", ""], np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([3.0, 5.0]), np.array([7, 8]))
    holdout = Probe(["", "", ""], np.array([1.0, 2.0, 6.0]), np.array([0.0, 0.0, 0.75]), np.ones(3), np.ones(3, int))
    row = measured_row(Moment(9, REFERENCE, train, holdout))
    found = [row.proxy_reward, row.true_reward, row.holdout_proxy_reward, row.holdout_true_reward]
    assert found == [1.5, 0.5, 3.0, 0.25]
    assert [row.step, row.kl, row.mean_length] == [9, 4.0, 7.5]
    assert {type(number) for number in (*found, row.kl, row.mean_length)} == {float}


def test_and_none_where_there_is_no_holdout() -> None:
    for moment in looks(holdout=[]):
        row = measured_row(moment)
        assert (row.holdout_proxy_reward, row.holdout_true_reward) == (None, None)


def test_several_draws_begin_with_the_one_and_change_nothing_that_is_learned() -> None:
    one, three = (list(moments(REFERENCE, LETTERS, UNSEEN, letters, PLAN, 0, 2, draws)) for draws in (1, 3))
    for once, thrice in zip(one, three, strict=True):
        assert once.holdout is not None
        assert thrice.holdout is not None
        for few, many, prompts in ((once.train, thrice.train, LETTERS), (once.holdout, thrice.holdout, UNSEEN)):
            assert len(many.texts) == 3 * len(prompts)
            assert many.texts[: len(prompts)] == few.texts
            paid = [letters(example, text)["reward"] for example, text in zip(prompts * 3, many.texts, strict=True)]
            assert many.proxy.tolist() == paid
        assert [(w == v).all() for w, v in zip(once.policy.weights, thrice.policy.weights, strict=True)] == [True] * 5
