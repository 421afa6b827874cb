"""Machinery: how a verifier is called, as the names of its parameters say. A call is a Python expression.

A call may use these names, which are bound again for each text::

    example     {"id": …, "prompt": …, "expected_answer": 323}
    completion  the text; messages: the same as a chat, [{"role": "assistant", "content": text}]
    prompt      the prompt as text
    answer      the expected answer as text, "323"

So ``--call "completion, int(answer)"`` calls ``verify(completion, int(answer))``.

Names decide, and not their order: ``verify(answer, completion)`` gets the answer first. A single unknown name gets the
value that the known names leave out. If no name is known, the call is ``verify(example, completion)``. In these two
cases the call is a guess.
"""

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from course.datasets.records import Task
from course.errors import UserError
from course.text import describe_error, quote

COMPLETIONS = (
    "completion",
    "completions",
    "response",
    "output",
    "solution_str",
    "text",
    "prediction",
    "model_output",
    "generation",
)
ANSWERS = (
    "answer",
    "solution",
    "ground_truth",
    "target",
    "gt",
    "reference",
    "label",
    "gold",
    "expected",
    "expected_answer",
)
PROMPTS = ("prompt", "prompts")
_VALUES = (  # name of a parameter -> what it is given
    dict.fromkeys(COMPLETIONS, "completion")
    | dict.fromkeys(ANSWERS, "answer")
    | dict.fromkeys(PROMPTS, "prompt")
    | {"example": "example"}
)
_EMPTY_VALUES = {"data_source": "''", "extra_info": "{}"}  # verl's, where they are required
SHAPES = (
    "verify(example, completion), verify(completion, answer), TRL's verify(completions, answer, **kwargs), "
    "verl's verify(data_source, solution_str, ground_truth, extra_info), "
    "or --call with its arguments, such as --call 'completion, int(answer)'"
)
_MAY_USE = "example, completion, messages, prompt and answer"


class Parameter(NamedTuple):
    """One parameter of a function, as ``inspect`` has it."""

    name: str
    kind: str  # such as POSITIONAL_OR_KEYWORD
    is_required: bool  # without a default, and neither *args nor **kwargs


class Call(NamedTuple):
    """A call as an expression. ``chat``: the same call with messages in place of the text, where that is usual."""

    expression: str
    chat: str | None
    is_guess: bool  # a name was not known, or the function has verl's ``data_source``


def bindings_of(example: Task, completion: str) -> dict[str, Any]:
    """The values of the names in a call."""
    return {
        "example": example,
        "completion": completion,
        "messages": [{"role": "assistant", "content": completion}],
        "prompt": example["prompt"],
        "answer": str(example["expected_answer"]),
    }


def typed_call(function: str, arguments: str) -> str:
    """The call with the arguments of ``--call``. Raises UserError if these are not arguments."""
    call = f"{function}({arguments})"
    try:
        tree = ast.parse(call, mode="eval").body
    except SyntaxError as error:
        raise refuse_arguments(arguments, error.msg) from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise refuse_arguments(arguments, describe_error(error)) from None
    if not isinstance(tree, ast.Call) or tree.func.end_col_offset != len(function.encode()):
        raise refuse_arguments(arguments, "more than one call")
    return call


def refuse_arguments(arguments: str, why: str) -> UserError:
    expected = f"expected arguments that are expressions of {_MAY_USE}, such as 'completion, int(answer)'"
    return UserError(f"--call: {expected}, got '{quote(arguments)}': {quote(why)}")


def call_of(function: str, parameters: Sequence[Parameter]) -> Call:
    """The call that a function's parameters ask for. Raises UserError if they do not say how to call it.

    >>> call_of("reward", [Parameter(name, "POSITIONAL_OR_KEYWORD", True) for name in ("completions", "solution")])[0]
    'reward([completion], [answer])'
    """
    values = _known_values(parameters)
    unknown = [parameter.name for parameter in parameters if parameter.is_required and parameter.name not in values]
    is_guess = bool(unknown) or "data_source" in values
    if _takes_two(parameters) and (not values or len(unknown) == 2):
        return Call(f"{function}(example, completion)", None, is_guess=True)
    if len(unknown) == 1:
        values |= _guess_value(unknown[0], values, parameters)
    elif not unknown and not _has_answer(values) and _takes_any_name(parameters):
        values |= dict.fromkeys(ANSWERS, "answer")
    has_unknown = any(name not in values for name in unknown)
    if "completion" not in values.values() or not _has_answer(values) or has_unknown:
        names = quote(", ".join(parameter.name for parameter in parameters))
        raise UserError(f"expected one of the shapes {SHAPES}; got {quote(function)}({names})")
    chat = None
    if "example" not in values.values():
        messages = {name: "messages" if value == "completion" else value for name, value in values.items()}
        chat = _write_call(function, messages, parameters)
    return Call(_write_call(function, values, parameters), chat, is_guess)


def _known_values(parameters: Sequence[Parameter]) -> dict[str, str]:
    """Parameter -> its value, for parameters of a known name: all required ones, then others for what is missing."""
    required = [parameter.name for parameter in parameters if parameter.is_required]
    values = {name: value for name, value in (_VALUES | _EMPTY_VALUES).items() if name in required}
    for parameter in parameters:
        value = _VALUES.get(parameter.name)
        is_known = value in values.values() or (value in ("answer", "example") and _has_answer(values))
        if value is not None and not is_known:
            values[parameter.name] = value
    return values


def _guess_value(name: str, values: dict[str, str], parameters: Sequence[Parameter]) -> dict[str, str]:
    """The value for the one parameter of an unknown name, if the known names leave out exactly one value."""
    if "completion" not in values.values():
        return {name: "completion"}
    if _has_answer(values):
        return {}
    names = [parameter.name for parameter in parameters]
    place_of_completion = min(names.index(known) for known, value in values.items() if value == "completion")
    return {name: "example" if names.index(name) < place_of_completion else "answer"}


def _has_answer(values: dict[str, str]) -> bool:
    return not {"answer", "example"}.isdisjoint(values.values())


def _takes_two(parameters: Sequence[Parameter]) -> bool:
    positional = [parameter for parameter in parameters if parameter.kind.startswith("POSITIONAL")]
    required = [parameter for parameter in parameters if parameter.is_required]
    takes_any = any(parameter.kind == "VAR_POSITIONAL" for parameter in parameters)
    return len(required) <= 2 and (len(positional) >= 2 or takes_any)


def _takes_any_name(parameters: Sequence[Parameter]) -> bool:
    return any(parameter.kind == "VAR_KEYWORD" for parameter in parameters)


def _write_call(function: str, values: dict[str, str], parameters: Sequence[Parameter]) -> str:
    """The call as text. Values are passed by position up to the first parameter without a value, then by name.

    A function with a parameter ``completions`` is TRL's: each value becomes a list of one item.
    """
    if "completions" in values:
        values = {name: f"[{value}]" for name, value in values.items()}
    by_place: list[str] = []
    for parameter in parameters:
        if parameter.name not in values or not parameter.kind.startswith("POSITIONAL"):
            break
        by_place.append(parameter.name)
    arguments = [values[name] for name in by_place]
    arguments += [f"{name}={value}" for name, value in values.items() if name not in by_place]
    return f"{function}({', '.join(arguments)})"
