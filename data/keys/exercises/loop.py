"""A solution of exercises/loop.py."""

from collections.abc import Callable
from typing import Any

import numpy as np

from course.policies.softmax import Floats
from course.policies.token_policy import Policy, gradient, log_probs, sample_completions
from exercises.reinforce import leave_one_out


def step(
    policy: Policy,
    reference: Policy,
    examples: list[dict[str, Any]],
    u: Floats,
    score: Callable[[dict[str, Any], str], dict[str, Any]],
    group_size: int,
    lr: float,
    kl_coef: float,
) -> Policy:
    prompts = policy.encode_prompts([example["prompt"] for example in examples])
    completions = sample_completions(policy, prompts, u)
    texts = policy.decode_completions(completions)
    reward = np.array([score(example, text)["reward"] for example, text in zip(examples, texts, strict=True)])
    log_ratio = (log_probs(policy, prompts, completions) - log_probs(reference, prompts, completions)).sum(axis=1)
    return_ = reward - kl_coef * log_ratio
    baseline = np.concatenate([leave_one_out(group.tolist()) for group in return_.reshape(-1, group_size)])
    advantage = return_ - baseline
    credit = advantage[:, None] / len(examples)
    direction = gradient(policy, prompts, completions, credit)
    return policy.apply_gradient(direction, lr)
