"""Machinery: demonstrations by a careless hand, which the token policy is fine-tuned on before it learns from rewards.

They are wrong often enough, in value and in form, that a policy which imitates them is mediocre on purpose: there is
something to learn, and something to exploit. Now and then a demonstration names two numbers. No demonstration lists
more, and none shows what a verifier overlooks.
"""

from collections.abc import Sequence

import numpy as np

from course.policies.softmax import Ints

CORRECT = 0.45  # how often a demonstration has the prompt's own answer; else it has that of another prompt
FORM_COUNTS = {  # {value}, and {other}: any prompt's answer -> how often in 20 demonstrations
    "Final: {value}": 9,
    "The answer is {value}.": 3,
    "{value}": 2,
    "Final: {value}.": 2,
    "Final:{value}": 1,
    "{other}\nFinal: {value}": 1,
    "{other} {value}": 1,
    "{other}\n{value}": 1,
}
FORMS = [form for form, count in FORM_COUNTS.items() for _ in range(count)]


def demonstrate(answers: Sequence[int], chosen: Ints, rng: np.random.Generator) -> list[str]:
    """A completion for each chosen prompt. ``answers``: of all prompts; ``chosen``: [N] indices into them."""
    count = len(chosen)
    correct = rng.random(count) < CORRECT
    others = rng.integers(len(answers), size=(count, 2))
    forms = rng.integers(len(FORMS), size=count)
    return [
        FORMS[form].format(value=answers[own if right else wrong], other=answers[other])
        for own, right, (wrong, other), form in zip(chosen, correct, others, forms, strict=True)
    ]
