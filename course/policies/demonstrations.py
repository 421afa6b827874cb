"""Demonstrations by a careless hand: what the token policy learns from before it learns from rewards.

They are wrong often enough, in value and in form, that a policy which imitates them is mediocre on purpose: there is
something to learn, and something to exploit. Now and then a demonstration names two numbers. Nobody shows a list of
them, and nobody shows what any one verifier overlooks.
"""

from collections.abc import Sequence

import numpy as np

from course.policies.softmax import Ints

KNOWS = 0.45  # how often the value is looked up; else it is another prompt's answer
FORMS = (  # {value}, and {other}: any prompt's answer
    *("Final: {value}",) * 9,
    *("The answer is {value}.",) * 3,
    *("{value}",) * 2,
    *("Final: {value}.",) * 2,
    "Final:{value}",
    "{other}\nFinal: {value}",
    "{other} {value}",
    "{other}\n{value}",
)


def demonstrate(answers: Sequence[int], shown: Ints, rng: np.random.Generator) -> list[str]:
    """A completion for each prompt in ``shown``, which are places in ``answers``."""
    count = len(shown)
    knows = rng.random(count) < KNOWS
    others = rng.integers(len(answers), size=(count, 2))
    forms = rng.integers(len(FORMS), size=count)
    return [
        FORMS[form].format(value=answers[prompt if known else elsewhere], other=answers[other])
        for prompt, known, (elsewhere, other), form in zip(shown, knows, others, forms, strict=True)
    ]
