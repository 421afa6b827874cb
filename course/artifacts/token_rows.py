"""Machinery: the rows that token commands write, evaluations, what was scored in them, and updates token by token.

Notation
    proxy      the reward of the rubric that the policy is trained on
    true       the reward of the strict scorer, for the same completions
    hack rate  the share of completions that are exploits: the rubric pays them at least PAYS, and they say a wrong
               value, or several. What says the right value in another form is counted beside it, and is no exploit.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from course.artifacts.learning_rows import learning_result
from course.artifacts.payments import PAYS
from course.artifacts.records import LearningResult
from course.datasets.records import Task
from course.rubrics.kinds import EXPLOITS, Kind, kind_of
from course.stats import mean

if TYPE_CHECKING:
    from course.policies.evaluation import Checkpoint, Evaluation
    from course.policies.token_learner import TokenUpdate
    from course.policies.token_policy import Policy

SLOW_FILE = "slow.jsonl"  # of token_train: a row for each completion of the updates that were shown
TOKEN_LOG = "log.jsonl"  # of each of these commands: a row for each evaluation
STRICT = "score"  # the name of the strict scorer among the rubrics


class EvaluationRow(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One evaluation in one training (rubric, kl_coef, seed): means over n fresh completions, which enter no update.

    ``kl``: from the reference policy, in nats a completion. ``mean_length``: in tokens. Holdout: only where an
    experiment measures one. What is None does not stand in the log.
    """

    rubric: str  #: what pays
    kl_coef: float  #: beta, the price of a nat of KL
    seed: int  #: of the training
    step: int  #: updates so far
    n: int  #: completions of prompts trained on
    proxy_reward: float  #: mean of what the rubric pays
    true_reward: float  #: mean by the strict scorer
    hack_rate: float  #: share that the rubric pays at least 0.5 though they say a wrong value, or several
    other_form_rate: float  #: share that the rubric pays at least 0.5 and that say the right value in another form
    kl: float
    mean_length: float
    holdout_n: int = 0  #: completions of the holdout
    holdout_proxy_reward: float | None = None  #: the same on the holdout
    holdout_true_reward: float | None = None  #: the same on the holdout
    holdout_hack_rate: float | None = None  #: the same on the holdout
    holdout_other_form_rate: float | None = None  #: the same on the holdout
    training: str | None = None  #: which one, where a run holds several that differ in more than the columns say


class CountedSamples(Struct, frozen=True, forbid_unknown_fields=True):
    """Fresh completions of one prompt, how many of them the strict scorer pays: any pass@k up to n follows."""

    preset: str  #: which training
    seed: int  #: of the training
    step: int  #: updates so far
    split: str  #: ``train`` or ``holdout``
    id: str  #: of the prompt
    n: int  #: completions sampled
    correct: int  #: how many of them the strict scorer pays
    entropy: float  #: of the next token, in nats: mean over all tokens of these completions


class TokenUpdateRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One completion in one update, token by token. One advantage multiplied the gradient of all its tokens:

    advantage = (reward − kl_coef · log_ratio) − baseline. How a token's log-probability changed is not its own doing
    alone: the other completions of the step changed the same weights.
    """

    step: int  #: from 1 on
    id: str
    tokens: list[str]  #: their texts, together the completion; the last is empty where the policy ended it
    reward: float  #: what was paid for the completion
    kl_coef: float  #: beta
    log_ratio: float  #: log p − log p_reference of the completion, 0 with kl_coef 0
    baseline: float  #: the one that this step used
    advantage: float  #: (reward − kl_coef · log_ratio) − baseline
    log_probs: list[float]  #: of each token, before the update
    reference_log_probs: list[float]  #: of the reference policy: log_ratio is what the two sums differ by
    new_log_probs: list[float]  #: after it


def evaluation_results(checkpoint: "Checkpoint", rubric: str, training: str | None = None) -> list[LearningResult]:
    """The rows of results.jsonl for one checkpoint: every completion of its evaluations."""
    results = []
    for split, found in checkpoint.evaluations.items():
        kinds = kinds_paid(found)
        for example, text, reward, kind in zip(found.examples, found.texts, found.proxy.tolist(), kinds, strict=True):
            row = learning_result(
                example,
                text,
                checkpoint.step,
                training=training,
                split=split,
                proxy_reward=None if rubric == STRICT else reward,
                kind=None if rubric == STRICT else kind,
            )
            results.append(row)
    return results


def proxy_of(row: LearningResult) -> float:
    """The reward of the rubric; a row has none of its own where the strict scorer is the rubric."""
    return row.reward if row.proxy_reward is None else row.proxy_reward


def is_exploit(row: LearningResult) -> bool:
    """Whether the rubric pays this completion though it says a wrong value, or several."""
    return row.kind in EXPLOITS


def kinds_paid(evaluation: "Evaluation") -> list[Kind | None]:
    """What each completion says that the rubric pays and the strict scorer does not; None for the others."""
    kinds: list[Kind | None] = []
    for example, text, proxy, true in zip(
        evaluation.examples, evaluation.texts, evaluation.proxy.tolist(), evaluation.true.tolist(), strict=True
    ):
        is_paid_otherwise = proxy >= PAYS and true == 0
        kinds.append(_kind_of(example["expected_answer"], text) if is_paid_otherwise else None)
    return kinds


@lru_cache(maxsize=100_000)  # a trained policy writes the same text again and again
def _kind_of(expected_answer: int, completion: str) -> Kind:
    return kind_of(expected_answer, completion)


def share_of_exploits(evaluation: "Evaluation") -> float:
    return mean([kind in EXPLOITS for kind in kinds_paid(evaluation)])


def share_in_other_form(evaluation: "Evaluation") -> float:
    return mean([kind == Kind.OTHER_FORM for kind in kinds_paid(evaluation)])


def evaluation_row(
    checkpoint: "Checkpoint", rubric: str, kl_coef: float, seed: int, training: str | None = None
) -> EvaluationRow:
    """The row of one checkpoint of the training on this rubric, with this kl_coef and seed."""
    train, holdout = checkpoint.evaluations["train"], checkpoint.evaluations.get("holdout")
    return EvaluationRow(
        rubric=rubric,
        kl_coef=kl_coef,
        seed=seed,
        step=checkpoint.step,
        n=len(train.texts),
        proxy_reward=float(train.proxy.mean()),
        true_reward=float(train.true.mean()),
        hack_rate=share_of_exploits(train),
        other_form_rate=share_in_other_form(train),
        holdout_n=len(holdout.texts) if holdout else 0,
        holdout_proxy_reward=float(holdout.proxy.mean()) if holdout else None,
        holdout_true_reward=float(holdout.true.mean()) if holdout else None,
        holdout_hack_rate=share_of_exploits(holdout) if holdout else None,
        holdout_other_form_rate=share_in_other_form(holdout) if holdout else None,
        kl=float(train.kl.mean()),
        mean_length=float(train.lengths.mean()),
        training=training,
    )


def token_update_rows(
    step: int, update: "TokenUpdate", reference: "Policy", examples: Sequence[Task], kl_coef: float
) -> Iterator[TokenUpdateRow]:
    """Every completion of an update, with the log-probability of each of its tokens by three policies."""
    import numpy as np

    from course.policies.token_policy import log_probs

    answered = [examples[i] for i in update.chosen]
    prompts = update.policy.encode_prompts([example["prompt"] for example in answered])
    policies = update.policy, reference, update.new_policy
    before, by_reference, after = (log_probs(policy, prompts, update.completions) for policy in policies)
    baselines = np.broadcast_to(update.baseline, len(answered))
    for row, length in enumerate(update.completions.lengths.tolist()):
        yield TokenUpdateRow(
            step=step,
            id=answered[row]["id"],
            tokens=[update.policy.vocabulary[token] for token in update.completions.tokens[row, :length]],
            reward=float(update.reward[row]),
            kl_coef=kl_coef,
            log_ratio=float(update.log_ratio[row]),
            baseline=float(baselines[row]),
            advantage=float(update.advantage[row]),
            log_probs=before[row, :length].tolist(),
            reference_log_probs=by_reference[row, :length].tolist(),
            new_log_probs=after[row, :length].tolist(),
        )
