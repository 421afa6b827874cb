"""The rows that token commands write, against the same numbers worked out by hand.

The worked example. A checkpoint after 9 updates has the proxies 1 and 0.5 and the true rewards 1 and 0 on two training
prompts. Its evaluation row has the means 0.75 and 0.5; its two results are the completions, scored again by the strict
scorer; the second is an exploit, for the rubric pays at least half and the strict scorer nothing: the gap is one half.
"""

from typing import Any

import numpy as np
import pytest
from tiny_policies import PROMPTS, log_p, seen_of, tiny, unstacked

from course.artifacts.token_rows import (
    evaluation_results,
    evaluation_row,
    goodhart_row,
    is_exploit,
    token_update_rows,
)
from course.policies.evaluation import Checkpoint, Evaluation
from course.policies.presets import MEMORISE
from course.policies.token_learner import learn

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
BOTH = Checkpoint(9, tiny(), TRAIN, HOLDOUT)


def test_the_worked_example() -> None:
    alone = Checkpoint(9, tiny(), TRAIN, None)
    row = evaluation_row(alone)
    assert (row.step, row.proxy_reward, row.true_reward, row.kl, row.mean_length) == (9, 0.75, 0.5, 1.0, 5.5)
    assert (row.holdout_proxy_reward, row.holdout_true_reward) == (None, None)
    results = evaluation_results(alone, "anywhere")
    assert [(one.id, one.reward, one.proxy_reward, one.split) for one in results] == [
        ("q0", 1.0, 1.0, "train"),
        ("q1", 0.0, 0.5, "train"),
    ]
    assert [one.details.outcome for one in results] == ["ok", "wrong_answer"]
    assert [is_exploit(one) for one in results] == [False, True]


def test_a_goodhart_row_has_the_gaps_of_both_splits() -> None:
    results = evaluation_results(BOTH, "anywhere", "one of many")
    assert {one.training for one in results} == {"one of many"}
    row = goodhart_row(BOTH, results, "anywhere", 0.1, 3)
    assert (row.n, row.gap, row.holdout_n, row.holdout_gap) == (2, 0.5, 3, 1 / 3)
    assert (row.rubric, row.kl_coef, row.seed) == ("anywhere", 0.1, 3)
    assert (row.holdout_proxy_reward, row.holdout_true_reward) == (1.75 / 3, 1 / 3)


def test_where_the_strict_scorer_is_the_rubric_there_is_no_proxy_and_no_exploit() -> None:
    results = evaluation_results(BOTH, "score")
    assert [one.proxy_reward for one in results] == [None] * 5
    assert not any(map(is_exploit, results))


@pytest.mark.parametrize("kl_coef", [0.0, 0.4])
def test_a_token_update_row_adds_up_and_its_log_probs_are_those_of_both_policies(kl_coef: float) -> None:
    plan = MEMORISE.plan._replace(steps=2, prompts_a_step=3, group_size=2, kl_coef=kl_coef, max_tokens=5)

    def rubric(_: dict[str, Any], text: str) -> dict[str, Any]:
        return {"reward": float(text.count("a"))}

    for step, update in enumerate(learn(tiny(max_tokens=5), EXAMPLES, rubric, plan, 0), 1):
        rows = list(token_update_rows(step, update, EXAMPLES, kl_coef))
        assert [(row.step, row.kl_coef) for row in rows] == [(step, kl_coef)] * 6
        for row, tokens in zip(rows, unstacked(update.completions), strict=True):
            example = next(one for one in EXAMPLES if one["id"] == row.id)
            seen = seen_of(tiny(), example["prompt"])
            assert row.advantage == row.reward - row.kl_coef * row.log_ratio - row.baseline
            assert "".join(row.tokens) == row.completion
            assert len(row.tokens) == len(tokens)
            assert sum(row.log_probs) == pytest.approx(log_p(update.policy, seen, tokens))
            assert sum(row.new_log_probs) == pytest.approx(log_p(update.new_policy, seen, tokens))
