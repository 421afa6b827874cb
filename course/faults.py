"""What names a fault: the checks in their order, and the characters that they look for. Decides no reward."""

import re
from typing import Final

PREFIX: Final = "Final: "

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


def fault_of(text: str) -> str:
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


CHECKS_UP_TO: Final[dict[str, dict[str, str]]] = {
    outcome: {
        check: "passed" if row < failed else "failed" if row == failed else "not reached"
        for row, check in enumerate(CHECKS)
    }
    for failed, outcome in enumerate(FAMILIES)  # "ok" comes last: no row is as far
}
