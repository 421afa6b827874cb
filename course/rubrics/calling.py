"""Machinery: how a verifier is called, told from the names of its parameters. A call is an expression of Python.

It may use these names, each bound anew for each text::

    example     {"id": …, "prompt": …, "expected_answer": 323}
    completion  the text; messages: the same as a chat, [{"role": "assistant", "content": text}]
    prompt      the prompt as text
    answer      the expected answer as text, "323"

So ``--call "completion, int(answer)"`` calls ``verify(completion, int(answer))``.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from course.datasets.records import Task
from course.errors import UserError
from course.text import quote

COMPLETIONS = ("completion", "completions", "response", "output")
ANSWERS = ("answer", "solution", "ground_truth", "target")
PROMPTS = ("prompt", "prompts")
SHAPES = (
    "verify(example, completion), verify(completion, answer), TRL's verify(completions, answer, **kwargs), "
    "or --call with its arguments, such as --call 'completion, int(answer)'"
)


class Parameter(NamedTuple):
    """One parameter of a function, as ``inspect`` has it."""

    name: str
    kind: str  # such as POSITIONAL_OR_KEYWORD
    is_required: bool  # it has no default, and is no *args or **kwargs


def bindings_of(example: Task, completion: str) -> dict[str, Any]:
    """What the names in a call stand for."""
    return {
        "example": example,
        "completion": completion,
        "messages": [{"role": "assistant", "content": completion}],
        "prompt": example["prompt"],
        "answer": str(example["expected_answer"]),
    }


def call_of(function: str, parameters: Sequence[Parameter]) -> str:
    """The call that a function's parameters ask for. Raises UserError where they tell none.

    >>> call_of("reward", [Parameter(name, "POSITIONAL_OR_KEYWORD", True) for name in ("completions", "solution")])
    'reward(completions=[completion], solution=[answer])'
    """
    first = next((parameter.name for parameter in parameters if parameter.name not in PROMPTS), "")
    if first in COMPLETIONS:
        arguments = _name_arguments(parameters, is_list=first == "completions")
    else:
        arguments = _two_arguments(parameters)
    if arguments is None:
        names = quote(", ".join(parameter.name for parameter in parameters))
        raise UserError(f"expected one of the shapes {SHAPES}; got {quote(function)}({names})")
    return f"{function}({', '.join(arguments)})"


def _two_arguments(parameters: Sequence[Parameter]) -> list[str] | None:
    """``(example, completion)``, for what takes two arguments."""
    positional = [parameter for parameter in parameters if parameter.kind.startswith("POSITIONAL")]
    takes_any = any(parameter.kind == "VAR_POSITIONAL" for parameter in parameters)
    required = [parameter for parameter in parameters if parameter.is_required]
    if len(required) > 2 or (len(positional) < 2 and not takes_any):
        return None
    return ["example", "completion"]


def _name_arguments(parameters: Sequence[Parameter], *, is_list: bool) -> list[str] | None:
    """``(completion, answer…)``: the answer under each name that it goes by, else in the next place."""
    values = dict.fromkeys(COMPLETIONS, "completion") | dict.fromkeys(ANSWERS, "answer")
    values |= dict.fromkeys(PROMPTS, "prompt")
    given: dict[str, str] = {}
    arguments = []
    for name, kind, is_required in parameters:
        if kind == "VAR_KEYWORD":
            if "answer" not in given.values():
                given |= dict.fromkeys(ANSWERS, "answer")
        elif name in values:
            given[name] = values[name]
        elif is_required and "answer" not in given.values():
            given[name] = "answer"
        elif is_required:
            return None
    if "answer" not in given.values():
        return None
    positional_only = [parameter.name for parameter in parameters if parameter.kind == "POSITIONAL_ONLY"]
    for name, value in given.items():
        value = f"[{value}]" if is_list else value
        arguments.append(value if name in positional_only else f"{name}={value}")
    return arguments
