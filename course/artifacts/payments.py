"""Machinery: what a second rubric, asked beside the scorer, pays for: counts by the kind of completion."""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Any, NamedTuple

from course.artifacts.records import Result, RubricResult
from course.rubrics.kinds import Kind
from course.stats import wilson_interval
from course.text import clipped

KINDS = tuple(map(str, Kind))
PAYS = 0.5  # a rubric that pays in part counts as paying from here on


class Payment(NamedTuple):
    """What the second rubric paid for one row, and the kind of that row's completion."""

    kind: str
    reward: float


def count_payments(rows: Iterable[Result]) -> Counter[Payment]:
    """Count the rows that a rubric was asked about by kind and reward."""
    return Counter([Payment(row.kind, row.reward) for row in rows if isinstance(row, RubricResult)])


def fault_of_payment(row: RubricResult) -> str | None:
    """Why the kind of a row is wrong, or None. Its reward is finite, because JSON holds no other number."""
    if row.kind in KINDS:
        return None
    return f"has an unknown kind: {clipped(row.kind, 40)}"


def rubric_numbers(payments: Mapping[Payment, int]) -> dict[str, Any]:
    """What the second rubric pays for the same completions.

    ``rubric_passes``: rewards of 1 or more. ``paid``: how many completions of each kind got at least PAYS.
    ``right_refused``: right lines that got less.
    """
    n = sum(payments.values())
    passes = sum(count for payment, count in payments.items() if payment.reward >= 1)
    paid = dict.fromkeys(KINDS, 0)
    right_refused = 0
    for payment, count in payments.items():
        if payment.reward >= PAYS:
            paid[payment.kind] += count
        elif payment.kind == Kind.RIGHT:
            right_refused += count
    return {
        "rubric_passes": passes,
        "rubric_pass_rate": passes / n,
        "rubric_pass_rate_ci95": list(wilson_interval(passes, n)),
        "rubric_mean_reward": fsum(payment.reward * count for payment, count in payments.items()) / n,
        "paid": paid,
        "right_refused": right_refused,
    }
