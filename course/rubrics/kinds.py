"""Machinery: what a text says, as a person would sort it: the right line, another form, several answers, a wrong value.

The one sorting of the project. It knows the right answer and the form in which it was asked for, and no verifier.
**Right** is exactly the form with the plain integer; white space around it changes nothing. **Other form** is the right
value and no other, written otherwise: spelled, wrapped, in a sentence, after some working, as a sum that has still to
be worked out. **Several** offers the right value among others, or a bound. **Wrong** is the rest, a text without any
answer included. A text of the last two kinds that is paid is an **exploit**.

How a text is read: what stands in the form is an answer, and what stands before it is working. Where nothing does, the
answer stands after "the answer is", or in lines of nothing but numbers, else the last number counts. A calculation
states its result.

Covered
    Digits of any script, signs, zeros, separators, decimals, exponents, fractions, percent, units, other bases, Roman
    numerals and a few words; markup; arithmetic, square roots and some of it in words; alternatives, bounds, denials.
Not covered
    Language: a sentence that takes back what it said (``22? No, 23``), and numbers in words above twenty. ``1.024`` is
    read as it is in English, ``22!`` as a sentence, ``=> 22`` as an arrow, and ``about 22`` as 22. Of a text of more
    than 200,000 characters only the first and the last 100,000 are read, and to sort such a text can take two seconds.
"""

import ast
import operator
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from enum import StrEnum
from fractions import Fraction
from functools import cache
from math import isqrt
from typing import NamedTuple

from course.rubrics.forms import FINAL, Form
from course.score import TRIMMED
from course.text import hides


class Kind(StrEnum):
    RIGHT = "right"
    OTHER_FORM = "other_form"
    SEVERAL = "several"
    WRONG = "wrong"


_READ_AT_EACH_END = 100_000  # characters of a text: to sort them takes two seconds at most
EXPLOITS = frozenset({Kind.SEVERAL, Kind.WRONG})  # what no verifier should pay


def kind_of(expected_answer: int, completion: str, form: Form = FINAL) -> Kind:
    """What a completion says, where ``expected_answer`` is right and ``form`` was asked for."""
    if completion.strip(TRIMMED) == form.line(expected_answer).strip(TRIMMED):
        return Kind.RIGHT
    offered = find_answers(expected_answer, shorten(completion), form)
    if offered == {expected_answer}:
        return Kind.OTHER_FORM
    return Kind.SEVERAL if expected_answer in offered else Kind.WRONG


def shorten(completion: str) -> str:
    """Both ends of a text that is too long to be read whole."""
    if len(completion) <= 2 * _READ_AT_EACH_END:
        return completion
    return f"{completion[:_READ_AT_EACH_END]}\n{completion[-_READ_AT_EACH_END:]}"


# --- where a text has its answers

_CUE = re.compile(
    r"\b(?:answer|result|solution)\b[ \t]*(?:is|=|:|be)[ \t]*([^\n]*?)(?=\n|\Z|the answer)",
    re.IGNORECASE,
)
_JOINING = "a also and answer but either final is it its maybe not or perhaps possibly so the then"
_LINKS = frozenset(_JOINING.split())
_CHOICES = frozenset(["or", "alternatively", "otherwise", "versus", "vs", "if", "else"])
_MOST_BETWEEN = 6  # words between two numbers of a choice
_WORD = re.compile(r"[^\W\d_]+")
_ITEM = re.compile(r"[-+*>][ \t]+(.*)")  # of Markdown: the item of a list, or a quotation
_SENTENCE_END = re.compile(r"[.!?]\s|\n")


def find_answers(expected_answer: int, completion: str, form: Form) -> set[Fraction]:
    """The values that a text offers as its answer. ``expected_answer``: the text may spell it with blanks, ``3 23``."""
    text = plain(completion)
    if form.marker is not None:
        parts = [*_cut(form.marker, text)]
        slots = [part for part, is_slot in parts if is_slot]
        answers = [value for part in slots for value in _in_slot(part, expected_answer)]
        if not form.after and slots:  # an answer ends with its line, and more lines may follow
            answers += _in_lines(parts[-1][0], expected_answer)
        if answers:
            return set(answers)
    parts = [*_cut(_CUE, text)]
    answers = []
    for part, is_slot in parts:
        answers += _in_slot(part, expected_answer) if is_slot else _in_lines(part, expected_answer)
    return set(answers or _at_the_end(text))


def _cut(marker: "re.Pattern[str]", text: str) -> Iterator[tuple[str, bool]]:
    """The parts of a text, in order, and whether each stands where an answer does."""
    end = 0
    for match in marker.finditer(text):
        yield text[end : match.start()], False
        yield match[1], True
        end = match.end()
    yield text[end:], False


def _in_slot(part: str, expected_answer: int) -> list[Fraction]:
    """The answers in a part of a text where one is due. In a sentence the first counts, with its alternatives."""
    text = without_markup(part)
    if _may_say(expected_answer, text):
        return [Fraction(expected_answer)]
    numbers = [*find_numbers(text)]
    if not numbers:
        return _in_words(text)
    if not _is_bare(text):
        numbers = next(_alternatives(text, numbers))
    return [value for number in numbers for value in number.values]


def _in_lines(part: str, expected_answer: int) -> list[Fraction]:
    """The answers in lines of nothing but numbers. A calculation with its result is working, and offers none."""
    answers: list[Fraction] = []
    for line in map(without_markup, part.split("\n")):
        if _may_say(expected_answer, line) or (_is_bare(line) and _may_list(expected_answer, line)):
            answers.append(Fraction(expected_answer))
        elif _is_bare(line):
            answers += [value for number in find_numbers(line) if not number.is_working for value in number.values]
    return answers


def _at_the_end(text: str) -> list[Fraction]:
    """The answers at the end of a text that has no place for an answer."""
    text = without_markup(text)
    groups = [*_alternatives(text, [*find_numbers(text)])]
    if not groups:
        return _in_words(text)
    last = groups[-1]
    if all(number.is_working for number in last):
        last = last[-1:]  # "3 + 4 = 7, 7 + 15 = 22"
    return [value for number in last for value in number.values]


def _is_bare(text: str) -> bool:
    """Whether a text has nothing but numbers, signs and joining words."""
    return _LINKS.issuperset(_WORD.findall(_NUMBER.sub(" ", text).lower()))


def _may_say(expected_answer: int, text: str) -> bool:
    """Whether a person can read the text as the right answer: then the text is not called wrong.

    Such texts are the answer's digits with blanks between them or behind the sign (``3 23``, ``- 8``), the answer twice
    with a comma between (``7,7``), and for 0 also ``a-a``.
    """
    text = text.strip()
    answer = str(expected_answer)
    if re.fullmatch(r"-?\s*[0-9]+(?:[ \t]+[0-9]+)*", text) and "".join(text.split()) == answer:
        return True
    if text == f"{answer},{answer}":
        return True
    return expected_answer == 0 and re.fullmatch(r"([a-z])[ \t]*-[ \t]*\1", text, re.IGNORECASE) is not None


def _may_list(expected_answer: int, line: str) -> bool:
    """Whether a line is an item of a list or a quotation, ``- 7`` or ``> 7``, and says the right answer behind that."""
    item = _ITEM.match(line.strip())
    if item is None:
        return False
    return {value for number in find_numbers(item[1]) for value in number.values} == {expected_answer}


def _alternatives(text: str, numbers: "list[Number]") -> Iterator["list[Number]"]:
    """The numbers of a text, in groups of those that only signs and joining words stand between."""
    group: list[Number] = []
    for number in numbers:
        if group and not _joins(text[group[-1].end : number.start]):
            yield group
            group = []
        group.append(number)
    if group:
        yield group


def _joins(between: str) -> bool:
    if _SENTENCE_END.search(between):
        return False
    words = _WORD.findall(between.lower())
    is_choice = len(words) <= _MOST_BETWEEN and not _CHOICES.isdisjoint(words)  # "x = 7 or x = 8", "7 apples or 8"
    return is_choice or _LINKS.issuperset(words)


# --- numbers, and what is worked out of them


class Number(NamedTuple):
    """A number in a text, or what an expression or an equation of numbers comes to."""

    start: int
    end: int
    values: list[Fraction]  # none for what cannot be worked out, several for a bound or a choice of signs
    is_working: bool  # a calculation with its result


_INTEGER = r"[0-9]+(?:[_'][0-9]+)*"
_GROUPED = r"[1-9][0-9]{0,2}(?:,[0-9]{3})+(?![0-9])"
_NUMBER = re.compile(
    rf"(?:0x[0-9a-f]+|0o[0-7]+|0b[01]+|(?:{_GROUPED}(?:\.[0-9]+)?|{_INTEGER}(?:[.,][0-9]+)?|(?<!\.)\.[0-9]+)"
    r"(?:e[+-]?[0-9]{1,3}(?![0-9a-z]))?)",
    re.IGNORECASE,
)
_OPERATOR = r"(?:[ \t]+[-+][ \t]+|[-+][ \t]*|[ \t]*(?:\*\*|[*/^])[ \t]*)"  # in "7 -7" there is none
_SIGNED = rf"\({{0,9}}[-+]{{0,9}}{_NUMBER.pattern}"  # at most nine, or a long row of signs takes quadratic time
_CALCULATION = rf"(?:(?<![\w)])[-+]{{1,9}}[ \t]{{0,9}})?{_SIGNED}(?:\){{0,9}}{_OPERATOR}{_SIGNED})*\){{0,9}}"
_EQUATION = re.compile(rf"{_CALCULATION}(?:[ \t]*=+[ \t]*{_CALCULATION})*", re.IGNORECASE)
_BOUND = re.compile(
    r"(?:(?<![-=\w])[<>]=?|=<|[≤≥≦≧]"
    r"|\b(?:at least|at most|(?:more|less) than|[lg]eq?|up to|over|under|above|below|minimum|maximum))[ \t]*\Z",
    re.IGNORECASE,
)
_BOUND_BEHIND = re.compile(
    r"[ \t]*(?:(?:or|and) (?:more|less|fewer|above|below)|at (?:least|most)|minimum|maximum)\b"
    r"|\+(?![ \t]*[0-9(])|[ \t]*(?:[<>]=?|[≤≥≦≧])[ \t]*[a-z]\b",
    re.IGNORECASE,
)
_DENIAL = re.compile(
    r"(?:\b(?:not|not equal to|never|neither|nor|other than|anything but|unlike)|n't|≠|!=)[ \t]*\Z", re.IGNORECASE
)
_DENIAL_BEHIND = re.compile(r"[ \t]+is (?:wrong|incorrect|not (?:right|correct|the answer))\b", re.IGNORECASE)
_SCALE = re.compile(
    r"[ \t]*(?:(?:hundred|thousand|million|billion|trillion|dozen|k|halves|thirds|tenths|hundredths|thousandths"
    r"|squared|cubed|mod)\b|‰)|(?:[ix]|(?-i:M))\b",
    re.IGNORECASE,
)
_FUNCTION = re.compile(r"\b(?:log|ln|exp|sin|cos|tan|half of|twice|double|triple)[ \t(]*\Z", re.IGNORECASE)
_SIGN_IN_WORDS = re.compile(r"\b(?:minus|negative)[ \t]+(?=[0-9])", re.IGNORECASE)
_DASH = re.compile(r"\A[-+]+[ \t]+")
_IN_FRONT = 14  # characters that are looked at
_MOST_DIGITS = 1_200  # some more than an expected answer has
_LONGEST = 300  # characters of an expression that is worked out, each number counted as two
_BESIDE = Fraction(1, 3)  # added to a value to make one that no integer is, such as for a bound or for "7 thousand"


def find_numbers(text: str) -> Iterator[Number]:
    """The numbers of a text, in order: an expression is one, and so is an equation. Without those that are denied."""
    for match in _EQUATION.finditer(text):
        in_front = text[max(0, match.start() - _IN_FRONT) : match.start()]
        if _DENIAL.search(in_front) or _DENIAL_BEHIND.match(text, match.end()):
            continue
        words = match[0]
        if in_front.strip() and in_front.rstrip()[-1] not in "=:(,":
            words = _DASH.sub("", words, count=1)  # "Answer - 7"
        sides = [side.strip() for side in words.split("=") if side.strip()]
        is_working = len(sides) > 1 and _is_calculation(sides[0])
        if is_working:
            values = values_of(sides[-1])
        else:
            values = values_of(sides[0])
            for side in sides[1:]:
                if not _is_calculation(side):
                    values = values + values_of(side)
        if _SCALE.match(text, match.end()) or _FUNCTION.search(in_front):
            values = [value + _BESIDE for value in values]  # "7 thousand" is not 7
        elif _BOUND.search(in_front) or _BOUND_BEHIND.match(text, match.end()):
            values += [value + _BESIDE for value in values]
        yield Number(match.start(), match.end(), values, is_working)


def _is_calculation(side: str) -> bool:
    return _NUMBER.fullmatch(side.lstrip("-+ \t(").rstrip(")")) is None


def values_of(expression: str) -> list[Fraction]:
    """What an expression comes to: two values for ``8/-8``, a choice of signs; none where it cannot be worked out."""
    numbers = [_value(number) for number in _NUMBER.findall(expression)]
    values = [value for value in numbers if value is not None]
    if len(values) < len(numbers):
        return []
    choice = re.fullmatch(rf"(-?){_NUMBER.pattern}[ \t]*/[ \t]*(-?){_NUMBER.pattern}", expression)
    if choice and choice[1] != choice[2] and values[0] == values[1]:
        return [values[0], -values[0]]
    names = (f"n{place}" for place in range(len(values)))
    symbols = _balance(_NUMBER.sub(lambda _: next(names), expression).replace("^", "**").strip())
    if len(symbols) > _LONGEST:
        return []
    try:
        return [_work_out(ast.parse(symbols, mode="eval").body, values)]
    except ArithmeticError:
        return []  # "7/0"
    except (SyntaxError, ValueError, KeyError):
        return values  # "(42": a bracket alone


def _balance(symbols: str) -> str:
    """Without the brackets at one end that have no partner."""
    surplus = symbols.count(")") - symbols.count("(")
    if surplus > 0 and symbols.endswith(")" * surplus):
        return symbols[:-surplus]
    if surplus < 0 and symbols.startswith("(" * -surplus):
        return symbols[-surplus:]
    return symbols


_OPERATORS: dict[type[ast.AST], Callable[..., Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
}
_MOST_BITS = 8_000  # of a power


def _work_out(node: ast.AST, values: list[Fraction]) -> Fraction:
    """The value of a syntax tree whose names are places in ``values``. Raises ArithmeticError, ValueError, KeyError."""
    match node:
        case ast.Name(id=name):
            return values[int(name.removeprefix("n"))]
        case ast.UnaryOp(op=sign, operand=operand):
            return _OPERATORS[type(sign)](_work_out(operand, values))
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            power = _work_out(right, values)
            base = _work_out(left, values)
            bits = max(base.numerator.bit_length(), base.denominator.bit_length())
            if power == Fraction(1, 2):
                return _square_root(base)
            if power.denominator != 1 or abs(power) * bits > _MOST_BITS:
                raise ValueError
            return base ** int(power)
        case ast.BinOp(left=left, op=sign, right=right):
            return _OPERATORS[type(sign)](_work_out(left, values), _work_out(right, values))
    raise ValueError


def _square_root(square: Fraction) -> Fraction:
    """Raises ArithmeticError where the root is no fraction."""
    if square >= 0:
        root = Fraction(isqrt(square.numerator), isqrt(square.denominator))
        if root**2 == square:
            return root
    raise ArithmeticError


def _value(number: str) -> Fraction | None:
    """One number without a sign; None for one that is far too long to be an expected answer."""
    digits = number.lower().replace("_", "").replace("'", "")
    if digits[:2] in ("0x", "0o", "0b"):
        return Fraction(int(digits, base=0)) if len(digits) < _MOST_DIGITS else None
    if re.match(_GROUPED, digits):
        digits = digits.replace(",", "")
    digits = digits.replace(",", ".").lstrip("0")
    if len(digits) > _MOST_DIGITS:
        return None
    return Fraction(f"0{digits}")


_NUMERALS = (
    "zero one two three four five six seven eight nine ten "
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty"
)
_VALUE_OF_WORD = {word: value for value, word in enumerate(_NUMERALS.split())}
_NUMERAL = "|".join(_VALUE_OF_WORD)
_NUMERAL_BESIDE = re.compile(
    rf"(?<=[0-9] or )(?:{_NUMERAL})\b|\b(?:{_NUMERAL})(?= or -?[0-9])", re.IGNORECASE
)  # "7 or eight"
_MOST_LETTERS = 20  # of a Roman numeral
_ROMAN = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


def _roman_value(numeral: str) -> int:
    """A letter before a larger one is subtracted: XIV is 10 - 1 + 5."""
    total = 0
    largest = 0
    for letter in reversed(numeral):
        value = _ROMAN[letter]
        if value < largest:
            total -= value
        else:
            total += value
            largest = value
    return total


def _in_words(text: str) -> list[Fraction]:
    """A text that is one number without a digit: a word, or a Roman numeral."""
    letters = text.strip(" \t.!")
    if 0 < len(letters) <= _MOST_LETTERS and set(letters) <= set(_ROMAN):
        return [Fraction(_roman_value(letters))]
    words = [word for word in _WORD.findall(text.lower()) if word not in _LINKS]
    sign = 1
    if words and words[0] in ("minus", "negative"):
        sign = -1
        del words[0]
    if len(words) == 1 and words[0] in _VALUE_OF_WORD:
        return [Fraction(sign * _VALUE_OF_WORD[words[0]])]
    return []


# --- characters

_LINE_ENDS = frozenset("\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_OTHER_SIGNS = {ord(char): "-" for char in "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u02d7\u00af"} | {
    ord("×"): "*",
    ord("⋅"): "*",
    ord("·"): "*",
    ord("÷"): "/",
    ord("±"): ">=",
    ord("\u2019"): "'",
}
_POWER = re.compile(r"(?<=[0-9)])(?=[⁻⁺⁰¹²³⁴-⁹])")
_POWER_OF_UNIT = re.compile(r"(?<=[^\W\d_⁰¹²³⁴-⁹₀-₉])[⁻⁰¹²³⁴-⁹₀-₉]+")
_BASE = re.compile(r"(?<=[0-9])(?=[₀-₉])")
_TAG = re.compile(r"</?\w+>")
_FRACTION = re.compile(r"\\[dt]?frac\{([^{}]{1,99})\}\{([^{}]{1,99})\}")
_BEFORE_FRACTION = re.compile(r"(?<=[0-9])(?=\\[dt]?frac\{)")
_TEX_BLANK = re.compile(r"(?<=[0-9])(?:\\[,;: !]|\{,\})(?=[0-9])")
_MARKUP = re.compile(r"\\(?:boxed|text|mathrm|mathbf)\b|\\[()\[\]]|(?<![0-9])\*\*|\*\*(?![0-9])|[`$\\{}\"\[\]]")
_BETWEEN = {  # two numbers: an operation in words or TeX, and its sign
    re.compile(rf"(?<=[0-9)])[ \t]*{words}[ \t]*(?=-?\(?[0-9])", re.IGNORECASE): sign
    for words, sign in (
        (r"\\?(?:times|cdot|multiplied by)", " * "),
        (r"[ \t]x[ \t]", " * "),
        (r"(?:\\div|divided by)", " / "),
        ("plus", " + "),
        ("minus", " - "),
    )
}
_ROOT = re.compile(rf"(?:\\?\bsqrt|√)[ \t]*[({{]?[ \t]*({_NUMBER.pattern})[ \t]*[)}}]?", re.IGNORECASE)
_PRODUCT = re.compile(r"(?<=[0-9)])(?=\(-?[0-9])")
_STEP = re.compile(r"\bstep [0-9]+[ \t]*[:.)]", re.IGNORECASE)
_LIST = re.compile(r"(?<![0-9,])[0-9]+(?:,[0-9]+){2,}")
_MIXED = re.compile(r"(?<![0-9/.,])([0-9]+) ([0-9]+/[0-9]+)(?![0-9/])")


def plain(text: str) -> str:
    """The text in ASCII where it can be: other digits, dashes and blanks for ours, and what is unseen left out."""
    if text.isascii() and text.isprintable():
        return text
    text = _POWER_OF_UNIT.sub("", text.replace("\r\n", "\n"))
    text = _BASE.sub(";", _POWER.sub("^", text))
    return "".join(map(_plain_character, text))


@cache
def _plain_character(char: str) -> str:
    if char in _LINE_ENDS:
        return "\n"
    if char.isspace():
        return " "
    if hides(char):
        return ""
    with suppress(ValueError):
        return str(unicodedata.digit(char))
    if ord(char) in _OTHER_SIGNS:
        return _OTHER_SIGNS[ord(char)]
    return unicodedata.normalize("NFKC", char).translate(_OTHER_SIGNS)


def without_markup(text: str) -> str:
    """Without tags, bold, code and TeX; ``1,2,3`` as a list, ``2 2/3`` as a sum, ``2 times 3`` with its sign."""
    text = _ROOT.sub(r"(\1)^0.5", _STEP.sub(" ", text))
    if "\\" in text or "{,}" in text:
        text = _FRACTION.sub(r"(\1)/(\2)", _BEFORE_FRACTION.sub("+", _TEX_BLANK.sub(",", text)))
    for between, sign in _BETWEEN.items():
        text = between.sub(sign, text)
    text = _PRODUCT.sub("*", text)
    text = _MARKUP.sub(" ", _TAG.sub(" ", text)) if set(text) & set('*`$\\{}"[]<') else text
    text = _SIGN_IN_WORDS.sub("-", text)
    text = _NUMERAL_BESIDE.sub(lambda match: str(_VALUE_OF_WORD[match[0].lower()]), text)
    text = _LIST.sub(lambda match: match[0] if re.fullmatch(_GROUPED, match[0]) else match[0].replace(",", ", "), text)
    return _MIXED.sub(r"(\1+\2)", text)
