"""inspect_ai's scorers, each called on a TaskState as an evaluation calls it."""

import asyncio
from importlib import import_module
from typing import Any

from field.asking import Verifier, answer_cases


def verifier(scorer: Any) -> Verifier:
    model: Any = import_module("inspect_ai.model")
    task: Any = import_module("inspect_ai.solver")
    scoring: Any = import_module("inspect_ai.scorer")
    values = {scoring.CORRECT: 1.0, scoring.INCORRECT: 0.0}

    def ask(expected: str, completion: str) -> float:
        output = model.ModelOutput.from_content("mockllm/model", completion)
        state = task.TaskState(
            model=model.ModelName("mockllm/model"), sample_id=1, epoch=1, input="", messages=[], output=output
        )
        return values[asyncio.run(scorer(state, scoring.Target(expected))).value]

    return ask


if __name__ == "__main__":
    of: Any = import_module("inspect_ai.scorer")
    scorers = {
        "num": of.match(numeric=True),
        "match": of.match(),
        "incl": of.includes(),
        "line": of.answer("line"),
        "exact": of.exact(),
        "math": of.math(),
    }
    answer_cases({key: verifier(scorer) for key, scorer in scorers.items()})
