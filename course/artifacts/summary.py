"""Machinery: what the results of a run add up to, the numbers that Loops A and B share."""

from collections.abc import Mapping
from typing import Any

from course.artifacts.records import MISSING
from course.faults import FAMILIES
from course.stats import wilson_interval

_FAMILY_OF = FAMILIES | {MISSING: "data"}


def family_of(outcome: str) -> str:
    """Whose fault an outcome is; nothing for ``ok``. What no scorer knows is a fault of the data."""
    return _FAMILY_OF.get(outcome, "data") or ""


def summary_of(outcomes: Mapping[str, int]) -> dict[str, Any]:
    """Counts by outcome, made into the numbers every run reports. ``outcomes`` counts each example once."""
    n, passes = sum(outcomes.values()), outcomes.get("ok", 0)
    families: dict[str, int] = {}
    for outcome, family in _FAMILY_OF.items():
        if family is not None and outcomes.get(outcome):
            families[family] = families.get(family, 0) + outcomes[outcome]
    return {
        "n": n,
        "passes": passes,
        "pass_rate": passes / n,
        "pass_rate_ci95": list(wilson_interval(passes, n)),
        "mean_reward": passes / n,
        "outcomes": {outcome: outcomes[outcome] for outcome in _FAMILY_OF if outcomes.get(outcome)},
        "families": families,
    }
