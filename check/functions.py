"""Machinery: a student's functions, held against exact values; a known mistake is called by its name.

Two mistakes at once have no name here.
"""

import re
from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from check.oracles import FUNCTIONS, Quantity
from check.result import NOT_STARTED, CheckResult
from course.errors import UserError
from course.guest import Guest, GuestError, OwnPick, as_plain, is_number
from course.picking import Sample
from course.text import clipped

RIGHT = "right"
_TOLERANCE = 1e-9  # relative, absolute below 1
_WIDTH = 200  # of a value that a sentence shows
_OVERFLOW = "It looks like exp() of a logit near 1,000, more than a float holds: take the largest logit off all first."


def check_functions(file: str, path: Path) -> CheckResult:
    """Each function that ``data/exercises/functions.toml`` asks of reinforce or pick_best, on its inputs there.

    ``path``: of the file; a run keeps it under another name. Raises UserError where there is no such file.
    """
    refuse_missing(path)
    found = {}
    for name, quantity in FUNCTIONS.items():
        if quantity.file == file:
            found[name] = judge_function(path, name, quantity)
    right = [*found.values()].count([RIGHT])
    unwritten = [*found.values()].count([NOT_STARTED])
    if unwritten == len(found):
        return CheckResult(NOT_STARTED)
    lines = []
    for name, (first, *more) in found.items():
        if first != RIGHT:
            lines += [f"{name}: {first}", *more]
    state = "wrong"
    if right + unwritten == len(found):
        state = "started" if unwritten else "done"
    return CheckResult(state, f"{right} of {len(found)} right", lines)


def refuse_missing(path: Path) -> None:
    if not path.is_file():
        raise UserError(f"{path}: expected your functions, got no such file; run from the lab's folder")


def call_function(path: Path, name: str, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    """What a student's function returns for each input, or the GuestError that it ended in."""
    guest = OwnPick(f"{path}:{name}") if name == "pick_best" else Guest(f"{path}:{name}", "*inputs")
    values: list[Any] = []
    for arguments in inputs:
        try:
            if isinstance(guest, OwnPick):
                values.append(guest([Sample(*sample) for sample in arguments[0]], ""))
            else:
                values.append(guest.ask(str, as_plain, {"inputs": deepcopy(arguments)}))
        except GuestError as error:
            values.append(error)
    return values


def is_unwritten(values: Sequence[Any]) -> bool:
    return all(isinstance(value, GuestError) and isinstance(value.raised, NotImplementedError) for value in values)


def judge_function(path: Path, name: str, quantity: Quantity) -> list[str]:
    """Right, not started; or one input with what was expected and what came, and the mistake's name."""
    inputs = quantity.inputs
    try:
        values = call_function(path, name, inputs)
    except UserError as error:  # no such function, or a file that does not load
        return [str(error)]
    if is_unwritten(values):
        return [NOT_STARTED]
    expected = [quantity.value(quantity.right, arguments) for arguments in inputs]
    wrong = [i for i, value in enumerate(values) if not is_close(value, expected[i])]
    if not wrong:
        return [RIGHT]
    answered = [i for i in wrong if not isinstance(values[i], GuestError)]
    shown = (answered or wrong)[0]
    said = str(values[shown])
    if answered:
        said = f"expected {rounded(expected[shown])}, got {clipped(repr(rounded(values[shown])), _WIDTH)}"
    lines = [f"{said} for {name}({', '.join(map(repr, inputs[shown]))})"]
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


def rounded(value: Any) -> Any:
    """A value as a sentence shows it, with ten digits."""
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value
