"""Verifiers as they are really written, each with its one gap and a completion that walks through it.

All have the scorer's signature; their details are short, and ``in_words`` adds what a person reads. Each verifier
believes too much, and ``GAPS`` says what it overlooks. An exploit is made from an example's right answer, so that it
can be tried on every example; the strict scorer pays none.
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
    """Pays if the expected integer appears anywhere in the text."""
    found = re.findall("-?[0-9]+", completion)
    return _result(anywhere, str(example["expected_answer"]) in found, ", ".join(found))


def last_number(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if the last integer in the text is the expected one, whatever comes before it."""
    last = ["", *re.findall("-?[0-9]+", completion)][-1]
    return _result(last_number, last == str(example["expected_answer"]), last)


def suffix(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if the text has the prefix and ends in the digits of the expected integer, sign ignored: 711 ends in 11."""
    text = completion.strip()
    ends = text.startswith(PREFIX) and text.endswith(str(abs(example["expected_answer"])))
    return _result(suffix, ends, text)


def any_candidate(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays if any of the answers listed is the expected one, with or without the prefix in front."""
    candidates = re.split(r"[ ,;/]+|or", completion.strip().removeprefix(PREFIX))
    return _result(any_candidate, str(example["expected_answer"]) in candidates, ", ".join(candidates))


def without_punctuation(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Deletes all but digits, and pays if the expected answer begins with the rest. An empty rest is always paid."""
    left = re.sub("[^0-9]", "", completion)
    return _result(without_punctuation, str(abs(example["expected_answer"])).startswith(left), left)


def format_only(example: dict[str, Any], completion: str) -> dict[str, Any]:  # noqa: ARG001
    """Pays for the format and never looks at the value."""
    match = re.fullmatch(r"Final: (-?\d+)", completion.strip())
    return _result(format_only, match is not None, match[1] if match else "")


def format_bonus(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Pays a third for a text that begins with the right line, and a third for each further Final, up to 1."""
    begins = completion.strip().startswith(f"{PREFIX}{example['expected_answer']}")
    return _result(format_bonus, min(3, completion.count("Final")) / 3 if begins else 0)


def cast(example: dict[str, Any], completion: str) -> dict[str, Any]:
    """Lets int() decide what an integer is: any script, underscores, spaces, signs, zeros in front."""
    try:
        value = int(completion.strip().removeprefix(PREFIX)[:1_100])
    except ValueError:
        return _result(cast, False)
    return _result(cast, value == example["expected_answer"], str(value))


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


def in_words(result: dict[str, Any], completion: str) -> dict[str, Any]:
    """What a careless verifier gave for a completion, with the details that a person reads, in the scorer's shape.

    They are made here and not by the verifiers, which a training asks thousands of times for the reward alone.
    """
    details = result["details"]
    rubric = GAPS[details["scorer"]["name"]].rubric
    parsed = clipped(details["parsed_answer"] or "", 80)
    read = f" Read as the answer: {parsed}." if parsed else ""
    whole = {
        "outcome": details["outcome"],
        "message": f"{(rubric.__doc__ or '').strip()}{read}",
        "checks": {},
        "parsed_answer": details["parsed_answer"],
        "expected_answer": None,
        "completion_preview": clipped(completion, 200),
        "scorer": details["scorer"],
    }
    return result | {"details": whole}


def _result(rubric: Rubric, reward: float, parsed: str = "") -> dict[str, Any]:
    """``parsed``: what this rubric made of the text."""
    if reward == 1:
        outcome = "ok"
    elif reward:
        outcome = "partial_credit"
    else:
        outcome = "no_credit"
    scorer = {"name": rubric.__name__, "version": "wrong on purpose"}
    return {
        "reward": float(reward),
        "details": {"outcome": outcome, "parsed_answer": parsed[:200] or None, "scorer": scorer},
    }
