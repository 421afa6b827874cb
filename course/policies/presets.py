"""Machinery: two ways of learning, each with what it takes: which prompts, and how long.

They differ in coverage. Of the 100 sums of one digit, 75 are trained on: what 3 + 4 is says nothing about 4 + 5, so
each has to be memorised. Two-digit sums without a carry are two sums of one digit side by side; a thousand of them
show each digit pair many times over, in the tens and in the ones, next to every other, and what is learned holds for
prompts that were never trained on. Only a holdout tells which of the two happened; ``course.coverage_demo`` measures
what lies between them.
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
    kl_coef: float  # beta: what a nat of KL from the reference policy costs
    max_tokens: int  # of a completion
    width: int  # of a token's vector
    hidden: int  # units


class Preset(NamedTuple):
    """The files to train on and to measure on, and the plan."""

    dataset: str
    holdout: str
    plan: Plan


MEMORISE = Preset(
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
        max_tokens=40,
        width=8,
        hidden=64,
    ),
)
GENERALISE = Preset(
    dataset="data/datasets/two_digit_sums_dev.jsonl",
    holdout="data/datasets/two_digit_sums_holdout.jsonl",
    plan=MEMORISE.plan._replace(prompts_a_step=64, max_tokens=16, width=16, hidden=128),
)
PRESETS = {"generalise": GENERALISE, "memorise": MEMORISE}
