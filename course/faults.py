"""Machinery: what names a fault, the checks in their order and the characters they look for. Decides no reward.

The character classes are written out here, from the tables of Unicode 17.0, and Python's own tables are never asked:
so every Python gives one outcome for one text. Each class is the inside of a regular expression's brackets.

Not covered
    In a text of more than 200,000 characters, digits and invisible characters beyond U+FFFF: ``not_an_integer``.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final, NamedTuple

PREFIX: Final = "Final: "
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
    "extra_whitespace": Check(
        "model_format", "no_extra_whitespace", f"no white space and nothing invisible after '{PREFIX}'"
    ),
    "plus_sign": Check("model_format", "no_plus_sign", "an integer without a plus sign"),
    "non_ascii_digits": Check("model_format", "ascii_digits", "the digits 0 to 9 and no others"),
    "negative_zero": Check("model_format", "no_negative_zero", "zero written without a sign"),
    "leading_zeros": Check("model_format", "no_leading_zeros", "an integer without leading zeros"),
    "not_an_integer": Check("model_format", "integer", "a plain integer in base ten and nothing else"),
    "wrong_answer": Check("model_math", "value", "the right value"),
}
FAMILIES: Final[dict[str, str | None]] = {outcome: check.family for outcome, check in CHECKS.items()} | {"ok": None}
CHECK_STATES: Final = {  # outcome -> name of each check, in order -> what became of it
    outcome: {
        check.name: "passed" if row < failed else "failed" if row == failed else "not reached"
        for row, check in enumerate(CHECKS.values())
    }
    for failed, outcome in enumerate(FAMILIES)  # "ok" comes last: no row is as far
}

LINE_BOUNDARIES: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"  # all that str.splitlines() breaks a line at

CONTROL: Final = "\x00-\x1f\x7f-\x9f"  # category Cc: among them tab, escape and the null character
WHITE_SPACE: Final = "\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"  # property White_Space
# Property Default_Ignorable_Code_Point, what shows as nothing; and, marked *, three that it leaves out.
INVISIBLE: Final = (
    "\u00ad"  # soft hyphen
    "\u034f"  # combining grapheme joiner
    "\u061c"  # Arabic letter mark
    "\u115f\u1160\u3164\uffa0"  # Hangul fillers
    "\u17b4\u17b5"  # Khmer inherent vowels
    "\u180b-\u180f"  # Mongolian variation selectors, vowel separator
    "\u200b-\u200f"  # zero width space and joiners, direction marks
    "\u202a-\u202e"  # direction embeddings and overrides
    "\u2060-\u206f"  # word joiner, invisible operators, direction isolates
    "\u2800"  # * Braille pattern blank
    "\ufe00-\ufe0f"  # variation selectors
    "\ufeff"  # byte order mark
    "\ufff0-\ufff8"  # unassigned, reserved for more of the kind
    "\U00016fe4"  # * Khitan small script filler
    "\U0001bca0-\U0001bca3"  # shorthand format controls
    "\U0001d159"  # * musical symbol null notehead
    "\U0001d173-\U0001d17a"  # musical format controls
    "\U000e0000-\U000e0fff"  # tags, variation selectors supplement
)
UNSEEN: Final = CONTROL + WHITE_SPACE + INVISIBLE

# Category Nd. The ten digits of a script stand in a row, so that its zero names them all.
_ZEROS: Final = (
    *(0x0660, 0x06F0, 0x07C0, 0x0966, 0x09E6, 0x0A66),  # Arabic (2), NKo, Devanagari, Bengali, Gurmukhi
    *(0x0AE6, 0x0B66, 0x0BE6, 0x0C66, 0x0CE6, 0x0D66),  # Gujarati, Oriya, Tamil, Telugu, Kannada, Malayalam
    *(0x0DE6, 0x0E50, 0x0ED0, 0x0F20, 0x1040, 0x1090),  # Sinhala, Thai, Lao, Tibetan, Myanmar, Shan
    *(0x17E0, 0x1810, 0x1946, 0x19D0, 0x1A80, 0x1A90),  # Khmer, Mongolian, Limbu, New Tai Lue, Tai Tham (2)
    *(0x1B50, 0x1BB0, 0x1C40, 0x1C50, 0xA620, 0xA8D0),  # Balinese, Sundanese, Lepcha, Ol Chiki, Vai, Saurashtra
    *(0xA900, 0xA9D0, 0xA9F0, 0xAA50, 0xABF0, 0xFF10),  # Kayah Li, Javanese, Tai Laing, Cham, Meetei, fullwidth
    *(0x104A0, 0x10D30, 0x10D40, 0x11066, 0x110F0),  # Osmanya, Hanifi Rohingya, Garay, Brahmi, Sora Sompeng
    *(0x11136, 0x111D0, 0x112F0, 0x11450, 0x114D0),  # Chakma, Sharada, Khudawadi, Newa, Tirhuta
    *(0x11650, 0x116C0, 0x116D0, 0x116DA, 0x11730),  # Modi, Takri, Myanmar Pa'o, Myanmar Eastern Pwo Karen, Ahom
    *(0x118E0, 0x11950, 0x11BF0, 0x11C50, 0x11D50),  # Warang Citi, Dives Akuru, Sunuwar, Bhaiksuki, Masaram Gondi
    *(0x11DA0, 0x11DE0, 0x11F50, 0x16130, 0x16A60),  # Gunjala Gondi, Tolong Siki, Kawi, Gurung Khema, Mro
    *(0x16AC0, 0x16B50, 0x16D70, 0x1CCF0),  # Tangsa, Pahawh Hmong, Kirat Rai, outlined
    *(0x1D7CE, 0x1D7D8, 0x1D7E2, 0x1D7EC, 0x1D7F6),  # mathematical: bold, double-struck, sans-serif (2), monospace
    *(0x1E140, 0x1E2F0, 0x1E4F0, 0x1E5F1, 0x1E950, 0x1FBF0),  # Hmong, Wancho, Nag Mundari, Ol Onal, Adlam, segmented
)
_OF_A_SCRIPT: Final = "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in _ZEROS)
# Numeric_Type=Digit: digits by their shape, which have no place value.
_BY_SHAPE: Final = (
    "\u00b2\u00b3\u00b9\u2070\u2074-\u2079\u2080-\u2089"  # superscript and subscript
    "\u1369-\u1371\u19da\U00010a40-\U00010a43\U00010e60-\U00010e68\U00011052-\U0001105a"  # Ethiopic to Brahmi
    "\u2460-\u2468\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792"  # circled
    "\u2474-\u247c\u2488-\u2490\U0001f100-\U0001f10a"  # in parentheses, with a full stop or a comma
)
DIGITS: Final = "0-9" + _OF_A_SCRIPT + _BY_SHAPE

_LONG: Final = 200_000


def fault_of(text: str) -> str:
    """Why a text is not in format: the outcome of the first check it fails. ``text``: trimmed, not in format."""
    if not text:
        return "empty"
    if any(boundary in text for boundary in LINE_BOUNDARIES):
        return "not_single_line"
    if not text.startswith(PREFIX):
        return "missing_prefix"
    match = _integer_however_spelled(len(text) > _LONG).fullmatch(text, len(PREFIX))
    if match is None:
        return "not_an_integer"  # last in the order: no other fault has a name in what is no integer at all
    before, plus, between, minus, after, digits, within = match.groups("")
    if before or between or after or within:
        return "extra_whitespace"
    if plus:
        return "plus_sign"
    if not digits.isascii():
        return "non_ascii_digits"
    return "negative_zero" if minus and digits == "0" * len(digits) else "leading_zeros"


@cache
def _integer_however_spelled(long: bool) -> re.Pattern[str]:
    """A plus, a minus, digits of any kind; unseen characters anywhere. ``*+`` gives nothing back: linear time."""
    unseen, digits = (re.sub("[\U00010000-\U0010ffff]-?", "", each) if long else each for each in (UNSEEN, DIGITS))
    gap = f"([{unseen}]*+)"
    return re.compile(rf"{gap}(\+?){gap}(-?){gap}([{digits}]++)([{unseen}][{digits}{unseen}]*+)?")


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
    return str.__str__(_real_name(type(value)))  # a name may be a str that lies, too
