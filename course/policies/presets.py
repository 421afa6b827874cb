"""Machinery: two ways of learning, each with what it takes: which prompts, and how long.

They differ in coverage. Of the 100 sums of one digit, 75 are trained on: what 3 + 4 is says nothing about 4 + 5, so
each has to be memorised. Two-digit sums without a carry are two sums of one digit side by side; a thousand of them
show each digit pair many times over, and what is learned holds for others. Only a holdout tells which of the two
happened; ``course.sweep_demo coverage`` measures what lies between them.
"""

from typing import Literal, NamedTuple

Baseline = Literal["none", "running", "group"]


class Plan(NamedTuple):
    """How a policy is trained: everything but the prompts, the rubric and the seed."""

    sft_steps: int = 800
    sft_lr: float = 0.3
    steps: int = 600
    prompts_a_step: int = 32
    group_size: int = 8  # completions of each prompt in a step
    lr: float = 0.5
    baseline: Baseline = "group"
    kl_coef: float = 0.0  # beta: what a nat of KL from the reference policy costs
    max_tokens: int = 40  # of a completion
    width: int = 8  # of a token's vector
    hidden: int = 64  # units
    false_positives: float = 0.0  # how often what the rubric does not pay is paid by mistake, at random
    false_negatives: float = 0.0  # and how often what it pays is not
    corrected: bool = False  # whether the reward is corrected for both, so that it is right on average


class Preset(NamedTuple):
    """The files to train on and to measure on, and the plan."""

    dataset: str
    holdout: str
    plan: Plan


MEMORISE = Preset("data/datasets/one_digit_sums_dev.jsonl", "data/datasets/one_digit_sums_holdout.jsonl", Plan())
GENERALISE = Preset(
    "data/datasets/two_digit_sums_dev.jsonl",
    "data/datasets/two_digit_sums_holdout.jsonl",
    Plan(prompts_a_step=64, max_tokens=16, width=16, hidden=128),
)
PRESETS = {"generalise": GENERALISE, "memorise": MEMORISE}
