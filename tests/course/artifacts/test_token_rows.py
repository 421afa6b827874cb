"""The rows that token commands write, against the same numbers worked out by hand.

The worked example. A checkpoint after 9 updates has the proxies 1 and 0.5 and the true rewards 1 and 0 on two training
prompts. Its evaluation row has the means 0.75 and 0.5; its two results are the completions, scored again by the strict
scorer; the second is an exploit, for the rubric pays at least half and the strict scorer nothing: the hack rate is
one half.
"""

from typing import Any

import numpy as np
import pytest
from msgspec import to_builtins
from msgspec.structs import replace
from tiny_policies import PROMPTS, log_p, seen_of, tiny, unstacked

from course.artifacts.token_rows import (
    evaluation_results,
    evaluation_row,
    is_exploit,
    proxy_of,
    token_update_rows,
)
from course.policies.evaluation import Checkpoint, Evaluation
from course.policies.token_learner import learn
from course.policies.train_config import MEMORISE

EXAMPLES: list[dict[str, Any]] = [
    {"id": f"q{i}", "prompt": prompt, "expected_answer": i} for i, prompt in enumerate(PROMPTS)
]


def evaluation(texts: list[str], proxy: list[float], true: list[float]) -> Evaluation:
    n = len(texts)
    return Evaluation(
        EXAMPLES[:n], texts, np.array(proxy), np.array(true), np.array([0.0, 2.0, 4.0][:n]), np.arange(5, 5 + n)
    )


TRAIN = evaluation(["Final: 0", "Final: 7"], [1.0, 0.5], [1.0, 0.0])
HOLDOUT = evaluation(["x", "y", "Final: 2"], [0.25, 0.5, 1.0], [0.0, 0.0, 1.0])
BOTH = Checkpoint(9, tiny(), {"train": TRAIN, "holdout": HOLDOUT})


def test_the_worked_example() -> None:
    alone = Checkpoint(9, tiny(), {"train": TRAIN})
    row = evaluation_row(alone, "anywhere", 0.1, 3)
    assert (row.step, row.proxy_reward, row.true_reward, row.kl, row.mean_length) == (9, 0.75, 0.5, 1.0, 5.5)
    assert (row.rubric, row.kl_coef, row.seed, row.n, row.hack_rate) == ("anywhere", 0.1, 3, 2, 0.5)
    assert not any("holdout" in name for name in to_builtins(row))
    results = evaluation_results(alone, "anywhere")
    assert [(result.id, result.reward, result.proxy_reward, result.split) for result in results] == [
        ("q0", 1.0, 1.0, "train"),
        ("q1", 0.0, 0.5, "train"),
    ]
    assert [result.details.outcome for result in results] == ["ok", "wrong_answer"]
    assert [is_exploit(result) for result in results] == [False, True]
    assert [proxy_of(result) for result in results] == [result.proxy_reward for result in results]
    assert [proxy_of(replace(result, proxy_reward=None)) for result in results] == [result.reward for result in results]


def test_the_holdout_has_shares_of_its_own() -> None:
    row = evaluation_row(BOTH, "anywhere", 0.1, 3, "one of many")
    results = evaluation_results(BOTH, "anywhere", "one of many")
    assert (row.n, row.hack_rate, row.holdout_n, row.holdout_hack_rate) == (2, 0.5, 3, 1 / 3)
    assert row.training == "one of many"
    assert (row.holdout_proxy_reward, row.holdout_true_reward) == (1.75 / 3, 1 / 3)
    assert {result.training for result in results} == {"one of many"}
    for split, share in (("train", row.hack_rate), ("holdout", row.holdout_hack_rate)):
        own = [is_exploit(result) for result in results if result.split == split]
        assert share == sum(own) / len(own)


def test_where_the_strict_scorer_is_the_rubric_there_is_no_proxy_and_no_exploit() -> None:
    results = evaluation_results(BOTH, "score")
    assert [result.proxy_reward for result in results] == [None] * 5
    assert not any(map(is_exploit, results))


@pytest.mark.parametrize("kl_coef", [0.0, 0.4])
def test_a_token_update_row_adds_up_and_its_log_probs_are_those_of_both_policies(kl_coef: float) -> None:
    plan = MEMORISE._replace(steps=2, prompts_a_step=3, group_size=2, kl_coef=kl_coef, max_tokens=5)

    def rubric(_: dict[str, Any], text: str) -> dict[str, Any]:
        return {"reward": float(text.count("a"))}

    reference = tiny(max_tokens=5)
    for step, update in enumerate(learn(reference, EXAMPLES, rubric, plan, 0), 1):
        rows = list(token_update_rows(step, update, reference, EXAMPLES, kl_coef))
        assert [(row.step, row.kl_coef) for row in rows] == [(step, kl_coef)] * 6
        for row, tokens in zip(rows, unstacked(update.completions), strict=True):
            example = next(candidate for candidate in EXAMPLES if candidate["id"] == row.id)
            seen = seen_of(tiny(), example["prompt"])
            assert row.advantage == row.reward - row.kl_coef * row.log_ratio - row.baseline
            assert "".join(row.tokens) in update.texts
            assert len(row.tokens) == len(tokens)
            assert sum(row.log_probs) == pytest.approx(log_p(update.policy, seen, tokens))
            assert sum(row.reference_log_probs) == pytest.approx(log_p(reference, seen, tokens))
            assert sum(row.new_log_probs) == pytest.approx(log_p(update.new_policy, seen, tokens))


def test_what_a_rubric_pays_beside_the_right_line_is_sorted_by_what_it_says() -> None:
    """Of six for q2, expected 2: right; another form twice; several; wrong; wrong, and paid too little to count."""
    texts = ["Final: 2", "2", "It is 2.", "Final: 1, 2", "Final: 3", "Final: 3"]
    found = Evaluation(
        [EXAMPLES[2]] * 6,
        texts,
        np.array([1.0, 1.0, 0.5, 1.0, 1.0, 0.25]),
        np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        np.zeros(6),
        np.arange(6),
    )
    checkpoint = Checkpoint(9, tiny(), {"train": found})
    row = evaluation_row(checkpoint, "anywhere", 0.0, 0)
    assert (row.hack_rate, row.other_form_rate) == (2 / 6, 2 / 6)
    kinds = [result.kind for result in evaluation_results(checkpoint, "anywhere")]
    assert kinds == [None, "other_form", "other_form", "several", "wrong", None]
