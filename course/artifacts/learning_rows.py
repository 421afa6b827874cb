"""Machinery: the rows of Loop C's logs: every number of an update, so that each identity can be checked row by row."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from course.artifacts.records import Details, LearningResult
from course.score import measure

if TYPE_CHECKING:
    from course.policies.reinforce import Update
    from course.policies.two_step import EpisodeUpdate


class UpdateRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One update of the bandit. Three identities hold exactly in every row:

    advantage = reward − baseline; direction = advantage · grad_log_prob; new_theta = theta + lr · direction.
    """

    step: int  #: from 1 on
    prompt: str  #: the state
    theta: list[float]  #: K logits before the update
    probs: list[float]  #: softmax of theta
    action: int  #: the index of the sampled arm, from 0
    completion: str  #: the text of that arm
    verifier_reward: float  #: of that text, 0 or 1
    reward: float  #: the learner's: ``verifier_reward`` plus the offset
    baseline: float  #: the one that this update used
    advantage: float  #: reward − baseline
    grad_log_prob: list[float]  #: ∂ log p(action) / ∂ theta
    direction: list[float]  #: advantage · grad_log_prob
    lr: float
    new_theta: list[float]  #: theta + lr · direction
    new_probs: list[float]  #: softmax of new_theta


class EpisodeRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One episode of two tokens and its update. Per step t, and with theta at the state of that step:

    ``return_[t]`` = Σ of the rewards from t on; ``advantage[t] = return_[t] − baseline``, or 0 where ``credited[t]`` is
    false; ``direction[t] = advantage[t] · grad_log_prob[t]``; ``new_theta[t] = theta[t] + lr · direction[t]``.
    """

    episode: int  #: from 1 on
    expected_return: float  #: exact, of the policy before the update
    prompt: str  #: the bandit's
    prefixes: list[str]  #: the state of each step, after the prompt: the text so far
    tokens: list[str]  #: one for each step
    actions: list[int]  #: the index of each token, from 0
    probs: list[list[float]]  #: at each step, before the update
    rewards: list[float]  #: 0 until the end
    return_: list[float]  #: sum of the rewards from a step on
    baseline: float  #: the one that this update used
    credited: list[bool]  #: false for a step that is never updated
    advantage: list[float]  #: ``return_`` − baseline, 0 where not credited
    grad_log_prob: list[list[float]]  #: ∂ log p(action) / ∂ theta at each step
    direction: list[list[float]]  #: advantage · grad_log_prob
    lr: float
    theta: list[list[float]]  #: logits at the two states visited
    new_theta: list[list[float]]  #: theta + lr · direction
    new_probs: list[list[float]]  #: softmax of new_theta


class LengthRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One training of ``course.late_reward``, on a text of so many tokens. An update is made from one text."""

    tokens: int
    seed: int
    first_reward: int | None  #: the first update whose text earned 1; None if no text did
    updates: int | None  #: until a text was right with probability 0.9; None if it never was


class ImprovementRow(Struct, frozen=True, forbid_unknown_fields=True):
    """What choosing and learning deliver after equally many samples of each prompt, strictly scored."""

    samples: int  #: of each prompt, which the choice was made from, and which the updates took
    updates: int  #: of the policy that learned
    chosen: float  #: share of the prompts whose chosen completion is right
    learned: float  #: share of the single completions of the policy that learned which are right


class TradeoffRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One policy in the plane of reward and KL: the optimum for ``beta``, best-of-``n``, or neither: the reference."""

    beta: float | None  #: of an optimum; None elsewhere
    n: int | None  #: of best-of-N; None elsewhere
    mean_reward: float  #: by the rewards that it was optimised for
    verifier_reward: float  #: the mean reward by the verifier, whichever rewards the policy was optimised for
    kl: float  #: from the reference, in nats
    kl_bound: float | None  #: of best-of-N: ln N − (N−1)/N
    top3: list[int]  #: the most probable actions
    probs: list[float]  #: of each completion


class TokenizedRow(Struct, frozen=True, forbid_unknown_fields=True):
    """One text in one vocabulary, token by token."""

    id: str  #: of its row in results.jsonl
    vocabulary: str  #: of which model
    token_ids: list[int]  #: numbers in that vocabulary
    token_texts: list[str]  #: for a person: a byte that is only part of a character is written ``\xNN``
    token_bytes: list[str]  #: in hexadecimal


def learning_result(
    example: Mapping[str, Any],
    completion: str,
    step: int,
    *,
    training: str | None = None,
    split: str | None = None,
    proxy_reward: float | None = None,
    kind: str | None = None,
    count: int = 1,
) -> LearningResult:
    """A row of results.jsonl: the verifier's measurement of one completion, sampled after ``step`` updates.

    ``example``: id, prompt, expected_answer. The rest: see ``LearningResult``.
    """
    answer = example["expected_answer"]
    reward, outcome, parsed = measure(answer, completion)
    result = (example["id"], example["prompt"], answer, completion, reward, Details(outcome, parsed))
    return LearningResult(*result, step, training, split, proxy_reward, kind, count)


def update_row(step: int, update: "Update", lr: float, example: Mapping[str, Any], arms: Sequence[str]) -> UpdateRow:
    """The row of one update of one run: its numbers, and what follows from them."""
    import numpy as np

    from course.policies.softmax import grad_log_prob, softmax

    numbers = {name: np.asarray(value).tolist() for name, value in update._asdict().items()}
    completion = arms[numbers["action"]]
    return UpdateRow(
        step=step,
        prompt=example["prompt"],
        probs=numbers.pop("p"),
        completion=completion,
        verifier_reward=measure(example["expected_answer"], completion).reward,
        grad_log_prob=grad_log_prob(update.p, update.action).tolist(),
        lr=lr,
        new_probs=softmax(update.new_theta).tolist(),
        **numbers,
    )


def episode_row(episode: int, update: "EpisodeUpdate", lr: float, credited: Sequence[bool]) -> EpisodeRow:
    """The row of one episode; theta and what follows from it at the visited states only."""
    from course.policies.bandit import EXAMPLE
    from course.policies.softmax import grad_log_prob, softmax
    from course.policies.two_step import TOKENS, expected_return

    state, action = update.state, update.action
    p = softmax(update.theta[state])
    tokens = [choices[a] for choices, a in zip(TOKENS, action.tolist(), strict=True)]
    return EpisodeRow(
        episode=episode,
        expected_return=expected_return(update.theta),
        prompt=EXAMPLE["prompt"],
        prefixes=["", tokens[0]],
        tokens=tokens,
        actions=action.tolist(),
        probs=p.tolist(),
        rewards=update.reward.tolist(),
        return_=update.return_.tolist(),
        baseline=float(update.baseline),
        credited=list(credited),
        advantage=update.advantage.tolist(),
        grad_log_prob=grad_log_prob(p, action).tolist(),
        direction=update.direction[state].tolist(),
        lr=lr,
        theta=update.theta[state].tolist(),
        new_theta=update.new_theta[state].tolist(),
        new_probs=softmax(update.new_theta[state]).tolist(),
    )
