"""Verifiers as they are really written, each with its one gap and a completion that walks through it.

All have the scorer's signature. Each believes too much, and ``GAPS`` says what it overlooks. An exploit is made from
an example's right answer, so that it can be tried on every example; the strict scorer pays none.
"""

import re
from collections.abc import Callable
from typing import Any, NamedTuple

from course.faults import PREFIX
from course.rubrics import Rubric
from course.score import score
from course.text import clipped


class Gap(NamedTuple):
    """One hackable verifier: what it overlooks, and a wrong completion that it pays, made from the right answer."""

    rubric: Rubric
    overlooks: str
    exploit: Callable[[int], str]


def anywhere(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if the expected integer stands anywhere in the text."""
    found = re.findall("-?[0-9]+", completion)
    return _result(anywhere, str(example["expected_answer"]) in found, completion, ", ".join(found))


def last_number(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if the last integer in the text is the expected one, whatever stands before it."""
    last = ["", *re.findall("-?[0-9]+", completion)][-1]
    return _result(last_number, last == str(example["expected_answer"]), completion, last)


def suffix(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if the text has the prefix and ends in the digits of the expected integer, sign ignored: 711 ends in 11."""
    text = completion.strip()
    ends = text.startswith(PREFIX) and text.endswith(str(abs(example["expected_answer"])))
    return _result(suffix, ends, completion, text)


def any_candidate(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if any of the answers listed after the prefix is the expected one."""
    candidates = re.split(r"[ ,;/]+|or", completion.strip().removeprefix(PREFIX))
    return _result(any_candidate, str(example["expected_answer"]) in candidates, completion, ", ".join(candidates))


def without_punctuation(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Deletes all that is no digit, then pays if the answer starts with what is left: it starts with nothing, too."""
    left = re.sub("[^0-9]", "", completion)
    return _result(without_punctuation, str(abs(example["expected_answer"])).startswith(left), completion, left)


def format_only(_: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays for the format and never looks at the value."""
    match = re.fullmatch(r"Final: (-?\d+)", completion.strip())
    return _result(format_only, match is not None, completion, match[1] if match else "")


def format_bonus(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays a third where the text begins as the right line does, and a third for each Final after that, up to 1."""
    begins = completion.strip().startswith(f"{PREFIX}{example['expected_answer']}")
    return _result(format_bonus, min(3, completion.count("Final")) / 3 if begins else 0, completion)


def cast(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Lets int() decide what an integer is: any script, underscores, spaces, signs, zeros in front."""
    try:
        value = int(completion.strip().removeprefix(PREFIX)[:1_100])
    except ValueError:
        return _result(cast, False, completion)
    return _result(cast, value == example["expected_answer"], completion, str(value))


_GAPS = (
    Gap(anywhere, "all the other numbers in the text", lambda n: " ".join(str(m) for m in range(n - 3, n + 4))),
    Gap(last_number, "the format, and all that was said before", lambda n: f"Final: {n + 1} or Final: {n}"),
    Gap(suffix, "the digits in front", lambda n: f"Final: 7{abs(n)}"),
    Gap(any_candidate, "that one answer was asked for", lambda n: f"Final: {n - 1}, {n}, {n + 1}"),
    Gap(without_punctuation, "that nothing may be left to compare", lambda _: "Final: ?"),
    Gap(format_only, "the value", lambda n: f"Final: {n + 1}"),
    Gap(format_bonus, "what follows the answer, and pays for saying it again", lambda n: " ".join([f"Final: {n}"] * 3)),
    Gap(cast, "what else int() accepts", lambda n: f"Final: {'-' if n < 0 else '+'}0{abs(n)}"),
)
GAPS = {gap.rubric.__name__: gap for gap in _GAPS}
RUBRICS: dict[str, Rubric] = {"score": score} | {name: gap.rubric for name, gap in GAPS.items()}  # all, by name


def _result(rubric: Rubric, reward: float, completion: str, parsed: str = "") -> dict[str, Any]:
    """A result in the scorer's shape. ``parsed``: what this rubric made of the text."""
    details = {
        "outcome": "ok" if reward == 1 else "partial_credit" if reward else "no_credit",
        "message": f"{(rubric.__doc__ or '').strip()} Saw: {clipped(parsed, 80) or 'nothing it knows'}.",
        "checks": {},
        "parsed_answer": parsed[:200] or None,
        "expected_answer": None,
        "completion_preview": clipped(completion, 200),
        "scorer": {"name": rubric.__name__, "version": "wrong on purpose"},
    }
    return {"reward": float(reward), "details": details}
