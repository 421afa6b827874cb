"""Machinery: matching a dataset with a policy's answers: each id stands once on both sides, and nothing is dropped."""

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
    """Yield each example, in dataset order, with its answer; None for a missing answer if ``missing_allowed``.

    ``answers``: pairs of id and answer, each id once, read to the end. Only answers that come before their turn are
    held in memory, so two files in the same order need no room. Raises UserError at the end if an answer is left over
    or missing; the pairs therefore count only when the iteration has ended. ``if_missing``: what else the person could
    do.
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
            faults.append(f"no record for {_first_few(missing)}")
        if unknown:
            faults.append(f"records for {_first_few(unknown)} that the dataset does not have")
        hint = ""
        if unknown:
            hint = "; delete these records, or add their examples to the dataset"
        elif if_missing:
            hint = f"; {if_missing}"
        got = " and ".join(faults)
        raise UserError(f"{completions}: expected one record for each id of {dataset}, got {got}{hint}")


def _first_few(ids: list[str]) -> str:
    names = ", ".join(clipped(id_, 60) for id_ in islice(ids, _NAMED))
    return f"{len(ids):,} id{'s' if len(ids) > 1 else ''} ({names}{', …' if len(ids) > _NAMED else ''})"
