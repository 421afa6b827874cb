"""The rows of a token policy's logs: evaluations on the way, and updates token by token."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from course.policies import token_learner as tokens
    from course.policies.evaluation import Moment


class Measured(Struct, frozen=True, forbid_unknown_fields=True):
    """A token policy after some updates, on one fresh completion of each prompt. None of it enters an update.

    ``proxy``: what the rubric pays that the policy is trained on. ``true``: what the strict scorer pays. ``kl``: from
    the policy that training began with, in nats a completion. ``mean_length``: in tokens. Holdout: None without one.
    """

    step: int  # updates so far
    proxy_reward: float
    true_reward: float
    holdout_proxy_reward: float | None
    holdout_true_reward: float | None
    kl: float
    mean_length: float


class Pushed(Struct, frozen=True, forbid_unknown_fields=True):
    """One completion in one update, token by token. One number, the advantage, multiplied the push on all of them:

    advantage = (reward − kl_coef · drift) − baseline. What a token's log-probability became is not its own push alone:
    the other completions of the step moved the same weights.
    """

    step: int  # from 1 on
    id: str
    completion: str
    pieces: list[str]  # the last is empty where the policy ended the text
    reward: float
    kl_coef: float
    drift: float  # log p − log p_ref of the completion, 0 with kl_coef 0
    baseline: float  # the one that this step used
    advantage: float
    log_probs: list[float]  # of each token, before the update
    new_log_probs: list[float]  # after it


def measured_row(moment: Moment) -> Measured:
    """The row of one look at a token policy: the means of what was measured of it."""
    train, holdout = moment.train, moment.holdout
    return Measured(
        step=moment.step,
        proxy_reward=float(train.proxy.mean()),
        true_reward=float(train.true.mean()),
        holdout_proxy_reward=None if holdout is None else float(holdout.proxy.mean()),
        holdout_true_reward=None if holdout is None else float(holdout.true.mean()),
        kl=float(train.kl.mean()),
        mean_length=float(train.lengths.mean()),
    )


def pushed_rows(update: tokens.Update, examples: Sequence[tokens.Example], kl_coef: float) -> list[Pushed]:
    """Every completion of an update, with the log-probability of each of its tokens before it and after it."""
    from course.policies.token_policy import log_probs

    asked = [examples[prompt] for prompt in update.prompts.tolist()]
    view = update.policy.view([example["prompt"] for example in asked])
    before, after = (log_probs(policy, view, update.completions) for policy in (update.policy, update.new_policy))
    lengths = update.completions.lengths.tolist()
    return [
        Pushed(
            step=update.step,
            id=asked[row]["id"],
            completion=update.texts[row],
            pieces=[update.policy.pieces[token] for token in update.completions.tokens[row, :length].tolist()],
            reward=float(update.reward[row]),
            kl_coef=kl_coef,
            drift=float(update.drift[row]),
            baseline=float(update.baseline[row]),
            advantage=float(update.advantage[row]),
            log_probs=before[row, :length].tolist(),
            new_log_probs=after[row, :length].tolist(),
        )
        for row, length in enumerate(lengths)
    ]
