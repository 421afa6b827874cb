"""How a verifier is called, as the names of its parameters say. The arguments are a Python expression.

It may use these names, which are bound again for each text::

    example     {"id": …, "prompt": …, "expected_answer": 323}
    completion  the text; messages: the same as a chat, [{"role": "assistant", "content": text}]
    prompt      the prompt as text
    answer      the expected answer as text, "323"

So ``--call "completion, int(answer)"`` calls ``verify(completion, int(answer))``.

Names decide, and not their order: ``verify(answer, completion)`` gets the answer first. A single unknown name gets the
value that the known names leave out. If no name is known, the call is ``verify(example, completion)``. In these two
cases the call is a guess.
"""

from collections.abc import Sequence
from inspect import Parameter
from typing import Any, NamedTuple

from course.datasets.records import Task

_COMPLETIONS = "completion completions response output solution_str text prediction model_output generation"
_ANSWERS = "answer solution ground_truth target gt reference label gold expected expected_answer"
_VALUES = (  # name of a parameter -> what it is given
    dict.fromkeys(_COMPLETIONS.split(), "completion")
    | dict.fromkeys(_ANSWERS.split(), "answer")
    | {"prompt": "prompt", "prompts": "prompt", "example": "example"}
)
_EMPTY_VALUES = {"data_source": "''", "extra_info": "{}"}  # verl's, where they are required
SHAPES = (
    "verify(example, completion), verify(completion, answer), TRL's verify(completions, answer, **kwargs), "
    "verl's verify(data_source, solution_str, ground_truth, extra_info), "
    "or --call with its arguments, such as --call 'completion, int(answer)'"
)
NAMES = "example, completion, messages, prompt and answer"


class Arguments(NamedTuple):
    """``chat``: the same with messages for the text, where that is usual. ``is_guess``: a name was not known."""

    expression: str
    chat: str | None
    is_guess: bool


def bindings_of(example: Task, completion: str) -> dict[str, Any]:
    """The values of the names that arguments may use, none of them shared with the caller."""
    return {
        "example": {**example},
        "completion": completion,
        "messages": [{"role": "assistant", "content": completion}],
        "prompt": example["prompt"],
        "answer": str(example["expected_answer"]),
    }


def find_arguments(parameters: Sequence[Parameter]) -> Arguments | None:
    """The arguments that these parameters ask for; None if they do not say how to call the function."""
    variadic = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    required = [p.name for p in parameters if p.default is p.empty and p.kind not in variadic]
    values = {name: value for name, value in (_VALUES | _EMPTY_VALUES).items() if name in required}
    for parameter in parameters:  # one that may be left out is given what is missing
        value = _VALUES.get(parameter.name)
        if value and value not in values.values() and not (value in ("answer", "example") and _has_answer(values)):
            values[parameter.name] = value
    unknown = [name for name in required if name not in values]
    positional = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_two = len(positional) >= 2 or any(p.kind == p.VAR_POSITIONAL for p in parameters)
    if takes_two and len(required) <= 2 and (not values or len(unknown) == 2):
        return Arguments("example, completion", None, is_guess=True)
    if len(unknown) == 1:
        values |= _guess_value(unknown[0], values, [p.name for p in parameters])
    elif not unknown and not _has_answer(values) and any(p.kind == p.VAR_KEYWORD for p in parameters):
        values |= dict.fromkeys(_ANSWERS.split(), "answer")
    if "completion" not in values.values() or not _has_answer(values) or any(name not in values for name in unknown):
        return None
    chat = None
    if "example" not in values.values():
        messages = {name: "messages" if value == "completion" else value for name, value in values.items()}
        chat = _write_arguments(messages, positional)
    return Arguments(_write_arguments(values, positional), chat, bool(unknown) or "data_source" in values)


def _guess_value(name: str, values: dict[str, str], names: Sequence[str]) -> dict[str, str]:
    """The value for the one required parameter of an unknown name, if the known names leave out exactly one value."""
    if "completion" not in values.values():
        return {name: "completion"}
    if _has_answer(values):
        return {}
    place_of_completion = min(names.index(known) for known, value in values.items() if value == "completion")
    return {name: "example" if names.index(name) < place_of_completion else "answer"}


def _has_answer(values: dict[str, str]) -> bool:
    return not {"answer", "example"}.isdisjoint(values.values())


def _write_arguments(values: dict[str, str], positional: Sequence[str]) -> str:
    """By position up to the first parameter without a value, then by name.

    A function with a parameter ``completions`` is TRL's: each value becomes a list of one item.
    """
    if "completions" in values:
        values = {name: f"[{value}]" for name, value in values.items()}
    arguments = []
    for name in positional:
        if name not in values:
            break
        arguments.append(values[name])
    arguments += [f"{name}={value}" for name, value in values.items() if name not in positional[: len(arguments)]]
    return ", ".join(arguments)
