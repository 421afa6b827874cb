"""The instrument: a verifier that pays 1.0 for one exact line, ``Final: <int>``, and 0.0 for everything else.

The grammar of a completion that is in format, all of it in ASCII::

    completion  =  blank*  "Final: " integer  blank*
    integer     =  "0"  |  "-"? nonzero digit*
    nonzero     =  "1" | "2" | … | "9"
    digit       =  "0" | nonzero
    blank       =  space | tab | CR | LF

The checks, in order. The first that fails is the outcome; where all pass, the outcome is ``ok``::

    the data      invalid_example, completion_not_text
    the format    empty, not_single_line, missing_prefix, not_ascii, extra_whitespace, plus_sign, negative_zero,
                  leading_zeros, not_an_integer
    the value     wrong_answer

The reward is computed in one place, ``measure``. Loops A and B and the gate call it. The demos of Loop C call
``score``, the contract, which calls ``measure`` and explains its result::

    measure(expected_answer, completion) -> Measurement(reward, outcome, parsed_answer)
    score(example, completion)           -> {"reward": float, "details": dict}

The scorer does not solve the problem and does not ask whether a text *means* the right answer. It asks whether the
text *is* the one line that ``SPEC`` allows. ``course.faults`` names the fault of a text that is not in format; it
decides no reward.

The bytes of this file, of ``course/faults.py`` and of the golden sets belong to ``SCORER_VERSION``: whoever changes
one of them, a comment included, gives the scorer a new version, because numbers of two scorers cannot be compared.

Covered
    Deterministic: the scorer asks no clock, locale, environment or interpreter setting; a completion's digits never
    pass through ``int()``, whose limit (PYTHONINTMAXSTRDIGITS) is such a setting. Total: no input of any type raises;
    only exact types are trusted, because a subclass of ``str`` or ``int`` may answer ``==`` as it likes. Explainable:
    ``details`` has the same keys every time, fits JSON, and stays small. Fast: a few microseconds; below 50 ms for
    5 MB. Versioned: the version travels with every reward.
Not covered
    How a character is printed: ``message`` and ``completion_preview`` follow this Python's Unicode tables.
    An example whose own methods raise KeyboardInterrupt or another BaseException: it is passed on.
"""

import re
from typing import Any, Final, NamedTuple

from course.faults import (
    CHECKS,
    MAX_DIGITS,
    PREFIX,
    fault_of,
    first_beyond_ascii,
    read_example,
    states_of_checks,
    type_name,
)
from course.text import clipped, named

SCORER_NAME: Final = "final_int"
SCORER_VERSION: Final = "1.2.0"

SPEC: Final = """\
1. Trim: ASCII space, tab, CR and LF are removed from both ends, and nothing else is.
2. Format: the whole trimmed text is ASCII and matches  Final: (0|-?[1-9][0-9]*)
3. Value: the integer, as text, equals the decimal form of expected_answer. Reward 1.0; in any other case 0.0."""

TRIMMED: Final = " \t\r\n"
FORMAT: Final = re.compile("Final: (0|-?[1-9][0-9]*+)")  # *+ gives no digit back: 5 MB of them are quick
_HALF: Final = 10 ** (MAX_DIGITS // 2)
_PREVIEW: Final = 200  # characters


class Measurement(NamedTuple):
    """What the scorer reads off one completion. ``parsed_answer``: the integer's text where it was in format."""

    reward: float
    outcome: str
    parsed_answer: str | None


def measure(expected_answer: int, completion: str) -> Measurement:
    """The reward of one completion, and its outcome: ``ok``, or the first check that failed.

    ``expected_answer``: an exact int of at most 1,000 digits. ``completion``: an exact str. The strict loader hands
    out nothing else.
    """
    text = completion.strip(TRIMMED)  # rule 1
    match = FORMAT.fullmatch(text)  # rule 2
    if match is None:
        return Measurement(0.0, fault_of(text), None)
    parsed = match[1]
    outcome = "ok" if parsed == _decimal(expected_answer) else "wrong_answer"  # rule 3
    return Measurement(1.0 if outcome == "ok" else 0.0, outcome, parsed)


def score(example: object, completion: object) -> dict[str, Any]:
    """Reward of one completion, 1.0 or 0.0, and why.

    ``example``: a mapping with ``prompt`` (str), ``expected_answer`` (int, not bool, at most 1,000 digits) and, if
    present, ``id`` (str); other keys are not read. ``completion``: a str. Nothing is coerced, nothing raises.

    ``details``: ``outcome``; ``message``, one sentence; ``checks``, each check in order as ``passed``, ``failed`` or
    ``not reached``; ``parsed_answer`` and ``expected_answer``, as text or None (a parsed answer longer than any
    expected one is cut); ``completion_preview``, at most 200 characters of the trimmed text with the unseen made
    visible; ``scorer``, its name and version.
    """
    answer, fault = read_example(example)
    expected = None if fault is not None else _decimal(answer)
    preview = ""
    if fault is not None:
        measured, got = Measurement(0.0, "invalid_example", None), clipped(fault, _PREVIEW)
    elif type(completion) is not str:
        measured, got = Measurement(0.0, "completion_not_text", None), clipped(type_name(completion), _PREVIEW)
    else:
        text = completion.strip(TRIMMED)
        measured = measure(answer, text)
        preview = clipped(text, _PREVIEW)
        got = _got(measured.outcome, text, preview)
    reward, outcome, parsed = measured

    if outcome == "ok":
        message = f"expected and got the line {got}"
    elif outcome == "wrong_answer":
        message = f"expected the value {clipped(str(expected), _PREVIEW)}, got {got}"
    else:
        message = f"expected {CHECKS[outcome].expected}, got {got or 'nothing'}"
    details = {
        "outcome": outcome,
        "message": message,
        "checks": states_of_checks(outcome),
        "parsed_answer": clipped(parsed, _PREVIEW) if parsed and len(parsed) > MAX_DIGITS + 1 else parsed,
        "expected_answer": expected,
        "completion_preview": preview,
        "scorer": {"name": SCORER_NAME, "version": SCORER_VERSION},
    }
    return {"reward": reward, "details": details}


def _got(outcome: str, text: str, preview: str) -> str:
    """What was there, for the message: the preview, and before it the character beyond ASCII that may be the fault."""
    character = ""
    if outcome == "not_ascii":
        character = first_beyond_ascii(text)
    elif outcome == "missing_prefix":
        character = first_beyond_ascii(text[: len(PREFIX)])
    if character:
        return f"{named(character)} in {preview}"
    return preview


def _decimal(number: int) -> str:
    """Decimal form of an int of at most 1,000 digits. In halves: the limit on str() can be set as low as 640 digits."""
    if -_HALF < number < _HALF:
        return str(number)
    high, low = divmod(abs(number), _HALF)
    return f"{'-' if number < 0 else ''}{high}{str(low).zfill(MAX_DIGITS // 2)}"
