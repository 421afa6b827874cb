"""Machinery: matching a dataset with what a policy answered, each id once on either side and nothing dropped."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from course.datasets.records import Example
from course.errors import UserError
from course.text import visible

Answer = TypeVar("Answer")

_NAMED = 5  # how many ids a complaint lists


def paired(
    examples: Iterable[Example],
    answers: dict[str, Answer],
    *,
    missing_allowed: bool,
    if_missing: str = "",
    dataset: Path,
    completions: Path,
) -> Iterator[tuple[Example, Answer | None]]:
    """Yield each example, in dataset order, with what was answered; None for a missing one where that is allowed.

    Empties ``answers`` on the way. Raises UserError at the end if anything was left over or missing, so what a caller
    makes of the pairs counts only once the iteration is through. ``if_missing`` says what else the caller could do.
    """
    missing: list[str] = []
    for example in examples:
        answer = answers.pop(example.id, None)
        if answer is None and not missing_allowed:
            missing.append(example.id)
        yield example, answer
    if missing or answers:
        faults = []
        if missing:
            faults.append(f"none for {_listed(missing)}")
        if answers:
            faults.append(f"{_listed(answers)} that the dataset does not have")
        hint = f"; {if_missing}" if if_missing and not answers else ""
        raise UserError(
            f"{completions}: expected one record for each id of {dataset}, got {' and '.join(faults)}{hint}"
        )


def _listed(ids: Iterable[str]) -> str:
    ids = list(ids)
    names = ", ".join(visible(id_[:60]) for id_ in islice(ids, _NAMED))
    return f"{len(ids):,} id{'s' if len(ids) > 1 else ''} ({names}{', …' if len(ids) > _NAMED else ''})"
