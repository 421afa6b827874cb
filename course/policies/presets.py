"""Two regimes of learning, each with what it needs: on which prompts, and for how long.

They differ in coverage. Of the 100 sums of one digit, 75 are learned on: what 3 + 4 is says nothing about 4 + 5, so
each has to be remembered, and the rest stays unknown. Two-digit sums without a carry are two sums of one digit side by
side; a thousand of them show each such digit pair many times over, in the tens and in the ones, next to every other.
What is learned there holds for prompts that were never seen. Which of the two happened, only a holdout tells; how much
lies between them, ``course.coverage_demo`` counts.
"""

from typing import Literal, NamedTuple

Baseline = Literal["none", "running", "group"]


class Plan(NamedTuple):
    """How a policy is trained: everything but the prompts, the rubric and the seed."""

    sft_steps: int
    sft_lr: float
    steps: int
    prompts_a_step: int
    group_size: int  # completions of each prompt in a step
    lr: float
    baseline: Baseline
    kl_coef: float  # beta: how much a nat of drift from the reference costs
    limit: int  # tokens of a completion at most
    width: int  # of a token's vector
    hidden: int  # units


class Regime(NamedTuple):
    """The files to learn on and to measure on, and the plan."""

    dataset: str
    holdout: str
    plan: Plan


MEMORISE = Regime(
    dataset="data/datasets/one_digit_sums_dev.jsonl",
    holdout="data/datasets/one_digit_sums_holdout.jsonl",
    plan=Plan(
        sft_steps=800,
        sft_lr=0.3,
        steps=600,
        prompts_a_step=32,
        group_size=8,
        lr=0.5,
        baseline="group",
        kl_coef=0.0,
        limit=40,
        width=8,
        hidden=64,
    ),
)
GENERALISE = Regime(
    dataset="data/datasets/two_digit_sums_dev.jsonl",
    holdout="data/datasets/two_digit_sums_holdout.jsonl",
    plan=MEMORISE.plan._replace(prompts_a_step=64, limit=16, width=16, hidden=128),
)
PRESETS = {"generalise": GENERALISE, "memorise": MEMORISE}
