"""The rows that token commands write: evaluations, what the verifiers scored in them, and updates token by token.

Notation
    proxy    the reward of the rubric that the policy is trained on
    true     the reward of the strict scorer, for the same completions
    gap      the share of completions that the rubric pays and the strict scorer does not
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import asdict

from course.artifacts.learning import learning_result
from course.artifacts.records import LearningResult

if TYPE_CHECKING:
    from course.policies.evaluation import Checkpoint
    from course.policies.token_learner import Task, TokenUpdate

TOKEN_LOG = "log.jsonl"  # of each of these commands: a row for each evaluation
STRICT = "score"  # the name of the strict scorer among the rubrics
PAYS = 0.5  # a rubric that pays in part counts as paying from here on


class EvaluationRow(Struct, frozen=True, forbid_unknown_fields=True):
    """A token policy after some updates: means over fresh completions, which enter no update.

    ``kl``: from the reference policy, in nats a completion. ``mean_length``: in tokens. Holdout: None without one.
    """

    step: int  # updates so far
    proxy_reward: float
    true_reward: float
    holdout_proxy_reward: float | None
    holdout_true_reward: float | None
    kl: float
    mean_length: float


class GoodhartRow(EvaluationRow, frozen=True, forbid_unknown_fields=True):
    """The same in one of many trainings, over ``n`` completions, and ``holdout_n`` on the holdout."""

    holdout_proxy_reward: float  # this command always has a holdout
    holdout_true_reward: float
    rubric: str
    kl_coef: float
    seed: int
    n: int
    gap: float
    holdout_n: int
    holdout_gap: float


class CoverageRow(EvaluationRow, frozen=True, forbid_unknown_fields=True):
    """The same in one of many trainings, on the first ``prompts`` of the dataset."""

    holdout_proxy_reward: float
    holdout_true_reward: float
    prompts: int
    seed: int


class ShiftRow(Struct, frozen=True, forbid_unknown_fields=True):
    """Fresh completions of the policy after ``step`` updates, one of each prompt, beside the frozen ones.

    Exact in every row: error = frozen_pass_rate − fresh.pass_rate; fresh.n = Σ fresh.outcomes.
    """

    step: int
    frozen_pass_rate: float  # the same in every row: that is what is wrong with it
    fresh: dict[str, Any]  # the counts and rates of every summary
    error: float  # of the frozen rate, if it is taken for that of this policy
    outcome_distance: float  # total variation distance between the outcomes of frozen and of fresh completions
    unseen_shape: float  # share of the fresh ones in a shape that no frozen one has
    unseen_text: float  # share whose text is not among the frozen ones of the same prompt


class TokenUpdateRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One completion in one update, token by token. One advantage multiplied the gradient of all its tokens:

    advantage = (reward − kl_coef · log_ratio) − baseline. How a token's log-probability changed is not its own doing
    alone: the other completions of the step changed the same weights.
    """

    step: int  # from 1 on
    id: str
    completion: str
    tokens: list[str]  # the text of each; the last is empty where the policy ended the completion
    reward: float
    kl_coef: float
    log_ratio: float  # log p − log p_reference of the completion, 0 with kl_coef 0
    baseline: float  # the one that this step used
    advantage: float
    log_probs: list[float]  # of each token, before the update
    new_log_probs: list[float]  # after it


def evaluation_results(checkpoint: Checkpoint, rubric: str, training: str | None = None) -> list[LearningResult]:
    """The rows of results.jsonl for one checkpoint: every completion of its evaluations."""
    return [
        learning_result(
            example,
            text,
            checkpoint.step,
            training=training,
            split=split,
            proxy_reward=None if rubric == STRICT else proxy,
        )
        for split, evaluation in checkpoint.evaluations.items()
        for example, text, proxy in zip(evaluation.examples, evaluation.texts, evaluation.proxy.tolist(), strict=True)
    ]


def is_exploit(row: LearningResult) -> bool:
    """Whether the rubric pays this completion and the strict scorer does not."""
    return row.proxy_reward is not None and row.proxy_reward >= PAYS and row.reward == 0


def evaluation_row(checkpoint: Checkpoint) -> EvaluationRow:
    """The row of one checkpoint."""
    train, holdout = checkpoint.train, checkpoint.holdout
    return EvaluationRow(
        step=checkpoint.step,
        proxy_reward=float(train.proxy.mean()),
        true_reward=float(train.true.mean()),
        holdout_proxy_reward=None if holdout is None else float(holdout.proxy.mean()),
        holdout_true_reward=None if holdout is None else float(holdout.true.mean()),
        kl=float(train.kl.mean()),
        mean_length=float(train.lengths.mean()),
    )


def goodhart_row(
    checkpoint: Checkpoint, results: Sequence[LearningResult], rubric: str, kl_coef: float, seed: int
) -> GoodhartRow:
    """The row of one checkpoint of one training. ``results``: its rows of results.jsonl."""
    train, holdout = ([is_exploit(row) for row in results if row.split == split] for split in ("train", "holdout"))
    return GoodhartRow(
        **asdict(evaluation_row(checkpoint)),
        rubric=rubric,
        kl_coef=kl_coef,
        seed=seed,
        n=len(train),
        gap=fmean(train),
        holdout_n=len(holdout),
        holdout_gap=fmean(holdout),
    )


def token_update_rows(
    step: int, update: TokenUpdate, examples: Sequence[Task], kl_coef: float
) -> Iterator[TokenUpdateRow]:
    """Every completion of an update, with the log-probability of each of its tokens before it and after it."""
    import numpy as np

    from course.policies.token_policy import log_probs

    answered = [examples[i] for i in update.chosen]
    prompts = update.policy.encode_prompts([example["prompt"] for example in answered])
    before, after = (log_probs(policy, prompts, update.completions) for policy in (update.policy, update.new_policy))
    baselines = np.broadcast_to(update.baseline, len(answered))
    for row, length in enumerate(update.completions.lengths.tolist()):
        yield TokenUpdateRow(
            step=step,
            id=answered[row]["id"],
            completion=update.texts[row],
            tokens=[update.policy.vocabulary[token] for token in update.completions.tokens[row, :length]],
            reward=float(update.reward[row]),
            kl_coef=kl_coef,
            log_ratio=float(update.log_ratio[row]),
            baseline=float(baselines[row]),
            advantage=float(update.advantage[row]),
            log_probs=before[row, :length].tolist(),
            new_log_probs=after[row, :length].tolist(),
        )
