"""Machinery: a student's functions, held against exact values; a known mistake is called by its name.

Covered
    An answer for every input is needed, and the inputs are drawn from a seed that the student's code does not know.
    A choice that is no sample, or depends on the order in which the same samples come.
Not covered
    Whose code it is: ``exercises/pick_best.py`` may be read and copied. Two mistakes at once have no name here.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from statistics import mean
from typing import Any

from check.oracles import FUNCTIONS, Quantity
from check.report import Checked
from course import picking
from course.child import Child, Raised, Stopped
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import Example, SampleGroup
from course.errors import UserError
from course.score import measure
from course.text import quote

NOT_STARTED, RIGHT = "not started", "right"
_INPUTS = 40  # besides the example
_TOLERANCE = 1e-9  # relative, absolute below 1
_CALL_SECONDS = 5.0  # for all inputs of a function
_LARGEST = 1e300  # an int beyond it fits no float
_OVERFLOW = "It looks like exp() of a logit near 1,000, more than a float holds: take the largest logit off all first."


def check_functions(file: str, seed: int = 0) -> Checked:
    """Each function of ``exercises/FILE.py`` on its example and on inputs of this seed."""
    path = own_file(file)
    with Child(path, isolated=True) as child:
        found = {
            name: _judged(child, path, name, quantity, seed)
            for name, quantity in FUNCTIONS.items()
            if quantity.file == file
        }
    states = [first for first, *_ in found.values()]
    different = set(states)
    if different == {NOT_STARTED}:
        return Checked(NOT_STARTED)
    if different == {RIGHT}:
        state = "done"
    elif different - {RIGHT, NOT_STARTED}:
        state = "wrong"
    else:
        state = "started"
    lines = [line for name, (first, *more) in found.items() for line in (f"{name}: {first}", *more)]
    return Checked(state, f"{states.count(RIGHT)} of {len(states)} right", lines)


def check_my_pick_best(seed: int = 0) -> Checked:
    """The student's rule of Loop B; what it gets on the shipped samples, beside the ceiling and a random choice."""
    path = own_file("my_pick_best")
    if re.search(r"(?m)^[^#\n]*course_rule\(", path.read_text(encoding="utf-8", errors="replace")):  # no comment
        return Checked(NOT_STARTED)
    answers = {
        one.id: one.expected_answer for one in read_records(LAB / "data" / "datasets" / "math_dev.jsonl", Example)
    }
    pack = read_records(LAB / "data" / "rollouts" / "selection_pack_dev.jsonl", SampleGroup)
    shipped = [
        [(i, text, measure(answers[one.id], text).reward) for i, text in enumerate(one.samples[:4])] for one in pack
    ]
    with Child(Path(picking.__file__)) as child:
        first, *more = _judged(child, path, "pick_best", FUNCTIONS["pick_best"], seed)
        trouble, chosen = called(child, path, "choose_from_file", [(str(path), group) for group in shipped])
    if trouble:
        return Checked("wrong", trouble, [trouble])
    got = sum(group[at][2] for group, at in zip(shipped, chosen, strict=True) if at in range(len(group)))
    ceiling = sum(max(reward for *_, reward in group) for group in shipped)
    chance = sum(mean(reward for *_, reward in group) for group in shipped)
    short = f"{got:g} of {len(shipped)} with n = 4; ceiling {ceiling:g}, a random choice {chance:.1f}"
    return Checked("done", short) if first == RIGHT else Checked("wrong", short, [first, *more])


def own_file(name: str) -> Path:
    """A student's file. Raises UserError where there is none."""
    path = Path("exercises") / f"{name}.py"
    if not path.is_file():
        raise UserError(f"{path}: expected your functions, got no such file; run from the lab's folder")
    return path


def called(child: Child, path: Path, name: str, inputs: Sequence[Sequence[Any]]) -> tuple[str, list[Any]]:
    """What a student's function returns for each input, and one line on what came in the way, or nothing."""
    try:
        values = child.call(name, [tuple(one) for one in inputs], _CALL_SECONDS)
    except Stopped as stopped:
        return f"expected an answer, got {stopped}", []
    raised = [value for value in values if isinstance(value, Raised)]
    if len(raised) == len(values) and {one.kind for one in raised} == {"NotImplementedError"}:
        return NOT_STARTED, []
    for kind, text, line in raised:
        if kind == "KeyError" and line is None:
            return f"expected def {name}(...) in {path}, got none", []
        if kind == "UserError":
            return text, []
        return f"expected an answer, got an exception at {path}:{line or 1}: {kind}: {text}", values
    return "", values


def _judged(child: Child, path: Path, name: str, quantity: Quantity, seed: int) -> list[str]:
    """Right, not started; or one input with what was expected and what came, and the mistake's name."""
    inputs = quantity.inputs(f"{seed} {name}", _INPUTS)
    if name == "pick_best":  # picking turns the lists into samples
        trouble, values = called(child, path, "choose_from_file", [(str(path), *one) for one in inputs])
    else:
        trouble, values = called(child, path, name, inputs)
    if not values:
        return [trouble]
    expected = [quantity.value(quantity.right, one) for one in inputs]
    wrong = [i for i, value in enumerate(values) if not close(value, expected[i])]
    if not wrong:
        return [RIGHT]
    at = next((i for i in wrong if not isinstance(values[i], Raised)), wrong[0])
    if not isinstance(values[at], Raised):
        trouble = f"expected {_in_short(expected[at])}, got {_in_short(values[at])}"
    large = [i for i, one in enumerate(inputs) if re.search(r"[0-9]{3}\.", repr(one))]  # logits alone are so large
    named = [_OVERFLOW] if wrong == large else _named_mistake(quantity, inputs, values)
    return [f"{trouble} for {name}({', '.join(map(repr, inputs[at]))})", *named]


def _named_mistake(quantity: Quantity, inputs: Sequence[Any], values: Sequence[Any]) -> list[str]:
    """A sentence, if all that was answered is what a known mistake makes of these inputs."""
    for sentence, expression in quantity.mistakes.items():
        pairs = [(value, quantity.value(expression, one)) for one, value in zip(inputs, values, strict=True)]
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


def _in_short(value: Any, depth: int = 2) -> str:
    if isinstance(value, list):
        within = [_in_short(each, depth - 1) for each in value[:6]] if depth else []
        return f"[{', '.join(within)}{', …' if value[len(within) :] else ''}]"
    return f"{value:.10g}" if type(value) in (int, float) and abs(value) <= _LARGEST else quote(repr(value))
