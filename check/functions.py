"""Machinery: a student's functions, held against exact values; a known mistake is called by its name.

Two mistakes at once have no name here.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

from check.oracles import FUNCTIONS, Quantity
from check.result import NOT_STARTED, CannotCheck, CheckResult
from course.errors import UserError
from course.guest import Call, Guest, GuestError, OwnPick, as_plain
from course.picking import Sample
from course.text import quote

RIGHT = "right"
_INPUTS = 40  # besides the example
_TOLERANCE = 1e-9  # relative, absolute below 1
_LARGEST = 1e300  # an int beyond it fits no float
_OVERFLOW = "It looks like exp() of a logit near 1,000, more than a float holds: take the largest logit off all first."


def check_functions(path: Path, seed: int = 0) -> CheckResult:
    """Each function of ``data/exercises/functions.toml`` that the file has, on its example and on inputs of this seed.

    ``path``: reinforce.py or pick_best.py, wherever it lies. Raises CannotCheck where there is no such file.
    """
    refuse_missing(path)
    states = []
    lines = []
    for name, quantity in FUNCTIONS.items():
        if quantity.file == path.stem:
            state, *more = judge_function(path, name, quantity, seed)
            states.append(state)
            if state != RIGHT:
                lines += [f"{name}: {state}", *more]
    different = set(states)
    if different == {NOT_STARTED}:
        return CheckResult(NOT_STARTED)
    if different == {RIGHT}:
        overall = "done"
    elif different <= {RIGHT, NOT_STARTED}:
        overall = "started"
    else:
        overall = "wrong"
    return CheckResult(overall, f"{states.count(RIGHT)} of {len(states)} right", lines)


def refuse_missing(path: Path) -> None:
    if not path.is_file():
        raise CannotCheck(f"{path}: expected your functions, got no such file; run from the lab's folder")


def call_function(path: Path, name: str, inputs: Sequence[Sequence[Any]]) -> tuple[str, list[Any]]:
    """What came in the way, in one line, or nothing; and what a student's function returns for each input.

    For an input that it did not answer that is a GuestError.
    """
    try:
        values = answer_each(f"{path}:{name}", name, inputs)
    except UserError as error:
        return str(error), []
    raised = [value for value in values if isinstance(value, GuestError)]
    if len(raised) == len(values) and {error.kind for error in raised} == {"NotImplementedError"}:
        return NOT_STARTED, []
    if any(error.kind == "" for error in raised):  # what is no sample is no choice
        return str(next(error for error in raised if error.kind == "")), []
    return str(raised[0]) if raised else "", values


def answer_each(place: str, name: str, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    pick = OwnPick(place) if name == "pick_best" else None
    guest = Guest(place, "*arguments")
    values: list[Any] = []
    for arguments in inputs:
        shown = f"{name}({quote(', '.join(map(repr, arguments)))})"
        try:
            if pick:
                values.append(pick([Sample(*sample) for sample in arguments[0]], shown))
            else:
                values.append(guest.ask(Call(partial(copy_arguments, arguments), as_plain, partial(str, shown))))
        except GuestError as error:
            values.append(error)
    return values


def copy_arguments(arguments: Sequence[Any]) -> dict[str, Any]:
    return {"arguments": deepcopy(arguments)}


def judge_function(path: Path, name: str, quantity: Quantity, seed: int) -> list[str]:
    """Right, not started; or one input with what was expected and what came, and the mistake's name."""
    inputs = quantity.inputs(f"{seed} {name}", _INPUTS)
    trouble, values = call_function(path, name, inputs)
    if not values:
        return [trouble]
    expected = [quantity.value(quantity.right, arguments) for arguments in inputs]
    wrong = [i for i, value in enumerate(values) if not is_close(value, expected[i])]
    if not wrong:
        return [RIGHT]
    answered = [i for i in wrong if not isinstance(values[i], GuestError)]
    lines = [trouble]
    if answered:
        shown = answered[0]
        call = f"{name}({', '.join(map(repr, inputs[shown]))})"
        lines = [f"expected {shorten(expected[shown])}, got {shorten(values[shown])} for {call}"]
    large = [i for i, arguments in enumerate(inputs) if re.search(r"[0-9]{3}\.", repr(arguments))]  # only logits are
    mistake = _OVERFLOW if wrong == large else name_mistake(quantity, inputs, values)
    if mistake:
        lines.append(mistake)
    return lines


def name_mistake(quantity: Quantity, inputs: Sequence[Any], values: Sequence[Any]) -> str:
    """A sentence, if all that was answered is what a known mistake makes of these inputs; else nothing."""
    for sentence, expression in quantity.mistakes.items():
        matches = []
        for arguments, value in zip(inputs, values, strict=True):
            mistaken = quantity.value(expression, arguments)
            if mistaken is not None and not isinstance(value, GuestError):
                matches.append(is_close(value, mistaken))
        if matches and all(matches):
            return f"It looks like {sentence}."
    return ""


def is_close(value: Any, expected: Any) -> bool:
    """Whether two answers are one number, or lists of the same shape with the same numbers."""
    if isinstance(expected, list):
        if not isinstance(value, list | tuple) or len(value) != len(expected):
            return False
        return all(map(is_close, value, expected))
    if not is_number(value):
        return False
    return bool(abs(value - expected) <= _TOLERANCE * max(1.0, abs(expected)))


def is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _LARGEST


def shorten(value: Any, depth: int = 2) -> str:
    """A value as a sentence shows it: ten digits, six items of a list, lists within lists to this depth."""
    if is_number(value):
        return f"{value:.10g}"
    if not isinstance(value, list):
        return quote(repr(value))
    shown = value[:6] if depth else []
    items = [shorten(item, depth - 1) for item in shown]
    if len(shown) < len(value):
        items.append("…")
    return f"[{', '.join(items)}]"
