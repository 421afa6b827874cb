"""The logs of Loop C: rows that carry every number of a step, so that each identity can be checked row by row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from course.artifacts.records import Details, LearningResult
from course.score import measure

if TYPE_CHECKING:
    from course.policies.reinforce import Update


class Step(Struct, frozen=True, forbid_unknown_fields=True):
    """One update of one choice, with everything that went into it. Three identities hold exactly in every row:

    advantage = reward − baseline; gradient = advantage · direction; new_theta = theta + lr · gradient.
    """

    step: int  # from 1 on
    theta: list[float]
    probs: list[float]
    action: int
    completion: str
    reward: float
    baseline: float  # the one that this step used
    advantage: float
    direction: list[float]  # ∂ log p(action) / ∂ theta
    gradient: list[float]
    lr: float
    new_theta: list[float]
    new_probs: list[float]


class Prediction(Struct, frozen=True, forbid_unknown_fields=True):
    """What a student said, before an update, of which probability it would raise."""

    step: int
    answer: str | None  # an arm, "none", or None where no answer came
    right: bool | None


class Episode(Struct, frozen=True, forbid_unknown_fields=True):
    """One episode of the two-step world and its update. Per step t: return_[t] = Σ of the rewards from t on;

    advantage[t] = return_[t] − baseline; new_theta = theta + lr · advantage[t] · direction[t], at the visited state.
    """

    episode: int  # from 1 on
    expected_return: float  # of the policy before the update, exact: what learning is to raise
    prefixes: list[str]  # the state at each step: what stands there already
    pieces: list[str]  # what was written at each step
    actions: list[int]
    probs: list[list[float]]  # at each visited state, before the update
    rewards: list[float]  # 0 until the end
    return_: list[float]
    baseline: float  # the one that this episode used
    advantage: list[float]
    direction: list[list[float]]
    lr: float
    credited: list[bool]  # whether the step was updated at all
    theta: list[list[float]]  # at each visited state, before
    new_theta: list[list[float]]
    new_probs: list[list[float]]


class Inspected(Struct, frozen=True, forbid_unknown_fields=True):
    """One string in one vocabulary. The reward is the same in each: the verifier is given the text."""

    text: str
    vocabulary: str
    ids: list[int]
    pieces: list[str]  # the bytes of each token, in hexadecimal
    reward: float
    outcome: str


def step_of(number: int, update: Update, lr: float, arms: Sequence[str]) -> Step:
    """The row of one update of one run; arrays become lists of the same floats."""
    action = int(update.action)
    return Step(
        step=number,
        theta=update.theta.tolist(),
        probs=update.p.tolist(),
        action=action,
        completion=arms[action],
        reward=float(update.reward),
        baseline=float(update.baseline),
        advantage=float(update.advantage),
        direction=update.direction.tolist(),
        gradient=update.gradient.tolist(),
        lr=lr,
        new_theta=update.new_theta.tolist(),
        new_probs=update.new_p.tolist(),
    )


def learning_result(
    example: Mapping[str, Any],
    completion: str,
    step: int,
    *,
    training: str | None = None,
    split: str | None = None,
    proxy_reward: float | None = None,
) -> LearningResult:
    """A row of results.jsonl: what the verifier says of one completion that a policy sampled after ``step`` updates.

    ``example``: id, prompt, expected_answer. ``training``, ``split``, ``proxy_reward``: see ``LearningResult``.
    """
    reward, outcome, parsed_answer = measure(example["expected_answer"], completion)
    return LearningResult(
        id=example["id"],
        prompt=example["prompt"],
        expected_answer=example["expected_answer"],
        completion=completion,
        reward=reward,
        details=Details(outcome, parsed_answer),
        step=step,
        training=training,
        split=split,
        proxy_reward=proxy_reward,
    )
