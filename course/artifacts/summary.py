"""Machinery: what the results of a run of Loop A or B add up to. A million rows are held as a few counts."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from math import fsum
from typing import Any, NamedTuple, TypeVar

from course.artifacts.records import MISSING, Result, Selection
from course.faults import FAMILIES
from course.stats import best_of_n_kl, best_of_n_kl_bound, pass_at_k, wilson_interval

_FAMILY_OF = FAMILIES | {MISSING: "data"}

Row = TypeVar("Row", bound=Result)


class Choice(NamedTuple):
    """All that the numbers of Loop B need of one row. ``right``: how many of the n samples are."""

    outcome: str
    n: int
    right: int
    first_is_right: bool
    first_of_best: bool  # whether the choice was the first of the best


def family_of(outcome: str) -> str:
    """Whose fault an outcome is; nothing for ``ok``. What no scorer knows is a fault of the data."""
    return _FAMILY_OF.get(outcome, "data") or ""


def fact(row: Result) -> str | Choice:
    """What a row adds to its summary: its outcome, or in Loop B its ``Choice``."""
    if not isinstance(row, Selection):
        return row.details.outcome
    best = row.rewards.index(max(row.rewards))
    right = row.rewards.count(1.0)
    return Choice(row.details.outcome, len(row.rewards), right, row.rewards[0] == 1.0, row.chosen == best)


def counted(rows: Iterable[Row], facts: Counter[str | Choice], firsts: dict[str, Row]) -> Iterator[Row]:
    """The rows unchanged. Counts their facts on the way, and keeps the first row of each outcome."""
    for row in rows:
        firsts.setdefault(row.details.outcome, row)
        facts[fact(row)] += 1
        yield row


def summary_of(facts: Mapping[str | Choice, int]) -> dict[str, Any]:
    """Facts, each with how many rows it is of, made into everything summary.json says of Loop A or B."""
    outcomes: Counter[str] = Counter()
    choices: Counter[Choice] = Counter()
    for one, times in facts.items():
        if isinstance(one, Choice):
            choices[one] += times
            outcomes[one.outcome] += times
        else:
            outcomes[one] += times
    return outcome_numbers(outcomes) | (selection_numbers(choices) if choices else {})


def outcome_numbers(outcomes: Mapping[str, int]) -> dict[str, Any]:
    """What Loops A and B share. ``outcomes`` counts each example once."""
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

    ``pass_at_1``: how often the first sample is right. ``pass_at_k``: how often k samples hold a right one, unbiased.
    ``selected_accuracy``: how often the choice is right. ``random_choice``: what choosing blindly would get.
    ``ceiling``: what no choice can exceed. ``kl_exact``: mean over the prompts, each with the pass rate of its own n
    samples; null where the choice was not the first of the best, for which the equation is not known to hold.
    """
    n = next(iter(choices)).n

    def mean(value: Callable[[Choice], float]) -> float:
        return fsum(value(choice) * times for choice, times in choices.items()) / sum(choices.values())

    first_of_best = all(choice.first_of_best for choice in choices)
    return {
        "samples_per_prompt": n,
        "pass_at_1": mean(lambda choice: choice.first_is_right),
        "pass_at_k": {str(k): mean(partial(_pass_at, k)) for k in range(1, n + 1)},
        "selected_accuracy": mean(lambda choice: choice.outcome == "ok"),
        "random_choice": mean(lambda choice: choice.right / n),
        "ceiling": mean(lambda choice: choice.right > 0),
        "kl_exact": mean(lambda choice: best_of_n_kl(choice.right / n, n)) if first_of_best else None,
        "kl_exact_reason": None if first_of_best else "pick_best did not take the first of the best samples everywhere",
        "kl_bound": best_of_n_kl_bound(n),
    }


def _pass_at(k: int, choice: Choice) -> float:
    return pass_at_k(choice.n, choice.right, k)
