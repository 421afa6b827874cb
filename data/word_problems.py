"""Rewords prompts of ``make_data.py`` as short word problems: the same numbers in the same order, the same answer.

The rule goes by position and draws nothing. A story belongs to the shape of an expression, not to its numbers, so each
holds for every number that ``make_data.py`` can draw; where an answer can be negative, the story says what that means.
"""

import re
from typing import Any

STORIES = {  # the expression with # for each number -> what is asked in its place
    "# + #": "A library has {} books and buys {} more. How many books does it have then?",
    "# + # + #": "A baker makes {} rolls on Monday, {} on Tuesday and {} on Wednesday. How many rolls is that in all?",
    "# - #": "A bank account holds {} dollars, and {} dollars are taken out. "
    "What is the balance in dollars then (negative if the account is overdrawn)?",
    "# * #": "A printer prints {} pages a minute. How many pages does it print in {} minutes?",
    "# / #": "A farm packs {} eggs into boxes of {} eggs each. How many boxes does it fill?",
    "the remainder when # is divided by #": "A teacher shares {} pencils equally among {} students, giving each "
    "as many as possible. How many pencils are left over?",
    "# + # * #": "A player starts with {} points, then plays {} rounds and gains {} points in each. "
    "What is the score at the end?",
    "# - # * #": "A player starts with {} points, then plays {} rounds and loses {} points in each. "
    "What is the score at the end (it may fall below zero)?",
    "(# + #) * #": "A box holds {} red pens and {} blue pens. How many pens are in {} such boxes?",
    "(# - #) * #": "A stall takes in {} dollars and spends {} dollars every day. "
    "What is its profit over {} days in dollars (negative if it is a loss)?",
    "(-#) + #": "A laboratory freezer is at -{} degrees and warms up by {} degrees. "
    "What is its temperature then, in degrees?",
    "(-#) - #": "A laboratory freezer is at -{} degrees and is cooled by another {} degrees. "
    "What is its temperature then, in degrees?",
    "# - (-#)": "A hilltop is {} metres above sea level, and a valley floor is {} metres below sea level. "
    "How many metres higher is the hilltop?",
    "(-#) * #": "In a game each mistake counts -{} points. How many points do {} mistakes count in all?",
    "(-#) * (-#)": "In a game each mistake counts -{} points, and a referee cancels {} of a player's mistakes. "
    "By how many points does the player's score change (negative if it falls)?",
    "(-#) / #": "A player has -{} points after {} rounds that each counted the same. "
    "How many points did each round count?",
    "# * # - #": "A room has {} rows of {} chairs, and {} guests come. "
    "How many more chairs than guests are there (negative if there are fewer)?",
}


def word_problem(prompt: str) -> str:
    """The story in place of "Compute <expression>.", then the instruction as it was."""
    expression, _, instruction = prompt.removeprefix("Compute ").partition(". ")
    story = STORIES[re.sub(r"\d+", "#", expression)]
    return " ".join((story.format(*re.findall(r"\d+", expression)), instruction))


def with_word_problems(examples: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Every third example, from the first on, with its prompt reworded; the others as they are."""
    reworded = [example | {"prompt": word_problem(example["prompt"])} for example in examples[::3]]
    return [reworded[index // 3] if index % 3 == 0 else example for index, example in enumerate(examples)]
