"""Machinery: the texts on which a verifier is tried, shortest first. The first that it judges wrongly is its witness.

Covered
    Edits of the right line, one at a time: white space and invisible characters at every place, digits of other
    scripts, signs, zeros, case, words around it, several answers, other notations, other values, length.
    And every string of a few symbols, of which the form's two ends and the right answer are one each. ``placements``:
    values and parts of the right one in the form, before it, after it, twice, and without it.
Not covered
    Two edits at once, where the few symbols do not reach them. A verifier that survives may still be wrong.
"""

from collections.abc import Iterator
from itertools import product

from course.rubrics.forms import FINAL, Form

_UNSEEN = " \t\r\n\v\f\x00\x1c\x85\xa0\u2003\u2028\u3000\u200b\ufeff"
_OTHER_ZEROS = "\u0660\u0966\u0e50\uff10\U0001d7ce\u2080"  # Arabic, Devanagari, Thai, fullwidth, bold, subscript
_OTHER_SIGNS = ("-", "+", "--", "+-", "-+", "\u2212", "\u2013", "\uff0d", "\uff0b")
_BEFORE = ("Answer: ", "The answer is ", "So, ", "**", "#### ", "> ", "1\n", "x")
_BEHIND = (*".!?%,07\\_", "**", " apples", " (sure)", "\nDone.", "\nFinal: 1", "\n\n")
_LENGTHS = (1_000, 10_000, 100_000)
_MOST_SYMBOLS = 5


def candidates(gold: int, form: Form = FINAL, most_symbols: int = _MOST_SYMBOLS) -> Iterator[str]:
    """Texts on which verifiers were seen to differ where ``gold`` is the right answer; each once, shortest first.

    The order is the same every time. Among them are right lines, too: a verifier can be wrong about those.
    """
    ends = [end for end in (form.before, form.after) if end]
    symbols = (*ends, str(gold), " ", "\n", "-", "0", ".", "a")
    strings = {"".join(some) for length in range(most_symbols + 1) for some in product(symbols, repeat=length)}
    yield from sorted(strings | set(edits(gold, form)), key=by_length)


def by_length(text: str) -> tuple[int, str]:
    return len(text), text


def placements(gold: int, form: Form = FINAL) -> Iterator[str]:
    """The right answer, its parts and other values: in the form, before it, after it, twice, and without it."""
    digits = str(gold)
    parts = [(digits[:at], digits[at:]) for at in range(1, len(digits))]
    values = (gold, gold + 1, gold - 1, 0, 1)
    pairs = [(str(first), str(second)) for first in values for second in values if gold in (first, second)]
    yield from map(form.line, (f"{gold}/7", f"{2 * gold}/{gold}", f"{gold}e5", f"{gold} {gold}/3"))
    yield from (str(-gold), f".{abs(gold)}", f"0 {gold}")
    yield from map(form.line, (f"not {gold}", f"- {gold}", f">={gold}"))
    for first, second in (*parts, *pairs):
        for between in ("", " ", "\n", " or "):
            yield f"{form.line(first)}{between}{second}"
            yield f"{first}{between}{form.line(second)}"
            yield f"{form.line(first)}{between}{form.line(second)}"
            yield form.line(f"{first}{between}{second}")


def edits(gold: int, form: Form = FINAL) -> Iterator[str]:
    """One change of the right line each."""
    digits, line = str(gold), form.line(gold)
    places = range(len(line) + 1)
    yield from (line[:at] + char + line[at:] for at in places for char in _UNSEEN)
    yield from (line[:at] + line[at + 1 :] for at in places)
    yield from (line[:at] + line[at:].swapcase() for at in places)
    yield from (line[:at] + line[at : at + 1].swapcase() + line[at + 1 :] for at in places)
    yield from (line.replace(" ", char) for char in _UNSEEN)
    yield from (before + line for before in _BEFORE)
    yield from (line + behind for behind in _BEHIND)
    for left, right in ("**", "``", '""', "()", "[]", "$$", "{}"):
        yield from (f"{left}{line}{right}", form.line(left + digits + right))
    for before in ("", "Answer: ", "Final answer: ", "Final = ", "Final - ", "FINAL: ", "final: ", "\nFinal: \n"):
        yield before + digits
    yield from map(form.line, (*_spellings(gold), *_other_values(gold), *_several(gold, form)))
    for length in _LENGTHS:
        spaces = " " * length
        yield line + spaces + "x"
        yield line + spaces
        yield spaces + line
        yield line + "\n" * length
        yield line + "x" * length
        yield form.line("0" * length + digits)
        yield form.line("9" * length)
        yield form.line(spaces + digits)
        line_count = length // 10
        yield f"{line} " * line_count
        word_count = length // 2
        yield digits + " a" * word_count
        yield "a" * length


def _spellings(gold: int) -> Iterator[str]:
    """The right value, otherwise written than the spec allows."""
    size = str(abs(gold))
    minus = "-" if gold < 0 else ""
    for zero in _OTHER_ZEROS:
        table = {ord("0") + value: ord(zero) + value for value in range(10)}
        yield str(gold).translate(table)
        yield str(gold)[:-1] + str(gold)[-1].translate(table)
    yield from (sign + size for sign in _OTHER_SIGNS)
    yield from (f"{minus}{zeros}{size}" for zeros in ("0", "00", " ", "0x"))
    yield from (f"{gold}{end}" for end in (".0", ".00", "e0", "E0", ".", "/1", "0e-1", "j", "L"))
    yield from (f"{gold:,}", f"{gold:_}", f"{minus}{size[0]}_{size[1:]}", f"{minus}{size[0]},{size[1:]}", hex(gold))
    yield from (f"{gold - 1}+1", f"{gold - 1} + 1", f"{gold}*1", f"{gold * 2}/2", f"0+{gold}", f"{gold}-0", f"--{gold}")


def _other_values(gold: int) -> Iterator[str]:
    """Values that are near the right one, or look like it."""
    near = (-gold, gold + 1, gold - 1, gold + 2, gold - 2, gold + 10, gold + 100, gold * 10, gold * 100, gold + 2**32)
    yield from map(str, (*near, 0, 1, -1, 2, 7, 42, 10**20))
    size = str(abs(gold))
    yield from (size[::-1], size[1:], size[:-1], f"7{gold}", f"1{size}", f"{size}{size}", "nan", "inf", "None", "True")
    yield from (f"{gold}.{part}" for part in ("4", "5", "49", "001", "9"))
    yield from (f"{gold}e1", "-0", "00", "+0", "?", "*", "[0-9]+", "unknown")


def _several(gold: int, form: Form) -> Iterator[str]:
    """Several answers, the right one first, in the middle or last."""
    again = (f"{form.after} {form.before}", f"{form.after}\n{form.before}")
    for between in (" ", ", ", ",", "; ", "/", " or ", *again, "\n"):
        yield from (f"{gold}{between}{gold + 1}", f"{gold + 1}{between}{gold}", f"{gold}{between}{gold}")
        yield f"{gold - 1}{between}{gold}{between}{gold + 1}"
