"""The instrument: a verifier that pays 1.0 for one exact line, ``Final: <int>``, and 0.0 for everything else.

Everything in this course stands on one function::

    score(example, completion) -> {"reward": float, "details": dict}

The scorer does not solve the problem and does not ask whether a text *means* the right answer. It asks whether
the text *is* the one line that the spec allows. ``SPEC`` below is that spec; change a word of it and every number
measured before means something else, so it carries a version.

Read the file in this order: ``SPEC`` (what is paid), ``CHECKS`` (what can go wrong, in the order it is looked for),
``verdict`` (the measurement), ``score`` (the measurement with its explanation).

Notation
    text      the completion without the ASCII space, tab, CR and LF at its two ends
    rest      what follows ``Final: `` in the text
    outcome   the first check that failed, or ``ok``
    family    whose fault an outcome is: ``data``, ``model_format`` or ``model_math``

Covered
    Deterministic: no clock, locale, environment or interpreter setting is asked; digits of a completion never pass
    through ``int()``, whose limit (PYTHONINTMAXSTRDIGITS) is such a setting.
    Total: no example and no completion of any type makes ``score`` raise. Only exact types are trusted, because a
    subclass of ``str`` or ``int`` may answer ``==`` as it likes.
    Explainable: ``details`` has the same keys every time, fits JSON, and stays small when a completion is huge.
    Fast: a few microseconds; below 50 ms for 5 MB. Versioned: the version travels with every reward.

Not covered
    An example whose own methods raise what is no Exception, KeyboardInterrupt say: that is obeyed, not scored.
    Names of characters, and digits of scripts, newer than this Python's Unicode tables: such a completion gets 0.0
    everywhere, but its outcome may read ``not_an_integer`` on one Python and ``non_ascii_digits`` on a later one.
    Diagnosis past the first 500,000 characters of what follows the prefix, where the text is not plain ASCII: its
    reward is 0.0 all the same, but the outcome may be a later one in the list.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from course.faults import CHECKS, CHECKS_UP_TO, PREFIX, fault_of
from course.text import visible

SCORER_NAME: Final = "final_int"
SCORER_VERSION: Final = "1.0.0"

SPEC: Final = """\
1. Trim: ASCII space, tab, CR and LF are removed from both ends, and nothing else is.
2. Format: the whole trimmed text is ASCII and matches  Final: (0|-?[1-9][0-9]*)
3. Value: the integer, as text, equals the decimal form of expected_answer. Reward 1.0; in any other case 0.0."""

TRIMMED: Final = " \t\r\n"
MAX_DIGITS: Final = 1_000

_FORMAT: Final = re.compile("Final: (0|-?[1-9][0-9]*)")

_HALF: Final = 10 ** (MAX_DIGITS // 2)
_TOO_LARGE: Final = 10**MAX_DIGITS
_PREVIEW: Final = 200


class Measurement(NamedTuple):
    """What the instrument reads off one completion. ``parsed_answer``: the integer's text where it was in format."""

    reward: float
    outcome: str
    parsed_answer: str | None


def measure(expected_answer: int, completion: str) -> Measurement:
    """The measurement itself: the reward of one completion, and its outcome.

    ``expected_answer`` is an exact int of at most 1,000 digits and ``completion`` an exact str: what the strict
    loader hands out.
    """
    text = completion.strip(TRIMMED)  # rule 1
    match = _FORMAT.fullmatch(text)  # rule 2
    if match is None:
        return Measurement(0.0, fault_of(text), None)
    parsed = match[1]
    outcome = "ok" if parsed == _decimal(expected_answer) else "wrong_answer"  # rule 3
    return Measurement(1.0 if outcome == "ok" else 0.0, outcome, parsed)


def score(example: object, completion: object) -> dict[str, Any]:
    """Reward of one completion, 1.0 or 0.0, and why.

    ``example``: a mapping with ``prompt`` (str), ``expected_answer`` (int, not bool, at most 1,000 digits) and, if
    present, ``id`` (str); other keys are not looked at. ``completion``: a str. Nothing is coerced, nothing raises.

    ``details``: ``outcome``; ``message``, one sentence; ``checks``, each check in order as ``passed``, ``failed`` or
    ``not reached``; ``parsed_answer`` and ``expected_answer``, as text or None; ``completion_preview``, at most 200
    characters with the unseen made visible; ``scorer``, its name and version. A parsed answer of more digits than
    an expected one may have is cut.
    """
    answer, fault = _read_example(example)
    reward, parsed, preview = 0.0, None, ""
    if fault is not None:
        outcome, got = "invalid_example", fault
    elif type(completion) is not str:
        outcome, got = "completion_not_text", _type_name(completion)
    else:
        preview = got = _preview(completion)
        reward, outcome, parsed = measure(answer, completion)
    expected = "" if fault is not None else _decimal(answer)

    if outcome == "ok":
        message = f"expected and got the line {PREFIX}{_cut(expected)}"
    elif outcome == "wrong_answer":
        message = f"expected the value {_cut(expected)}, got {got}"
    else:
        message = f"expected {CHECKS[outcome][1]}, got {got or 'nothing'}"
    details = {
        "outcome": outcome,
        "message": message,
        "checks": CHECKS_UP_TO[outcome].copy(),
        "parsed_answer": parsed if parsed is None or len(parsed) <= MAX_DIGITS + 1 else _cut(parsed),
        "expected_answer": expected or None,
        "completion_preview": preview,
        "scorer": {"name": SCORER_NAME, "version": SCORER_VERSION},
    }
    return {"reward": reward, "details": details}


def _decimal(number: int) -> str:
    """Decimal form of an int of at most 1,000 digits, in halves: the lowest limit that can be set on str() is 640."""
    if -_HALF < number < _HALF:
        return str(number)
    high, low = divmod(abs(number), _HALF)
    return f"{'-' if number < 0 else ''}{high}{str(low).zfill(MAX_DIGITS // 2)}"


def _read_example(example: object) -> tuple[int, str | None]:
    """``(expected_answer, None)``, or ``(0, what is wrong)``."""
    try:
        if type(example) is not dict and not isinstance(example, Mapping):
            return 0, _type_name(example)
        for key in ("prompt", "expected_answer"):
            if key not in example:
                return 0, f"no {key}"
        prompt, answer = example["prompt"], example["expected_answer"]
        if type(prompt) is not str:
            return 0, f"a prompt of type {_type_name(prompt)}"
        if type(answer) is not int:
            return 0, f"an expected_answer of type {_type_name(answer)}"
        if not -_TOO_LARGE < answer < _TOO_LARGE:
            return 0, f"an expected_answer of more than {MAX_DIGITS:,} digits"
        if "id" in example and type(example["id"]) is not str:
            return 0, f"an id of type {_type_name(example['id'])}"
    except Exception as error:  # a mapping of foreign make: whatever it raises is a fault of the data, and is named
        return 0, f"an example that raises {_type_name(error)}"
    return answer, None


def _preview(completion: str) -> str:
    return _cut(visible(completion[: _PREVIEW + 1]))


def _cut(text: str) -> str:
    return text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"


_real_name = type.__dict__["__name__"].__get__  # past a metaclass that lies about its classes' names


def _type_name(value: object) -> str:
    return _cut(visible(str.__str__(_real_name(type(value)))))  # a name may be a str that lies, too
