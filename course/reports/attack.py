"""Machinery: what course.attack prints, and the form in which an attack says what it found."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from course.datasets.records import Task
from course.reports.tables import wrapped
from course.text import clipped, quoted


@dataclass(frozen=True)
class Judged:
    """What a verifier gave for one text, beside what the spec gives. ``reward``: from 0 to 1; ``true``: 0 or 1."""

    example: Task
    completion: str
    reward: float
    true: float

    def __str__(self) -> str:
        expected = quoted(str(self.example["expected_answer"]))
        return f"'{clipped(self.completion, 200)}' where {expected} is expected: reward {self.reward:.4g}"


@dataclass(frozen=True)
class Found:
    """How many texts an attack ``tried``; those with a reward above the spec's and below it, the shortest first."""

    tried: int
    false_positives: list[Judged]
    false_negatives: list[Judged]


def found_in(judged: Sequence[Judged]) -> Found:
    by_length = sorted(judged, key=lambda one: (len(one.completion), one.completion))
    above, below = ([one for one in by_length if sign * one.reward > sign * one.true] for sign in (1, -1))
    return Found(len(judged), above, below)


def found_text(title: str, found: Found) -> str:
    lines = [f"{title} ({found.tried:,} texts)"]
    for kind, some in (("wrong, rewarded", found.false_positives), ("right, refused", found.false_negatives)):
        count = f"{len(some)}, such as " if len(some) > 1 else ""
        lines.append(f"  {kind:15}  {count}{some[0] if some else 'none'}")
    return "\n".join(map(wrapped, lines))


def attack_verdict(attacks: Sequence[Found], seconds: int | None) -> str:
    """The end of a page. ``seconds``: after so many it was stopped; None where it was not."""
    every = found_in([one for found in attacks for one in found.false_positives + found.false_negatives])
    tried = f"{sum(found.tried for found in attacks):,} texts were tried"
    tried += "" if seconds is None else f", then --seconds {seconds} had passed"
    if some := every.false_positives or every.false_negatives:
        return wrapped(f"FAILED: it {'is cheated by' if every.false_positives else 'refuses'} {some[0]} ({tried})")
    undecided = "" if seconds is None else "undecided: "
    return wrapped(f"{undecided}no text was found on which it differs from the spec; {tried}")


def try_text(rubric: str, completion: str, result: dict[str, Any], true: dict[str, Any]) -> str:
    """One text: what the rubric gives and says, and what the spec gives and says."""
    said = clipped(str(result["details"].get("message", "")), 300)
    lines = [
        f"text      '{clipped(completion, 200)}'",
        f"rubric    {result['reward']:.4g}  {quoted(rubric)}: {said or 'no message'}",
        f"the spec  {true['reward']:.4g}  {true['details']['outcome']}: {true['details']['message']}",
    ]
    return "\n".join(map(wrapped, lines))
