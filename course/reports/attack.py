"""Machinery: what course.attack prints, and the form in which an attack says what it found."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from course.datasets.records import Task
from course.reports.tables import wrapped
from course.score import SCORER_VERSION
from course.text import clipped, quoted, visible_whole

_SHOWN = 200  # characters of a completion


class Answer(NamedTuple):
    """What a verifier gave for one text, beside what the spec gives. ``reward``: from 0 to 1; ``true``: 0 or 1."""

    example: Task
    completion: str
    reward: float
    true: float


class Found(NamedTuple):
    """How many texts an attack ``tried``, and the ``answers`` that are other than the spec's."""

    tried: int
    answers: Sequence[Answer]

    @property
    def false_positives(self) -> list[Answer]:
        """Texts that are rewarded above the spec, the shortest first."""
        return sorted((one for one in self.answers if one.reward > one.true), key=_length)

    @property
    def false_negatives(self) -> list[Answer]:
        """Texts that are rewarded below it."""
        return sorted((one for one in self.answers if one.reward < one.true), key=_length)


def _length(answer: Answer) -> tuple[int, str]:
    return len(answer.completion), answer.completion


def found_text(title: str, found: Found) -> str:
    lines = [f"{title} ({found.tried:,} texts)"]
    for kind, answers in (("wrong, rewarded", found.false_positives), ("right, refused", found.false_negatives)):
        count = f"{len(answers)}, such as " if len(answers) > 1 else ""
        lines.append(f"  {kind:15}  " + (count + answer_text(answers[0]) if answers else "none"))
    return "\n".join(map(wrapped, lines))


def answer_text(answer: Answer) -> str:
    expected = quoted(str(answer.example["expected_answer"]))
    return f"'{completion_text(answer.completion)}' where {expected} is expected: reward {answer.reward:.4g}"


def completion_text(completion: str) -> str:
    shown = visible_whole(completion[: _SHOWN + 1])
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…"


def verdict_text(attacks: Sequence[Found], seconds: int | None) -> str:
    """The last line of a page. ``seconds``: after so many it was stopped; None where it was not."""
    positives = [answer for found in attacks for answer in found.false_positives]
    negatives = [answer for found in attacks for answer in found.false_negatives]
    tried = f"{sum(found.tried for found in attacks):,} texts were tried"
    if seconds is not None:
        tried += f", then --seconds {seconds} had passed"
    if positives:
        return wrapped(f"FAILED: it is cheated by {answer_text(min(positives, key=_length))} ({tried})")
    if negatives:
        return wrapped(f"FAILED: it refuses {answer_text(min(negatives, key=_length))} ({tried})")
    return wrapped(f"no text was found on which it differs from the spec; {tried}")


def try_text(rubric: str, completion: str, result: dict[str, Any], true: dict[str, Any]) -> str:
    """One text: what the rubric gives and says, and what the spec gives and says."""
    said = result["details"].get("message", "")
    lines = [
        f"text      '{completion_text(completion)}'",
        f"rubric    {result['reward']:.4g}  {quoted(rubric)}: {clipped(str(said), _SHOWN) or 'no message'}",
        f"the spec  {true['reward']:.4g}  {SCORER_VERSION}, {true['details']['outcome']}: {true['details']['message']}",
    ]
    return "\n".join(map(wrapped, lines))
