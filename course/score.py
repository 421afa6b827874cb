"""The instrument: a verifier that pays 1.0 for one exact line, ``Final: <int>``, and 0.0 for everything else.

The reward is computed in one place, ``measure``. Loops A and B and the gate call it; ``score``, the contract, is made
of it and explains what it measured; the demos of Loop C call ``score``::

    measure(expected_answer, completion) -> Measurement(reward, outcome, parsed_answer)
    score(example, completion)           -> {"reward": float, "details": dict}

The scorer does not solve the problem and does not ask whether a text *means* the right answer. It asks whether the
text *is* the one line that the spec allows: trim, match, compare. ``SPEC`` below is that spec; change a word of it
and every number measured before means something else, so it carries a version. Why a text is not in format is named
by ``course.faults``, which decides no reward.

Covered
    Deterministic: no clock, locale, environment or interpreter setting is asked; a completion's digits never pass
    through ``int()``, whose limit (PYTHONINTMAXSTRDIGITS) is such a setting. Total: no input of any type raises; only
    exact types are trusted, because a subclass of ``str`` or ``int`` may answer ``==`` as it likes. Explainable:
    ``details`` has the same keys every time, fits JSON, and stays small. Fast: a few microseconds; below 50 ms for
    5 MB. Versioned: the version travels with every reward.
Not covered
    How a character is printed: ``message`` and ``completion_preview`` follow this Python's Unicode tables.
    An example whose own methods raise KeyboardInterrupt or another BaseException: it is passed on.
"""

import re
from typing import Any, Final, NamedTuple

from course.faults import CHECK_STATES, CHECKS, MAX_DIGITS, fault_of, read_example, type_name
from course.text import clipped

SCORER_NAME: Final = "final_int"
SCORER_VERSION: Final = "1.1.0"

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
    expected = "" if fault is not None else _decimal(answer)
    measured, preview = Measurement(0.0, "invalid_example", None), ""
    if fault is not None:
        got = clipped(fault, _PREVIEW)
    elif type(completion) is not str:
        measured, got = Measurement(0.0, "completion_not_text", None), clipped(type_name(completion), _PREVIEW)
    else:
        text = completion.strip(TRIMMED)
        measured = measure(answer, text)
        preview = got = clipped(text, _PREVIEW)
    reward, outcome, parsed = measured

    if outcome == "ok":
        message = f"expected and got the line {got}"
    elif outcome == "wrong_answer":
        message = f"expected the value {clipped(expected, _PREVIEW)}, got {got}"
    else:
        message = f"expected {CHECKS[outcome].expected}, got {got or 'nothing'}"
    details = {
        "outcome": outcome,
        "message": message,
        "checks": CHECK_STATES[outcome].copy(),
        "parsed_answer": clipped(parsed, _PREVIEW) if parsed and len(parsed) > MAX_DIGITS + 1 else parsed,
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
