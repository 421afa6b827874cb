"""Evaluations while a policy learns: what they measure, when, and that they change nothing.

The worked example. A config of 7 updates with an evaluation every 3 has checkpoints at 0, 3, 6 and 7: before the first
update, after each three, and after the last. Each one holds one fresh completion of each prompt, sampled with the same
draws every time, so that two checkpoints differ only in the policy.
"""

import math
from typing import Any

import numpy as np
import pytest
from tiny_policies import contexts, next_p, same_bits, seen_of, tiny

from course.artifacts.token_rows import evaluation_row
from course.policies.evaluation import Checkpoint, Evaluation, evaluate_policy, learn_and_evaluate
from course.policies.token_learner import fine_tune, learn
from course.policies.token_policy import Policy, sample_completions
from course.policies.train_config import TrainConfig

LETTERS: list[dict[str, Any]] = [
    {"id": f"q{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate(["bab", "a", "", "abbb"])
]
UNSEEN: list[dict[str, Any]] = [
    {"id": f"h{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate(["bbb", "aba", "ab"])
]
SUMS: list[dict[str, Any]] = [
    {"id": f"{a}+{b}", "prompt": f"{a} + {b}", "expected_answer": a + b} for a in range(1, 4) for b in range(1, 4)
]
CONFIG = TrainConfig(
    "",
    None,
    sft_steps=150,
    sft_lr=1.0,
    steps=7,
    prompts_a_step=3,
    group_size=4,
    lr=0.5,
    baseline="group",
    kl_coef=0.1,
    max_tokens=10,
    width=4,
    hidden=8,
)
REFERENCE = tiny(max_tokens=5)


def test_the_worked_example() -> None:
    assert [(checkpoint.step, len(checkpoint.evaluations["train"].texts)) for checkpoint in checkpoints()] == [
        (0, 4),
        (3, 4),
        (6, 4),
        (7, 4),
    ]
    assert (
        checkpoints()[0].evaluations["train"].texts == evaluate_policy(REFERENCE, REFERENCE, LETTERS, letters, 0).texts
    )
    assert [*checkpoints()[0].evaluations] == ["train", "holdout"]


def letters(example: dict[str, Any], text: str) -> dict[str, Any]:
    return {"reward": text.count("a") + 0.1 * example["expected_answer"], "details": {}}


def checkpoints(every: int = 3, holdout: list[dict[str, Any]] = UNSEEN, **changes: Any) -> list[Checkpoint]:
    config = CONFIG._replace(max_tokens=5)._replace(**changes)
    return list(learn_and_evaluate(REFERENCE, LETTERS, holdout, letters, config._replace(eval_every=every), 0))


@pytest.fixture(scope="module")
def fine_tuned() -> Policy:
    return fine_tune(SUMS, CONFIG, 0)


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
def test_it_evaluates_before_the_first_update_after_each_so_many_and_after_the_last(
    steps: int, every: int, expected: list[int]
) -> None:
    assert [checkpoint.step for checkpoint in checkpoints(every, steps=steps)] == expected


def test_the_policy_of_a_checkpoint_is_the_one_after_so_many_updates() -> None:
    config = CONFIG._replace(max_tokens=5)
    updates = learn(REFERENCE, LETTERS, letters, config, 0)
    after = [REFERENCE] + [update.new_policy for update in updates]
    for checkpoint in checkpoints():
        assert same_bits(checkpoint.policy, after[checkpoint.step])


def test_evaluating_changes_nothing_in_learning() -> None:
    final = checkpoints(1)[-1].policy
    assert not same_bits(final, REFERENCE)
    assert same_bits(checkpoints(1000)[-1].policy, final)


def test_the_holdout_never_enters_an_update() -> None:
    final = checkpoints()[-1].policy
    for holdout in ([], UNSEEN[:1], LETTERS, UNSEEN * 9):
        assert same_bits(checkpoints(holdout=holdout)[-1].policy, final)


def test_the_holdout_is_evaluated_where_there_is_one() -> None:
    assert [{*checkpoint.evaluations} for checkpoint in checkpoints(holdout=[])] == [{"train"}] * 4
    for checkpoint in checkpoints():
        assert len(checkpoint.evaluations["holdout"].texts) == len(checkpoint.evaluations["holdout"].kl) == 3
        assert len(checkpoint.evaluations["train"].texts) == len(checkpoint.evaluations["train"].kl) == 4
        alone = evaluate_policy(checkpoint.policy, REFERENCE, UNSEEN, letters, 0)
        assert checkpoint.evaluations["holdout"].texts == alone.texts
        assert checkpoint.evaluations["holdout"].proxy.tolist() == alone.proxy.tolist()
        assert checkpoint.evaluations["holdout"].kl.tolist() == alone.kl.tolist()


def text_of(row: list[int]) -> str:
    return "".join("?ab"[token] for token in row if token)


def test_an_evaluation_is_one_fresh_completion_of_each_prompt_of_the_policy_as_it_is() -> None:
    u = np.random.default_rng([0, 4]).random((4, 5))
    for checkpoint in checkpoints(lr=5.0):
        completions = sample_completions(
            checkpoint.policy, checkpoint.policy.encode_prompts([example["prompt"] for example in LETTERS]), u
        )
        rows = [row[:n] for row, n in zip(completions.tokens.tolist(), completions.lengths.tolist(), strict=True)]
        assert checkpoint.evaluations["train"].texts == [text_of(row) for row in rows]
        assert checkpoint.evaluations["train"].lengths.tolist() == [len(row) for row in rows]
    assert checkpoint.evaluations["train"].texts != checkpoints()[0].evaluations["train"].texts


def test_the_same_draws_each_time_and_other_draws_with_another_seed() -> None:
    one, again, other = (evaluate_policy(REFERENCE, REFERENCE, LETTERS * 9, letters, seed) for seed in (1, 1, 2))
    assert one.texts == again.texts != other.texts


def test_the_rewards_are_the_rubrics_and_those_of_a_strict_check(fine_tuned: Policy) -> None:
    def ends_well(example: dict[str, Any], text: str) -> dict[str, Any]:
        return {"reward": float(text.endswith(str(example["expected_answer"]))), "details": {}}

    examples = SUMS * 60
    evaluation = evaluate_policy(fine_tuned, fine_tuned, examples, ends_well, 3)
    pairs = list(zip(examples, evaluation.texts, strict=True))
    strict = [float(text.strip(" \t\r\n") == f"Final: {example['expected_answer']}") for example, text in pairs]
    assert evaluation.true.tolist() == strict
    assert evaluation.proxy.tolist() == [
        float(text.endswith(str(example["expected_answer"]))) for example, text in pairs
    ]
    assert 20 < sum(strict) < sum(evaluation.proxy) < 520


def test_the_kl_is_measured_from_the_reference_along_what_the_policy_wrote() -> None:
    policy = tiny(1, max_tokens=5)
    evaluation = evaluate_policy(policy, REFERENCE, LETTERS, letters, 0)
    for example, text, length, value in zip(LETTERS, evaluation.texts, evaluation.lengths, evaluation.kl, strict=True):
        tokens = [" ab".index(char) for char in text] + [0]
        expected = 0.0
        for context in contexts(policy, seen_of(policy, example["prompt"]), tokens[:length]):
            for p, q in zip(next_p(policy, context), next_p(REFERENCE, context), strict=True):
                expected += p * math.log(p / q)
        assert value == pytest.approx(expected, abs=1e-12)


def test_it_is_zero_before_the_first_update_and_not_after() -> None:
    first, *_, last = checkpoints()
    assert first.evaluations["train"].kl.tolist() == [0.0] * 4
    assert (last.evaluations["train"].kl > 0).all()


def test_a_row_of_the_log_holds_the_means() -> None:
    task = {"expected_answer": 1}
    train = Evaluation(
        [task] * 2, ["", ""], np.array([1.0, 2.0]), np.array([0.0, 1.0]), np.array([3.0, 5.0]), np.array([7, 8])
    )
    holdout = Evaluation(
        [task] * 3, ["", "", ""], np.array([1.0, 2.0, 6.0]), np.array([0.0, 0.0, 0.75]), np.ones(3), np.ones(3, int)
    )
    row = evaluation_row(Checkpoint(9, REFERENCE, {"train": train, "holdout": holdout}), "anywhere", 0.1, 3)
    found = [row.proxy_reward, row.true_reward, row.holdout_proxy_reward, row.holdout_true_reward]
    assert found == [1.5, 0.5, 3.0, 0.25]
    assert [row.step, row.kl, row.mean_length] == [9, 4.0, 7.5]
    assert {type(number) for number in (*found, row.kl, row.mean_length)} == {float}


def test_and_none_where_there_is_no_holdout() -> None:
    for checkpoint in checkpoints(holdout=[]):
        row = evaluation_row(checkpoint, "anywhere", 0.1, 3)
        assert (row.holdout_proxy_reward, row.holdout_true_reward) == (None, None)


def test_several_samples_begin_with_the_one_and_change_nothing_that_is_learned() -> None:
    configs = [CONFIG._replace(eval_every=2, samples=samples) for samples in (1, 3)]
    one, three = (list(learn_and_evaluate(REFERENCE, LETTERS, UNSEEN, letters, config, 0)) for config in configs)
    for once, thrice in zip(one, three, strict=True):
        for (few, many), prompts in zip(
            zip(once.evaluations.values(), thrice.evaluations.values(), strict=True), (LETTERS, UNSEEN), strict=True
        ):
            assert len(many.texts) == 3 * len(prompts)
            assert many.texts[: len(prompts)] == few.texts
            expected = [letters(example, text)["reward"] for example, text in zip(prompts * 3, many.texts, strict=True)]
            assert many.proxy.tolist() == expected
        assert [(w == v).all() for w, v in zip(once.policy.weights, thrice.policy.weights, strict=True)] == [True] * 5
