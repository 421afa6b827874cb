"""A student's training step of the token policy, ``step`` of ``exercises/loop.py``: a guest of ``course.guest``."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import numpy as np

from course.datasets.records import Task
from course.faults import type_name
from course.guest import Guest
from course.policies.softmax import Floats
from course.policies.token_policy import LARGEST, Policy, Weights
from course.policies.train_config import TrainConfig
from course.rubrics import Rubric
from course.text import quote


@dataclass(frozen=True)
class NewPolicy:
    """The answer to one call. Two are the same if all weights are, to the last bit."""

    policy: Policy = field(compare=False)
    digest: str  # of the weights

    def __str__(self) -> str:
        return f"weights with the digest {self.digest[:8]}"


class OwnStep(Guest):
    """One update of a policy, all of it. The first two calls are made twice; each of them trains."""

    repeated = 2

    def __init__(self, place: str) -> None:
        super().__init__(place, "policy, reference, examples, u, score, group_size, lr, kl_coef")

    def __call__(
        self,
        step: int,
        policy: Policy,
        reference: Policy,
        examples: Sequence[Task],
        u: Floats,
        rubric: Rubric,
        config: TrainConfig,
    ) -> Policy:
        """The policy after update ``step``, from 1. ``examples``: [N], that of each completion; ``u``: [N, T] draws."""

        def score(example: Task, completion: str) -> dict[str, Any]:
            return rubric(example, completion)

        originals = {"policy": policy, "reference": reference, "examples": examples, "u": u}
        given = {
            "policy": copy_policy(policy),
            "reference": copy_policy(reference),
            "examples": [{**example} for example in examples],
            "u": u.copy(),
        }

        def read(value: Any) -> NewPolicy:
            for name, original in originals.items():
                if not is_same(given[name], original):
                    raise ValueError(f"expected {name} unchanged after the call; change a copy, or make a new one")
            return read_policy(value, policy)

        values = given | {
            "score": score,
            "group_size": config.group_size,
            "lr": config.lr,
            "kl_coef": config.kl_coef,
        }
        answer: NewPolicy = self.answer(lambda: f"update {step}", read, values)
        return answer.policy


def copy_policy(policy: Policy) -> Policy:
    return policy._replace(weights=Weights(*(weight.copy() for weight in policy.weights)))


def is_same(value: Any, original: Any) -> bool:
    if isinstance(original, Policy):
        return all(map(np.array_equal, value.weights, original.weights))
    return bool(np.all(value == original))


def read_policy(value: Any, before: Policy) -> NewPolicy:
    """A policy that differs from ``before`` in its weights alone. Raises ValueError for what is none."""
    if not isinstance(value, Policy) or value[:3] != before[:3]:
        raise ValueError(f"expected a policy, as apply_gradient returns it, got {quote(type_name(value))}")
    weights = [np.asarray(weight, float) for weight in value.weights]
    for name, new, old in zip(Weights._fields, weights, before.weights, strict=True):
        if new.shape != old.shape:
            raise ValueError(f"expected {name} of the shape {list(old.shape)}, got {list(new.shape)}")
        if not (abs(new) <= LARGEST).all():
            raise ValueError(f"expected finite weights up to {LARGEST:,.0f}, got others in {name}")
    digest = sha256(b"".join(weight.tobytes() for weight in weights)).hexdigest()
    return NewPolicy(before._replace(weights=Weights(*weights)), digest)
