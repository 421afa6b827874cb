"""Machinery: the real spec less exactly one rule, for each of its rules.

A rule forbids some readings of a text. To take the rule away is to allow them: an ablation lists the readings that
its rule forbids and asks the real scorer about each. If any of them gets the reward, so does the text; in everything
but that one rule it is the whole real spec. A golden exploit names the rule it attacks, and only the ablation of that
rule rewards it.

Each rule is a function that yields the readings it forbids: of the whole ``text``, trimmed, or of the ``rest``, what
follows the prefix.

Covered
    Each rule of the spec, in the forms that were met in other people's verifiers.
Not covered
    Every form a rule could be broken in: `no_other_notation`, for one, knows a few notations and not all.
"""

import operator
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from typing import Any

from course.faults import PREFIX
from course.rubrics import Rubric
from course.score import FORMAT, TRIMMED, score
from course.text import hides

Readings = Callable[[str], Iterator[str]]

_LONGEST = 10_000  # characters; an ablation is a lesson and not an instrument: it need not read on for ever


def trim_ascii_only(text: str) -> Iterator[str]:
    """Forgives any white space, and anything invisible, at the two ends."""
    yield text.strip(unseen_in(text))


def single_line(text: str) -> Iterator[str]:
    """Forgives other lines: any line may be the answer."""
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1:
        yield from lines


def exact_prefix(text: str) -> Iterator[str]:
    """Forgives another prefix, more words in it, or none: what counts is the integer that the line ends in."""
    words = rf"(?!{PREFIX}[^a-z])[^0-9\n]*?"
    match = re.fullmatch(f"{words}(-?[0-9]+)", text)
    if match and text[0] not in unseen_in(text):
        yield PREFIX + match[1]


def no_wrapping(text: str) -> Iterator[str]:
    """Forgives Markdown, TeX and brackets around the line or around the integer."""
    marks = r"(?:[*_`~$()\[\]{}<>\"'\\]|boxed|text)*"
    if match := re.fullmatch(f"{marks}Final:{marks} {marks}(-?[0-9]+){marks}", text):
        yield PREFIX + match[1]


def no_inner_white_space(rest: str) -> Iterator[str]:
    """Forgives white space and invisible characters before and inside the integer."""
    if rest[-1:].isdigit():
        yield rest.translate(str.maketrans("", "", unseen_in(rest)))


def no_plus_sign(rest: str) -> Iterator[str]:
    """Forgives a plus sign."""
    yield rest.removeprefix("+")


def ascii_digits(rest: str) -> Iterator[str]:
    """Forgives the digits of every script, circled and raised ones too, for the digits that they stand for."""
    yield "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in rest)


def no_negative_zero(rest: str) -> Iterator[str]:
    """Forgives a sign before zero."""
    if re.fullmatch("-0+", rest):
        yield "0"


def no_leading_zeros(rest: str) -> Iterator[str]:
    """Forgives zeros in front."""
    yield re.sub("^(-?)0+(?=[0-9])", r"\1", rest)


def ascii_minus(rest: str) -> Iterator[str]:
    """Forgives dashes and look-alikes of the minus sign."""
    yield re.sub("^[\u2010-\u2015\u2212\ufe58\ufe63\uff0d\u00af\u02d7]", "-", rest)


def one_answer(rest: str) -> Iterator[str]:
    """Forgives several answers on the line: any of them may be the right one."""
    answers = [part for part in re.split(r"[ ,;|/=]+|\bor\b|\band\b|Final:", rest) if part]
    if len(answers) > 1 and all(re.fullmatch("-?[0-9]+", answer) for answer in answers):
        yield from answers


def nothing_after(rest: str) -> Iterator[str]:
    """Forgives whatever follows the integer on the line, so long as it brings no digit."""
    if match := re.fullmatch(r"(-?[0-9]+)([^0-9\n]*?)\.?", rest):
        integer, words = match.groups()
        if not words or words[-1] not in "." + unseen_in(words):
            yield integer


def no_expression(rest: str) -> Iterator[str]:
    """Forgives a sum, difference, product or quotient of two integers that has still to be worked out."""
    if match := re.fullmatch(r"(-?[0-9]{1,30}) ?([-+*/]) ?(-?[0-9]{1,30})", rest):
        left, sign, right = match.groups()
        with suppress(ZeroDivisionError):
            yield str(_OPERATORS[sign](Fraction(left), Fraction(right)))


def no_other_notation(rest: str) -> Iterator[str]:
    """Forgives other notations: separators, decimals, exponents, other bases, Roman numerals, words."""
    yield re.sub("(?<=[0-9])[,_'](?=[0-9])", "", rest)
    if re.fullmatch(r"-?[1-9][0-9]*(\.[0-9]+|[eE][+-]?[0-9]{1,3}|\.[0-9]+[eE][+-]?[0-9]{1,3})", rest):
        yield str(Fraction(rest))
    if re.fullmatch("-?0(x[0-9a-fA-F]{1,200}|o[0-7]{1,200}|b[01]{1,200})", rest):
        yield str(int(rest, base=0))
    if rest and set(rest) <= set(_ROMAN):
        values = [_ROMAN[letter] for letter in rest]
        yield str(sum(-value if value < max(values[i:]) else value for i, value in enumerate(values)))
    yield _INTEGER_OF_WORD.get(rest.lower(), rest)


TEXT_RULES: dict[str, Readings] = {
    rule.__name__: rule for rule in (trim_ascii_only, single_line, exact_prefix, no_wrapping)
}
REST_RULES: dict[str, Readings] = {rule.__name__: rule for rule in (
    no_inner_white_space, no_plus_sign, ascii_digits, no_negative_zero, no_leading_zeros,
    ascii_minus, one_answer, nothing_after, no_expression, no_other_notation,
)}  # fmt: skip
VALUE = "value"  # forgives any other value
RULES = (*TEXT_RULES, *REST_RULES, VALUE)


def without(rule: str) -> Rubric:
    """The rubric that lacks exactly this rule, one of ``RULES``. ``details``: the scorer's, of the rewarded reading."""

    def rubric(example: dict[str, Any], completion: str) -> dict[str, Any]:
        result = score(example, completion)
        if result["details"]["outcome"] not in ("ok", "invalid_example", "completion_not_text"):
            results = (score(example, reading) for reading in readings(rule, example, completion))
            result = next((other for other in results if other["reward"]), result)
        result["details"]["scorer"]["name"] += f" without {rule}"
        return result

    return rubric


def readings(rule: str, example: dict[str, Any], completion: str) -> Iterator[str]:
    """The texts that this completion would be taken for if the rule were not there."""
    text = completion[:_LONGEST].strip(TRIMMED)
    if rule in TEXT_RULES:
        yield from TEXT_RULES[rule](text)
    elif text.startswith(PREFIX):
        if rule in REST_RULES:
            yield from (PREFIX + reading for reading in REST_RULES[rule](text.removeprefix(PREFIX)))
        elif rule == VALUE and FORMAT.fullmatch(text):
            yield f"{PREFIX}{example['expected_answer']}"


def unseen_in(text: str) -> str:
    """The characters of a text that are white space or cannot be seen."""
    return "".join(char for char in set(text) if char == " " or hides(char))


_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_INTEGER_OF_WORD = {word: str(number) for number, word in enumerate(_NUMBER_WORDS)}
_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
