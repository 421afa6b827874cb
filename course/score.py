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
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

SCORER_NAME: Final = "final_int"
SCORER_VERSION: Final = "1.0.0"

SPEC: Final = """\
1. Trim: ASCII space, tab, CR and LF are removed from both ends, and nothing else is.
2. Format: the whole trimmed text is ASCII and matches  Final: (0|-?[1-9][0-9]*)
3. Value: the integer, as text, equals the decimal form of expected_answer. Reward 1.0; in any other case 0.0."""

TRIMMED: Final = " \t\r\n"
PREFIX: Final = "Final: "
MAX_DIGITS: Final = 1_000

# Outcome of a failed check -> (family, what the check expects). The order is the order of the checks.
CHECKS: Final[dict[str, tuple[str, str]]] = {
    "invalid_example": ("data", "an example with prompt (str), expected_answer (int, at most 1,000 digits)"),
    "completion_not_text": ("data", "a completion of type str"),
    "empty": ("model_format", "some text"),
    "not_single_line": ("model_format", "a single line"),
    "missing_prefix": ("model_format", "a line that starts with 'Final: '"),
    "extra_whitespace": ("model_format", "no white space and nothing invisible after 'Final: '"),
    "plus_sign": ("model_format", "an integer without a plus sign"),
    "non_ascii_digits": ("model_format", "the digits 0 to 9 and no others"),
    "negative_zero": ("model_format", "zero written without a sign"),
    "leading_zeros": ("model_format", "an integer without leading zeros"),
    "not_an_integer": ("model_format", "a plain integer in base ten and nothing else"),
    "wrong_answer": ("model_math", "the value"),
}
FAMILIES: Final[dict[str, str | None]] = {outcome: family for outcome, (family, _) in CHECKS.items()} | {"ok": None}

_FORMAT: Final = re.compile("Final: (0|-?[1-9][0-9]*)")

# All that str.splitlines() breaks a line at. The trim takes CR and LF from the ends only; the others it leaves.
_LINE_BOUNDARIES: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
# White space of any script, and the format characters (Unicode category Cf), which show as nothing.
_UNSEEN: Final = (
    r"[\s\u00ad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064"
    r"\u2066-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    r"\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
_OTHER_DECIMAL: Final = r"[^\D0-9]"  # neither "not a decimal digit" nor one of ours: a foreign decimal digit
# Digits by their shape: superscript, subscript, circled and the like (str.isdigit without str.isdecimal).
_OTHER_DIGIT: Final = (
    r"[\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490"
    r"\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\U00010a40-\U00010a43\U00010e60-\U00010e68"
    r"\U00011052-\U0001105a\U0001f100-\U0001f10a]"
)
_SEARCHED: Final = 500_000  # how much of a text those three patterns are shown: this keeps the 50 ms

_HALF: Final = 10 ** (MAX_DIGITS // 2)
_TOO_LARGE: Final = 10**MAX_DIGITS
_PREVIEW: Final = 200


def verdict(expected_answer: int, completion: str) -> tuple[str, str | None]:
    """The measurement itself: ``(outcome, parsed_answer)`` of one completion.

    ``expected_answer`` is an exact int of at most 1,000 digits and ``completion`` an exact str: what the strict
    loader hands out. ``parsed_answer`` is the integer's text where the completion was in format, else None.
    """
    text = completion.strip(TRIMMED)  # rule 1
    match = _FORMAT.fullmatch(text)  # rule 2
    if match is None:
        return _fault(text), None
    parsed = match[1]
    return "ok" if parsed == _decimal(expected_answer) else "wrong_answer", parsed  # rule 3


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
    parsed: str | None = None
    preview = ""
    if fault is not None:
        outcome, got = "invalid_example", fault
    elif type(completion) is not str:
        outcome, got = "completion_not_text", _type_name(completion)
    else:
        preview = got = _preview(completion)
        outcome, parsed = verdict(answer, completion)
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
        "checks": _CHECKS_UP_TO[outcome].copy(),
        "parsed_answer": parsed if parsed is None or len(parsed) <= MAX_DIGITS + 1 else _cut(parsed),
        "expected_answer": expected or None,
        "completion_preview": preview,
        "scorer": {"name": SCORER_NAME, "version": SCORER_VERSION},
    }
    return {"reward": 1.0 if outcome == "ok" else 0.0, "details": details}


def _fault(text: str) -> str:
    """Why a trimmed text is not in format: the outcome of the first check that it fails. Decides no reward."""
    if not text:
        return "empty"
    printable = text.isprintable()  # no line boundary is, nor any white space but the space, nor a format character
    if not printable and any(boundary in text for boundary in _LINE_BOUNDARIES):
        return "not_single_line"
    if not text.startswith(PREFIX):
        return "missing_prefix"
    rest = text[len(PREFIX) :]
    if " " in rest or (not printable and _stands_in(rest, _UNSEEN)):
        return "extra_whitespace"
    if rest.startswith("+"):
        return "plus_sign"
    if not rest.isascii() and (_stands_in(rest, _OTHER_DECIMAL) or _stands_in(rest, _OTHER_DIGIT)):
        return "non_ascii_digits"
    digits = rest.removeprefix("-")
    if not (digits.isascii() and digits.isdigit()):
        return "not_an_integer"
    return "leading_zeros" if digits.strip("0") or not rest.startswith("-") else "negative_zero"


def _stands_in(rest: str, pattern: str) -> bool:
    return re.compile(pattern).search(rest, 0, _SEARCHED) is not None  # compiled once, by re, and only when asked


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


_CHECKS_UP_TO: Final[dict[str, dict[str, str]]] = {
    outcome: {
        check: "passed" if row < failed else "failed" if row == failed else "not reached"
        for row, check in enumerate(CHECKS)
    }
    for failed, outcome in enumerate(FAMILIES)  # "ok" comes last: no row is as far
}

# Characters that Python calls printable and that show as nothing or as a blank.
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)))
)
_UNNAMED: Final = {"\t": "TAB", "\n": "LINE FEED", "\r": "CARRIAGE RETURN", "\0": "NULL", "\x1b": "ESCAPE"}


def visible(text: str) -> str:
    """The text with every character that could hide, move or command anything written as ``<U+XXXX NAME>``."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char.isprintable() and char not in _BLANK else f"<{named(char)}>" for char in text)


def named(char: str) -> str:
    """One character as ``U+XXXX NAME``."""
    name = _UNNAMED.get(char) or unicodedata.name(char, f"unnamed, category {unicodedata.category(char)}")
    return f"U+{ord(char):04X} {name}"


def _preview(completion: str) -> str:
    return _cut(visible(completion[: _PREVIEW + 1]))


def _cut(text: str) -> str:
    return text if len(text) <= _PREVIEW else text[: _PREVIEW - 1] + "…"


_real_name = type.__dict__["__name__"].__get__  # past a metaclass that lies about its classes' names


def _type_name(value: object) -> str:
    return _cut(visible(str.__str__(_real_name(type(value)))))  # a name may be a str that lies, too
