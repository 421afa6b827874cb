"""Machinery: the one form of a text that names something. Two policies, or two prompts, are the same if it is.

``plain_name`` of a policy is made in this order. An invisible sign between two digits becomes a visible one. Characters
that cannot be seen are removed. Raised, lowered, fraction and enclosed characters are kept apart from the digits beside
them. Then follow NFKC, case folding and NFKC again; white space becomes single spaces, and the ends are trimmed.
``plain_prompt`` of a prompt is the same form without the signs ``. ? ! :`` at its end and without quotes around the
whole.

A digest of a prompt says by which form it was made: ``FORM``, which rises with every
release that changes these rules.

Covered
    Another case, width or kind of space, a zero width space or another format character, another final sign: the same.
    Whatever else changes the value stays: ``1.5`` is not ``15``, and ``(2+3)*4`` is not ``2+3*4``, ``2³`` is
    not ``23`` (NFKC alone would make them one), ``2①`` is not ``21``, and ``2`` times ``3`` is not ``23``, even if its
    sign of multiplication is an invisible one.
Not covered
    Other words for the same question, and letters of other scripts that look alike: ``о`` in Cyrillic is no ``o``.
    Hyphens and apostrophes of different characters stay different: ``-``, ``‐`` and ``–``; ``'`` and ``’``.
    So do final signs of other scripts, ``。`` and ``؟``; ``½`` and ``1/2``; ``ı`` without a dot and ``I``.
    A final sign is dropped even where it changes the value: ``Compute 3!`` and ``Compute 3`` are one prompt.
    A character that is newer than this Python's tables of Unicode counts as one that cannot be seen.
"""

import re
from functools import cache
from unicodedata import category, decomposition, normalize

from course.text import hides

FORM = 2
FORM_MARK = f" form {FORM}"  # behind a digest of several prompts
_BEYOND_ASCII = re.compile("[^ -~]")  # and what ASCII has that cannot be seen
_FINAL_SIGNS = ".?!: "
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "„": "“", "‘": "’", "‚": "‘", "«": "»", "»": "«", "‹": "›", "›": "‹"}
_ENDS = (*_FINAL_SIGNS, *_QUOTES.values())  # what may go at the end of a prompt
_SIGN_BEFORE = {"<super>": "^", "<sub>": "_", "<fraction>": " "}  # what NFKC would set level: 2³ is not 23
_LEVELLED = ("<super>", "<sub>", "<fraction>", "<circle>", "<compat>")  # kept apart from a digit: 2① is not 21
_UNSEEN_SIGNS = {"\u2062": "*", "\u2063": ",", "\u2064": "+"}  # between digits
_UNSEEN_SIGN = re.compile(rf"(?<=\d)[{''.join(_UNSEEN_SIGNS)}](?=\d)")


def display_name(text: str) -> str:
    """A name to be written down: as it was given, with single spaces and without what cannot be seen."""
    seen = _BEYOND_ASCII.sub(lambda match: match[0] if _is_kept(match[0]) else "", text)
    return " ".join(seen.split())


def plain_name(text: str) -> str:
    """The form by which a policy is known."""
    if all(map(_is_plain, _BEYOND_ASCII.findall(text))):  # true of nearly every text; the rest would not change it
        return " ".join(text.casefold().split())
    seen = display_name(_UNSEEN_SIGN.sub(lambda match: _UNSEEN_SIGNS[match[0]], text))
    signed = _BEYOND_ASCII.sub(_with_sign, seen)
    return display_name(normalize("NFKC", normalize("NFKC", signed).casefold()))


def plain_prompt(text: str) -> str:
    """The form by which a prompt is known."""
    plain = plain_name(text)
    while plain.endswith(_ENDS):
        shorter = _without_quotes(plain.rstrip(_FINAL_SIGNS)).strip()
        if shorter in ("", plain):  # of a prompt that is nothing else, the signs are the prompt
            break
        plain = shorter
    return plain


@cache
def _is_plain(char: str) -> bool:
    """White space, or a sign such as ``–`` that is its own form, whatever stands beside it."""
    is_sign = category(char)[0] in "PS" and _is_kept(char)
    return char.isspace() or (is_sign and normalize("NFKC", char).casefold() == char)


@cache
def _is_kept(char: str) -> bool:
    return char.isspace() or not hides(char)


def _with_sign(match: re.Match[str]) -> str:
    """The character with what NFKC would lose: ``^`` or ``_`` for its height, and a blank between it and a digit."""
    char = match[0]
    kind = decomposition(char).partition(" ")[0]
    if kind not in _LEVELLED:
        return char
    level = normalize("NFKC", char)
    before = match.string[match.start() - 1 : match.start()]
    behind = match.string[match.end() : match.end() + 1]
    sign = _SIGN_BEFORE.get(kind, "")
    if not sign and before.isdecimal() and level[0].isdecimal():
        sign = " "
    if behind.isdecimal() and level[-1].isdecimal():
        return f"{sign}{char} "
    return f"{sign}{char}"


def _without_quotes(text: str) -> str:
    """The text without quotes around the whole. Quotes that stand within belong to parts of it."""
    if len(text) < 2 or _QUOTES.get(text[0]) != text[-1]:
        return text
    inner = text[1:-1]
    if text[0] in inner or text[-1] in inner:
        return text
    return inner
