"""Machinery: what the results of a run of Loop A or B add up to. A million rows are held as a few counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from math import fsum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from course.artifacts.records import MISSING, Result, Selection
from course.faults import FAMILIES
from course.stats import best_of_n_kl, best_of_n_kl_bound, pass_at_k, wilson_interval

if TYPE_CHECKING:  # loaded where another rubric was asked
    from course.artifacts.payments import Payment

_FAMILY_OF = FAMILIES | {MISSING: "data"}

ROWS_AT_ONCE = 500  # that are held, counted and written together

Row = TypeVar("Row", bound=Result)


class Choice(NamedTuple):
    """All that the numbers of Loop B need of one row: of the n samples that were looked at ``right`` are right."""

    n: int
    right: int
    total: int  # samples of the prompt, looked at or not
    total_right: int
    first_is_right: bool
    chosen_is_right: bool
    first_of_best: bool  # whether the choice was the first of the best


def family_of(outcome: str) -> str:
    """Whose fault an outcome is; nothing for ``ok``. What no scorer knows is a fault of the data."""
    return _FAMILY_OF.get(outcome, "data") or ""


def choice_of(row: Selection) -> Choice:
    """What a row of Loop B adds to its numbers."""
    best = row.rewards.index(max(row.rewards))
    n, right = len(row.rewards), row.rewards.count(1.0)
    total, total_right = n + len(row.others), right + row.other_rewards.count(1.0)
    return Choice(n, right, total, total_right, row.rewards[0] == 1.0, row.reward == 1.0, row.chosen == best)


def count_outcomes(rows: Iterable[Row], outcomes: Counter[str]) -> Iterator[Row]:
    """The rows unchanged. Counts their outcomes on the way."""
    rows = iter(rows)
    while batch := list(islice(rows, ROWS_AT_ONCE)):
        outcomes.update(row.details.outcome for row in batch)
        yield from batch


def summary_of(
    outcomes: Mapping[str, int],
    choices: Mapping[Choice, int] | None = None,
    payments: "Mapping[Payment, int] | None" = None,
) -> dict[str, Any]:
    """All that summary.json says of Loop A, with ``choices`` of Loop B, with ``payments`` of another rubric, too.

    Each mapping counts rows.
    """
    summary = scorer_numbers(outcomes)
    if choices:
        summary |= selection_numbers(choices)
    if payments:
        from course.artifacts.payments import rubric_numbers

        summary |= rubric_numbers(payments)
    return summary


def scorer_numbers(outcomes: Mapping[str, int]) -> dict[str, Any]:
    """What the strict scorer says."""
    n, passes = sum(outcomes.values()), outcomes.get("ok", 0)
    families: Counter[str] = Counter()
    for outcome, family in _FAMILY_OF.items():
        if family is not None and outcomes.get(outcome):
            families[family] += outcomes[outcome]
    return {
        "n": n,
        "passes": passes,
        "pass_rate": passes / n,
        "pass_rate_ci95": list(wilson_interval(passes, n)),
        "mean_reward": passes / n,
        "outcomes": {outcome: outcomes[outcome] for outcome in _FAMILY_OF if outcomes.get(outcome)},
        "families": dict(families),
    }


def selection_numbers(choices: Mapping[Choice, int]) -> dict[str, Any]:
    """Three numbers of Loop B that are never merged, with the control, the ceiling and the price.

    ``first_sample_accuracy``: how often the first sample is right, as if N were 1. ``pass_at_k``: how often k samples
    of the policy hold a right one, unbiased, from all that there are. ``selected_accuracy``: how often the choice is
    right. ``random_choice``: what choosing blindly among the n would get. ``ceiling``: how often one of the n is right,
    which no choice can exceed. ``kl_estimate``: mean over the prompts of the KL of best-of-n, each with the pass rate
    of all its samples; null where the choice was not the first of the best, for which the equation is not known to
    hold. It is mostly too low: for n = 4 from 8 samples by 17 % where the policy is right one time in ten, by 13 % at
    one in two; from 4 samples by 34 % and 25 %; for n = 8 from 8 by 31 % and 5 %. For a policy that is mostly right it
    is too high, by up to some 7 % (n = 8 from a pass rate of 0.6 on, n = 4 from 0.9 on).
    """
    n = next(iter(choices)).n

    def mean(value: Callable[[Choice], float]) -> float:
        return fsum(value(choice) * times for choice, times in choices.items()) / sum(choices.values())

    def pass_at(k: int) -> float:
        return mean(lambda choice: pass_at_k(choice.total, choice.total_right, k))

    first_of_best = all(choice.first_of_best for choice in choices)
    reason = None if first_of_best else "the choice was not everywhere the first of the best samples"
    return {
        "samples_per_prompt": n,
        "first_sample_accuracy": mean(lambda choice: choice.first_is_right),
        "pass_at_k": {str(k): pass_at(k) for k in range(1, n + 1)},
        "selected_accuracy": mean(lambda choice: choice.chosen_is_right),
        "random_choice": mean(lambda choice: choice.right / n),
        "ceiling": mean(lambda choice: choice.right > 0),
        "kl_estimate": None if reason else mean(lambda choice: best_of_n_kl(choice.total_right / choice.total, n)),
        "kl_estimate_reason": reason,
        "kl_bound": best_of_n_kl_bound(n),
    }
