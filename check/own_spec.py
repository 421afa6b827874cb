"""Machinery: the reward spec as a student writes it, held against the scorer; a gap is named by the rule it breaks.

A gap that no golden case and no text with one edit shows is not seen here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from check.functions import call_function, is_close, is_unwritten, refuse_missing
from check.result import NOT_STARTED, CheckResult
from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase
from course.errors import UserError
from course.faults import CHECKS, FAMILIES
from course.guest import GuestError, is_number
from course.rubrics.witness import edits
from course.score import score
from course.text import quote

_TASK: dict[str, Any] = {"prompt": "How many?", "expected_answer": 1}
_NO_TEXTS: list[Any] = ["", None, 1, True, ["Final: 1"], {}]
_NO_EXAMPLES: list[Any] = [
    _TASK | {"expected_answer": True},
    _TASK | {"expected_answer": 1.0},
    _TASK | {"expected_answer": "1"},
    _TASK | {"expected_answer": None},
    {},
    {"expected_answer": 1},
    _TASK | {"prompt": 1},
    [],
    None,
]
_ANSWERS = (0, 7, -8, 10, 323, -120, 10**30 + 7)
_LONGEST = 1_000  # characters of a text
_Question = tuple[Any, Any]  # an example and a completion, or what is neither


def check_my_score(path: Path) -> CheckResult:
    """The student's spec on the golden sets, on texts that are an edit from right, and on what is no text."""
    refuse_missing(path)
    questions = make_questions()
    try:
        answers = call_function(path, "score", [*questions, *reversed(questions)])
    except UserError as error:  # no such function, or a file that does not load
        return CheckResult("wrong", str(error), [str(error)])
    if is_unwritten(answers):
        return CheckResult(NOT_STARTED)
    broken: dict[str, list[tuple[int, int, str]]] = {}  # rule -> the calls that break it
    for (example, completion), answer, again in zip(questions, answers, reversed(answers), strict=False):
        right = score(example, completion)
        rule = find_broken_rule(answer, again, right)
        if rule:
            call = f"score({quote(repr(example))}, {quote(repr(completion))}), got {describe_answer(answer)}"
            pays_text = rule.endswith(", else 0") and FAMILIES[right["details"]["outcome"]] != "data"
            rank = 0 if pays_text else 1  # a wrong text that is paid is told before anything else
            broken.setdefault(rule, []).append((rank, len(call), call))
    lines = []
    for rule, calls in sorted(broken.items(), key=lambda item: min(item[1])):
        lines.append(f"expected {rule}: broken {len(calls):,} times, as for {min(calls)[-1]}")
    kept = len(questions) - sum(map(len, broken.values()))
    short = f"{kept:,} of {len(questions):,} texts as the spec has them"
    return CheckResult("wrong" if lines else "done", short, lines)


def make_questions() -> list[_Question]:
    """What the spec is asked: what is no text or no example, right lines with an edit, and the golden cases."""
    questions: list[_Question] = [(_TASK, completion) for completion in _NO_TEXTS]
    questions += [(example, "Final: 1") for example in _NO_EXAMPLES]
    for answer in _ANSWERS:
        task = _TASK | {"expected_answer": answer}
        questions += [(task, text) for text in edits(answer) if len(text) <= _LONGEST]
    for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS):
        for case in read_records(path, GoldenCase):
            questions.append((_TASK | {"expected_answer": case.expected_answer}, case.completion))
    return questions


def find_broken_rule(answer: Any, again: Any, right: Mapping[str, Any]) -> str:
    """Which rule an answer breaks, or nothing. ``again``: the answer to the same question, asked again."""
    if isinstance(answer, GuestError):
        return "an answer and no exception"
    if answer != again:
        return "the same answer whenever it is asked"
    details = answer.get("details") if isinstance(answer, dict) else None
    message = details.get("message") if isinstance(details, dict) else None
    if not isinstance(message, str) or not message:
        return "a reward, and details with a message"
    if not is_number(answer.get("reward")):
        return "a number as reward, 1.0 or 0.0"
    if is_close(answer.get("reward"), right["reward"]):
        return ""
    outcome = right["details"]["outcome"]
    if outcome in CHECKS:
        return f"{CHECKS[outcome].expected}, else 0"
    return "1 for what is right"


def describe_answer(answer: Any) -> str:
    if isinstance(answer, GuestError):
        return str(answer)
    if isinstance(answer, dict) and "reward" in answer:
        return quote(repr(answer["reward"]))
    return quote(repr(answer))
