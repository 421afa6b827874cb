"""The page of Loop C's differences: counts that are small, a page that is the source's, and how lines are counted.

The worked example. From the lines a, b, c to a, x, y, c one line is replaced by two: 2 lines changed. From a, b, c to
a, c one is gone: 1. From a, b to x, y, both are replaced: 2.
"""

from itertools import pairwise

import pytest

from docs.make_differences import DOC, LAB, LOOPS, changed_lines, differences_page, learn_lines, lines_of_idea

LINES = {loop.path: learn_lines((LAB / loop.path).read_text(encoding="utf-8")) for loop in LOOPS}


@pytest.mark.parametrize(
    ("before", "after", "count"), [("abc", "axyc", 2), ("abc", "ac", 1), ("ab", "xy", 2), ("abc", "abc", 0)]
)
def test_a_replaced_line_counts_once(before: str, after: str, count: int) -> None:
    assert changed_lines(list(before), list(after)) == count


def test_only_code_is_compared() -> None:
    source = '''
import numpy


def other() -> None:
    pass


def learn(
    draws: int,  # a comment
) -> str:
    """A docstring
    of two lines.
    """
    from x import (
        y,
    )

    # another comment
    text = "# no comment"

    return text  # and one more
'''
    assert learn_lines(source) == [
        "def learn(",
        "    draws: int,",
        ") -> str:",
        '    text = "# no comment"',
        "    return text",
    ]


@pytest.mark.parametrize("path", LINES)
def test_each_loop_ends_in_direction_apply_gradient_yield_baseline(path: str) -> None:
    first = [
        next(n for n, line in enumerate(LINES[path]) if word in line)
        for word in ("direction = ", "apply_gradient(", "yield ")
    ]
    means = [n for n, line in enumerate(LINES[path]) if "running_mean(" in line]
    assert [*first, *means] == sorted([*first, *means])
    assert means == [len(LINES[path]) - 1]


def test_the_lines_of_an_idea_are_new_in_its_loop() -> None:
    for before, loop in pairwise(LOOPS):
        shown = lines_of_idea(loop, LINES[loop.path]).split("\n")
        assert len(shown) == len(loop.starts), loop.title
        assert [line for line in shown if line.removeprefix("+ ") in LINES[before.path]] == []


def test_the_page_is_what_the_source_gives() -> None:
    assert DOC.read_text(encoding="utf-8") == differences_page(), "python3 docs/make_differences.py writes it anew"
