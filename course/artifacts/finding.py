"""Machinery: what the gate finds about two runs: a verdict, its reasons, and, if they can be compared, the numbers."""

import msgspec

from course.artifacts.locked_room import Condition


class Numbers(msgspec.Struct, frozen=True):
    """The comparison of two runs from one room. Rates are between 0 and 1, intervals are 95 %.

    ``discordance``: the share of prompts that flip, estimated as (gained + lost + 2)/(n + 2). No difference can be
    larger than this share. ``smallest_visible_difference`` is None if even a difference of this size would not be
    detected.
    ``net_flips_needed`` is None if no rise would be promoted.
    """

    n: int
    baseline_passes: int
    candidate_passes: int
    baseline_ci95: tuple[float, float]
    candidate_ci95: tuple[float, float]
    gained: list[str]
    lost: list[str]
    delta: float
    delta_ci95: tuple[float, float]
    mcnemar_p: float
    net_flips_needed: int | None
    discordance: float
    smallest_visible_difference: float | None


class Finding(msgspec.Struct, frozen=True):
    """A verdict with its reasons. ``numbers`` is None if the two runs cannot be compared."""

    verdict: str
    reasons: list[str]
    conditions: list[Condition] = []
    knob: str | None = None
    policies: list[str | None] = []  # who wrote the completions, of the baseline and of the candidate
    notes: list[str] = []
    numbers: Numbers | None = None
    holdout_looks: int | None = None
    tries: int = 0  # runs in the log from the candidate's room; each of them but one can have been a candidate
    would_decide: str | None = None  # how many more prompts would give a verdict, if the verdict is INCONCLUSIVE
