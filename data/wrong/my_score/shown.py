"""The three careless rules of level 1, which docs/levels.md shows: each rewards answers that the spec refuses."""

import re

from check.versions import pays


@pays
def careless_1(text, gold):
    """looks for the line and reads on no further"""
    return re.search(f"Final: {gold}", text)


@pays
def careless_2(text, gold):
    """takes any number in the text"""
    return str(gold) in re.findall("-?[0-9]+", text)


@pays
def careless_3(text, gold):
    """takes the last run of digits in the text"""
    return re.findall("[0-9]+", text)[-1:] == [str(gold)]
