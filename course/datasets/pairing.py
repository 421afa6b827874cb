"""Machinery: matching a dataset with what a policy answered, each id once on either side and nothing dropped."""

from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TypeVar

from course.datasets.records import Example
from course.errors import UserError
from course.text import clipped

Answer = TypeVar("Answer")

_NAMED = 5  # how many ids a complaint lists


def pair_by_id(
    examples: Iterable[Example],
    answers: Iterable[tuple[str, Answer]],
    *,
    missing_allowed: bool = False,
    if_missing: str = "",
    dataset: Path,
    completions: Path,
) -> Iterator[tuple[Example, Answer | None]]:
    """Yield each example, in dataset order, with what was answered; None for a missing one where that is allowed.

    ``answers``: pairs of id and answer, each id once, read to its end. Only those that come before their turn are
    held: two files in one order need no room. Raises UserError at the end if anything was left over or missing, so
    what a caller makes of the pairs counts only once the iteration is through. ``if_missing`` says what else the
    caller could do.
    """
    missing: list[str] = []
    early: dict[str, Answer] = {}
    answers = iter(answers)
    for example in examples:
        found = early.pop(example.id, None)
        if found is None:
            for id_, answer in answers:
                if id_ == example.id:
                    found = answer
                    break
                early[id_] = answer
            else:
                if not missing_allowed:
                    missing.append(example.id)
        yield example, found
    unknown = [*early, *(id_ for id_, _ in answers)]
    if missing or unknown:
        faults = []
        if missing:
            faults.append(f"none for {_first_few(missing)}")
        if unknown:
            faults.append(f"{_first_few(unknown)} that the dataset does not have")
        hint = ""
        if unknown:
            hint = "; take those out, or add their examples to the dataset"
        elif if_missing:
            hint = f"; {if_missing}"
        got = " and ".join(faults)
        raise UserError(f"{completions}: expected one record for each id of {dataset}, got {got}{hint}")


def _first_few(ids: list[str]) -> str:
    names = ", ".join(clipped(id_, 60) for id_ in islice(ids, _NAMED))
    return f"{len(ids):,} id{'s' if len(ids) > 1 else ''} ({names}{', …' if len(ids) > _NAMED else ''})"
