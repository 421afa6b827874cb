"""Machinery: a student's functions of numbers, held against exact values; a known mistake is called by its name.

Covered
    An answer for every input is needed, and the inputs are drawn from a seed that the student's code does not know.
Not covered
    Whose code it is. Two mistakes at once have no name here; the first input that tells is shown.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from course.errors import UserError
from course.exercises.child import Child, Raised, Stopped
from course.exercises.oracles import QUANTITIES, Quantity, mistaken, mistakes_of
from course.reports.check import Checked
from course.starting import PYTHON
from course.text import quoted

NOT_STARTED = "not started"
RIGHT = "right"
_DRAWN = 24  # inputs besides the example
_TOLERANCE = 1e-9  # relative, absolute below 1
_LARGEST = 1e300  # an int beyond it fits no float


def check_functions(name: str, seed: int = 0) -> Checked:
    """Each function of ``exercises/NAME.py`` on its example and on inputs drawn from this seed."""
    path = own_file(name)
    with Child(path, sealed=True) as child:
        found = {quantity.oracle.__name__: _judged(child, path, quantity, seed) for quantity in QUANTITIES[name]}
    states = [first for first, *_ in found.values()]
    if {*states} == {NOT_STARTED}:
        return Checked(NOT_STARTED)
    state = "done" if {*states} == {RIGHT} else "wrong" if {*states} - {RIGHT, NOT_STARTED} else "started"
    lines = [line for function, (first, *more) in found.items() for line in (f"{function}: {first}", *more)]
    return Checked(state, f"{states.count(RIGHT)} of {len(states)} right", lines)


def own_file(name: str) -> Path:
    """A student's file. Raises UserError where there is none."""
    path = Path("exercises") / f"{name}.py"
    if not path.is_file():
        raise UserError(f"{path}: expected your functions, got no such file; run from the lab's folder")
    return path


def called(child: Child, path: Path, function: str, inputs: Sequence[tuple[Any, ...]]) -> tuple[str, list[Any]]:
    """What a student's function returns for each input, and one line on what came in the way, or nothing."""
    try:
        values = child.call(function, inputs)
    except Stopped as stopped:
        return f"expected an answer, got {stopped}", []
    raised = [value for value in values if isinstance(value, Raised)]
    if len(raised) == len(values) and {one.kind for one in raised} == {"NotImplementedError"}:
        return NOT_STARTED, values
    for kind, text, line in raised:
        if kind == "KeyError" and line is None:
            return f"expected def {function}(...) in {path}, got none", []
        return f"expected an answer, got an exception at {path}:{line or 1}: {kind}: {text}", values
    return "", values


def _judged(child: Child, path: Path, quantity: Quantity, seed: int) -> list[str]:
    """Right, not started; or what is wrong, the mistake's name, and how to look at one input in the debugger."""
    oracle, example, draw = quantity
    function = oracle.__name__
    inputs = [example, *(draw(Random(f"{seed} {function} {i}")) for i in range(_DRAWN))]
    trouble, values = called(child, path, function, inputs)
    expected = [oracle(*arguments) for arguments in inputs]
    wrong = [i for i, value in enumerate(values) if not close(value, expected[i])]
    if trouble == NOT_STARTED or not (wrong or trouble):
        return [trouble or RIGHT]
    if not values:
        return [trouble]
    named = named_mistake(oracle, inputs, values)
    at = next((i for i in wrong if not isinstance(values[i], Raised)), wrong[0])
    arguments = ", ".join(map(repr, inputs[at]))
    if not isinstance(values[at], Raised):
        trouble = f"expected {_shown(expected[at])}, got {_shown(values[at])} for {function}({arguments})"
    debug = f"import pdb; from exercises.{path.stem} import {function}; pdb.runcall({function}, {arguments})"
    return [trouble, *named, f'step through it: {PYTHON} -c "{debug}"']


def named_mistake(oracle: Callable[..., Any], inputs: Sequence[tuple[Any, ...]], values: Sequence[Any]) -> list[str]:
    """A sentence, if all that was answered is what a known mistake makes of these inputs."""
    for sentence, expression in mistakes_of(oracle.__name__).items():
        pairs = [(value, mistaken(expression, oracle, one)) for one, value in zip(inputs, values, strict=True)]
        both = [close(value, made) for value, made in pairs if made is not None and not isinstance(value, Raised)]
        if both and all(both):
            return [f"It looks like {sentence}."]
    return []


def close(value: Any, expected: Any) -> bool:
    """Whether two answers are one number, or lists of the same shape with the same numbers."""
    if isinstance(expected, list):
        alike = isinstance(value, list) and len(value) == len(expected)
        return alike and all(map(close, value, expected))
    if type(value) not in (int, float) or abs(value) > _LARGEST:
        return False
    return bool(abs(value - expected) <= _TOLERANCE * max(1.0, abs(expected)))


def _shown(value: Any, depth: int = 2) -> str:
    if isinstance(value, list):
        within = [_shown(each, depth - 1) for each in value[:6]] if depth else []
        return f"[{', '.join(within)}{', …' if value[len(within) :] else ''}]"
    return f"{value:.10g}" if type(value) in (int, float) and abs(value) <= _LARGEST else quoted(repr(value))
