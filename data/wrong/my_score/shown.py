"""The three careless rules of level 1, which docs/levels.md shows: each rewards answers that the spec refuses."""

import re


def careless_1(example, completion):
    """looks for the line and reads on no further"""
    return {"reward": float(re.search(f"Final: {example['expected_answer']}", completion) is not None)}


def careless_2(example, completion):
    """takes any number in the text"""
    return {"reward": float(str(example["expected_answer"]) in re.findall("-?[0-9]+", completion))}


def careless_3(example, completion):
    """takes the last run of digits in the text"""
    return {"reward": float(re.findall("[0-9]+", completion)[-1:] == [str(example["expected_answer"])])}
