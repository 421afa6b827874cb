"""Machinery: the check of a student's training step: one update on fixed draws, beside the course's own and wrong ones.

The policy is not its reference and the KL penalty counts, else some mistakes change nothing.
"""

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from check.functions import refuse_missing
from check.result import NOT_STARTED, CheckResult
from course.datasets.records import Task
from course.guest import GuestError
from course.policies.own_step import OwnStep
from course.policies.reinforce import leave_one_out
from course.policies.softmax import Floats
from course.policies.token_policy import (
    Policy,
    Weights,
    gradient,
    initial_policy,
    log_ratio,
    sample_completions,
)
from course.policies.train_config import MEMORISE

RIGHT = ""
_GROUPS = (
    "wrong groups: a prompt's completions stand in a row, so return_.reshape(-1, group_size) has a group in each row"
)
_TOKENS = "a mean over tokens: log p(completion) is the sum over its tokens, so divide the advantage by N alone"
MISTAKES = {  # what ``take_step`` is told -> what is said of it
    "no baseline": "no baseline: subtract from each return the mean return of the others in its group. No curve shows "
    "that it is missing until you add 3 to every reward",
    "own mean": "a mean in which a completion's own return counts: leave it out",
    "rows of another length": _GROUPS,
    "one group": _GROUPS,
    "columns": _GROUPS,
    "sign": "a step down: what did better than the rest of its group must become more likely",
    "sum": "a sum over the completions: divide the advantage by N",
    "mean over tokens": _TOKENS,
    "mean over all tokens": _TOKENS,
    "last token": "the last token alone: the advantage reaches every token of its completion",
    "stale samples": "stale samples: these completions are the reference's; let policy write new ones in each update",
    "KL sign": "a KL penalty of the wrong sign: subtract kl_coef * (log p - log p of the reference) from the reward",
    "no KL": "a KL penalty that is missing or cancels: each completion needs its own log_ratio, since the baseline "
    "takes off what is the same for a whole group",
}
_CONFIG = MEMORISE._replace(group_size=4, prompts_a_step=6, kl_coef=0.3, max_tokens=8, lr=0.7)
_UPDATES = 3
_SEED = 0
_TOLERANCE = 1e-9


class Case(NamedTuple):
    """The arguments of one update."""

    policy: Policy
    reference: Policy
    examples: Sequence[Task]
    u: Floats


def reward_text(example: Task, text: str) -> dict[str, float]:
    """A rubric that pays almost any two texts differently, and depends on the example."""
    return {"reward": (len(text) * 7 + text.count(str(example["expected_answer"])) * 3) % 5 / 4}


def take_step(case: Case, wrong: str = RIGHT) -> Weights:
    """The new weights, or what one of the ``MISTAKES`` makes of them."""
    policy, reference, examples, u = case
    group_size, kl_coef, count = _CONFIG.group_size, _CONFIG.kl_coef, len(examples)
    writer = reference if wrong == "stale samples" else policy
    prompts = policy.encode_prompts([example["prompt"] for example in examples])
    completions = sample_completions(writer, prompts, u)
    texts = policy.decode_completions(completions)
    reward = np.array([reward_text(example, text)["reward"] for example, text in zip(examples, texts, strict=True)])
    if wrong == "KL sign":
        kl_coef = -kl_coef
    if wrong == "no KL":
        kl_coef = 0.0
    return_ = reward - kl_coef * log_ratio(policy, reference, prompts, completions)
    columns = leave_one_out(return_.reshape(group_size, -1).T.ravel(), group_size)
    other_baseline = {
        "no baseline": np.zeros(count),
        "own mean": np.repeat(return_.reshape(-1, group_size).mean(axis=1), group_size),
        "rows of another length": leave_one_out(return_, count // group_size),
        "one group": leave_one_out(return_, count),
        "columns": columns,
    }
    advantage = return_ - other_baseline.get(wrong, leave_one_out(return_, group_size))
    credit = advantage[:, None] / count
    lengths = completions.lengths[:, None]
    other_credit = {
        "sign": -credit,
        "sum": credit * count,
        "mean over tokens": credit / lengths,
        "mean over all tokens": credit * count / lengths.sum(),
        "last token": credit * (np.arange(completions.tokens.shape[1]) == lengths - 1),
    }
    credit = other_credit.get(wrong, credit)
    return policy.apply_gradient(gradient(policy, prompts, completions, credit), _CONFIG.lr).weights


def make_cases(seed: int) -> list[Case]:
    """Updates of a policy that was not fine-tuned: its texts are any texts, some cut at the limit."""
    rng = np.random.default_rng(seed)
    tasks: list[Task] = []
    for a, b in product(range(4), repeat=2):
        tasks.append({"id": f"{a} + {b}", "prompt": f"Compute {a} + {b}.", "expected_answer": a + b})
    plain = initial_policy([task["prompt"] for task in tasks], 4, 8, _CONFIG.max_tokens, rng)
    reference, policy = (
        plain._replace(weights=Weights(*(weight + rng.normal(0, 0.5, weight.shape) for weight in plain.weights)))
        for _ in range(2)
    )
    cases = []
    for _ in range(_UPDATES):
        chosen = np.repeat(rng.choice(len(tasks), _CONFIG.prompts_a_step, replace=False), _CONFIG.group_size)
        u = rng.random((len(chosen), _CONFIG.max_tokens))
        cases.append(Case(policy, reference, [tasks[i] for i in chosen], u))
    return cases


def check_loop(path: Path = Path("exercises") / "loop.py") -> CheckResult:
    """Raises UserError where there is no such file, or where it does not load."""
    refuse_missing(path)
    step = OwnStep(f"{path}:step")
    cases = make_cases(_SEED)
    try:
        found = [step(number, *case, reward_text, _CONFIG).weights for number, case in enumerate(cases, 1)]
    except GuestError as error:
        if isinstance(error.raised, NotImplementedError) and "loop.py" in str(error.raised):
            return CheckResult(NOT_STARTED)
        return CheckResult("wrong", "no update", [str(error)])
    right = [take_step(case) for case in cases]
    if all(map(is_close, found, right)):
        return CheckResult("done", f"{_UPDATES} updates as the course makes them")
    lines = [next(filter(None, map(describe_difference, found, right)))]
    for wrong, sentence in MISTAKES.items():
        if all(map(is_close, found, [take_step(case, wrong) for case in cases])):
            lines.append(f"It looks like {sentence}.")
            break
    return CheckResult("wrong", "another update", lines)


def is_close(weights: Weights, expected: Weights) -> bool:
    return not describe_difference(weights, expected)


def describe_difference(weights: Weights, expected: Weights) -> str:
    """The first number that differs; nothing where all are the same."""
    for name, found, right in zip(Weights._fields, weights, expected, strict=True):
        for place in np.argwhere(abs(found - right) > _TOLERANCE):
            where = ", ".join(map(str, place))
            return f"expected {right[*place]:.6f} as the new {name}[{where}], got {found[*place]:.6f}"
    return ""
