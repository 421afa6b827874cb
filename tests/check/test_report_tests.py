"""The report of a student's tests: worked by hand for three tests and three wrong verifiers of two classes.

An example: nothing kills ``b1``, the one verifier of the class ``plus_sign``. The page shows it first, with a
completion that would kill it, and the hint names its class.
"""

import json
from typing import Any

import pytest

from check.kills import Cell, Judgement
from check.report_tests import cell_words, matrix_data, page_of_tests, report_lines, value_text
from check.versions import Version
from course.score import score

KILLED = Cell("failed", differed=True)
MISSED = Cell("passed", differed=True)
ALIKE = Cell("passed")


def trims_all(example: dict[str, Any], completion: str) -> dict[str, Any]:
    return score(example, completion.strip() if type(completion) is str else completion)


def allows_plus(example: dict[str, Any], completion: str) -> dict[str, Any]:
    text = completion.replace("Final: +", "Final: ") if type(completion) is str else completion
    return score(example, text)


JUDGEMENT = Judgement(
    cells={
        "test_one": {"a1": KILLED, "a2": ALIKE, "b1": MISSED},
        "test_two[1-\x1b]": {"a1": KILLED, "a2": ALIKE, "b1": ALIKE},
        "test_bad": {},
    },
    shown=[
        Version("a1", "space", "", score),
        Version("a2", "space", "trims all", trims_all),
        Version("b1", "plus_sign", "allows a plus sign", allows_plus),
    ],
    faults={"test_bad": "misreads the spec"},
    killed={"a1", "h1"},
    rates={"shown": (1, 3), "held out": (1, 2)},
)


def test_the_report_says_what_was_killed_and_gives_one_thing_to_do() -> None:
    rate, held_out, fault = report_lines(JUDGEMENT)
    assert rate.startswith("shown: 1 of 3 killed, 33 % (95 % interval 6.1 to 79.2 %)")
    assert held_out.startswith("held out: 1 of 2 killed, 50 % (95 % interval 9.5 to 90.5 %)")
    assert fault == "bad: misreads the spec"
    hint = "hint: no verifier of the class plus sign is killed yet"
    assert report_lines(JUDGEMENT._replace(faults={})) == [rate, held_out, hint]


def test_of_many_faults_one_is_shown_and_the_others_are_counted() -> None:
    judgement = JUDGEMENT._replace(faults={f"test_{i}": f"fault {i}" for i in range(4)})
    assert [line for line in report_lines(judgement) if "fault" in line] == ["0: fault 0 (3 more tests are not right)"]


def test_a_class_of_which_some_are_killed_gets_another_hint_and_all_killed_gets_none() -> None:
    some = JUDGEMENT._replace(killed={"a1", "b1"}, faults={})
    assert "hint: not every verifier of the class space is killed yet" in report_lines(some)
    all_of_them = some._replace(killed={"a1", "a2", "b1"})
    assert not any(line.startswith("hint: ") for line in report_lines(all_of_them))
    assert matrix_data(all_of_them)["survivors"] == []


def test_what_survives_stands_first_with_a_completion_that_would_kill_it() -> None:
    assert matrix_data(JUDGEMENT)["survivors"] == [
        {"kind": "space", "does": "trims all", "witness": {"completion": "'\\x0bFinal: 0'", "expected": "0"}},
        {"kind": "plus sign", "does": "allows a plus sign", "witness": {"completion": "'Final: +0'", "expected": "0"}},
    ]


def test_the_page_has_a_row_for_each_test_and_a_column_for_each_class() -> None:
    matrix = matrix_data(JUDGEMENT)
    assert matrix["kinds"] == ["space", "plus sign"]
    assert matrix["tests"] == [
        {"name": "one", "fault": None, "cells": ["kills 1 of 2", "misses"]},
        {"name": "two[1-<U+001B ESCAPE>]", "fault": None, "cells": ["kills 1 of 2", ""]},
        {"name": "bad", "fault": "misreads the spec", "cells": ["", ""]},
    ]
    data = page_of_tests(JUDGEMENT).partition('id="data">')[2].partition("</script>")[0]
    assert json.loads(data)["rates"][0] == {"name": "shown", "killed": 1, "count": 3, "enough": "80 % is enough"}


def test_a_class_of_which_all_are_killed_stands_behind_those_of_which_one_is_left() -> None:
    judgement = JUDGEMENT._replace(killed={"a1", "a2"})
    assert matrix_data(judgement)["kinds"] == ["plus sign", "space"]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([KILLED, KILLED], "kills"),
        ([KILLED, MISSED, ALIKE], "kills 1 of 3"),
        ([KILLED, None], "kills 1 of 2"),
        ([MISSED, ALIKE], "misses"),
        ([ALIKE, None], ""),
    ],
)
def test_a_cell_says_in_words_what_the_test_does_to_a_class(cells: list[Cell | None], words: str) -> None:
    assert cell_words(cells) == words


def test_a_long_completion_is_shown_by_its_beginning_and_its_length() -> None:
    assert value_text("x" * 5_000) == f"{'x' * 60!r} and so on, 5,000 characters"
    assert [value_text(value) for value in (None, 323, "", "\u2028")] == ["None", "323", "''", "'\\u2028'"]
