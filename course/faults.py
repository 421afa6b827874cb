"""Machinery: the checks in their order, and what names a fault. It decides no reward.

Nothing beyond ASCII is told apart: any such character after the prefix is one fault, ``not_ascii``. So no table of
Unicode is asked, and every Python gives one text the same outcome.
"""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

PREFIX: Final = "Final: "
LINE_BOUNDARIES: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # all that str.splitlines() breaks a line at
WHITE_SPACE: Final = bytes([*range(0x21), 0x7F])  # of ASCII, its control characters included
INTEGER_HOWEVER_SPELLED: Final = re.compile(rb"\+?-?[0-9]++")  # ++ gives no digit back: 5 MB of them are quick
MAX_DIGITS: Final = 1_000  # of an expected answer
_TOO_LARGE: Final = 10**MAX_DIGITS


class Check(NamedTuple):
    """One check. ``family``: whose fault it is where it fails; ``name``: what holds where it passes."""

    family: str
    name: str
    expected: str


# Outcome of a failed check -> the check. The order is the order of the checks: the first that fails is the outcome.
CHECKS: Final = {
    "invalid_example": Check(
        "data", "valid_example", "an example with prompt (str), expected_answer (int, at most 1,000 digits)"
    ),
    "completion_not_text": Check("data", "text", "a completion of type str"),
    "empty": Check("model_format", "not_empty", "some text"),
    "not_single_line": Check("model_format", "single_line", "a single line"),
    "missing_prefix": Check("model_format", "prefix", f"a line that starts with '{PREFIX}'"),
    "not_ascii": Check("model_format", "ascii", f"only ASCII characters after '{PREFIX}'"),
    "extra_whitespace": Check(
        "model_format", "no_extra_whitespace", f"no white space and no control character after '{PREFIX}'"
    ),
    "plus_sign": Check("model_format", "no_plus_sign", "an integer without a plus sign"),
    "negative_zero": Check("model_format", "no_negative_zero", "zero written without a sign"),
    "leading_zeros": Check("model_format", "no_leading_zeros", "an integer without leading zeros"),
    "not_an_integer": Check("model_format", "integer", "a plain integer in base ten and nothing else"),
    "wrong_answer": Check("model_math", "value", "the right value"),
}
FAMILIES: Final[dict[str, str | None]] = {outcome: check.family for outcome, check in CHECKS.items()} | {"ok": None}


def states_of_checks(outcome: str) -> dict[str, str]:
    """Name of each check, in order -> ``passed``, ``failed`` or ``not reached``."""
    states = {}
    state = "passed"
    for failed, check in CHECKS.items():
        if failed == outcome:
            states[check.name] = "failed"
            state = "not reached"
        else:
            states[check.name] = state
    return states


def fault_of(text: str) -> str:
    """Why a text is not in format: the outcome of the first check it fails. ``text``: trimmed, not in format."""
    if not text:
        return "empty"
    if any(boundary in text for boundary in LINE_BOUNDARIES):
        return "not_single_line"
    if not text.startswith(PREFIX):
        return "missing_prefix"
    if not text.isascii():
        return "not_ascii"
    rest = text.removeprefix(PREFIX).encode("ascii")
    integer = rest.translate(None, delete=WHITE_SPACE)
    if not INTEGER_HOWEVER_SPELLED.fullmatch(integer):
        return "not_an_integer"  # the faults below are named only where the rest would be an integer without them
    if integer != rest:
        return "extra_whitespace"
    if integer.startswith(b"+"):
        return "plus_sign"
    if re.fullmatch(b"-0+", integer):
        return "negative_zero"
    return "leading_zeros"


def first_beyond_ascii(text: str) -> str:
    """The first character that is not ASCII, or ``""`` where all are."""
    try:
        text.encode("ascii")
    except UnicodeEncodeError as error:
        return text[error.start]
    return ""


def read_example(example: object) -> tuple[int, str | None]:
    """``(expected_answer, None)``, or ``(0, what is wrong with the example)``. Read once: it may lie the next time."""
    try:
        if type(example) is not dict and not isinstance(example, Mapping):
            return 0, type_name(example)
        for key in ("prompt", "expected_answer"):
            if key not in example:
                return 0, f"no {key}"
        prompt, answer = example["prompt"], example["expected_answer"]
        if type(prompt) is not str:
            return 0, f"a prompt of type {type_name(prompt)}"
        if type(answer) is not int:
            return 0, f"an expected_answer of type {type_name(answer)}"
        if not -_TOO_LARGE < answer < _TOO_LARGE:
            return 0, f"an expected_answer of more than {MAX_DIGITS:,} digits"
        if "id" in example and type(example["id"]) is not str:
            return 0, f"an id of type {type_name(example['id'])}"
    except Exception as error:  # a mapping of foreign make: whatever it raises is a fault of the data, and is named
        return 0, f"an example that raises {type_name(error)}"
    return answer, None


_real_name = type.__dict__["__name__"].__get__  # past a metaclass that lies about its classes' names


def type_name(value: object) -> str:
    """The name of a value's class, as an exact str."""
    return str.__str__(_real_name(type(value)))  # a class can be named by a str that lies, too
