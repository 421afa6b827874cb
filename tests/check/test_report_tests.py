"""The report of a student's tests: worked by hand for three tests and three wrong verifiers of two classes.

An example: of the two classes nothing kills ``sign``, so its column has no letter and the hint names it.
"""

from check.kills import Cell, Judgement
from check.report_tests import matrix_data, page_of_tests, report_lines
from course.datasets.records import VerifierSource, Witness

KILLED = Cell("assertion", "", "reward", True)
CRASHED = Cell("exception", "KeyError", "", False)
MISSED = Cell("passed", "", "details", False)
ALIKE = Cell("passed", "", "", False)
JUDGEMENT = Judgement(
    cells={
        "test_one": {"a1": KILLED, "a2": ALIKE, "b1": MISSED},
        "test_two[1-\x1b]": {"a1": KILLED, "a2": CRASHED, "b1": ALIKE},
        "test_bad": {},
    },
    shown=[
        VerifierSource("a1", "space", "", "", Witness(1, "x")),
        VerifierSource("a2", "space", "", "", Witness(1, "x")),
        VerifierSource("b1", "plus_sign", "", "", Witness(1, "x")),
    ],
    faults={"test_bad": "misreads the spec"},
    kills={"test_one": frozenset({"a1", "h1"}), "test_two[1-\x1b]": frozenset({"a1"})},
    killed={"a1", "h1"},
    rates={"shown": (1, 3), "held out": (1, 2)},
    smallest=["test_one"],
    is_smallest=True,
    padding=["test_two[1-\x1b]"],
)


RATES = [
    "shown: 1 of 3 killed, 33 % (95 % interval 6.1 to 79.2 %); 80 % is enough",
    "held out: 1 of 2 killed, 50 % (95 % interval 9.5 to 90.5 %); 60 % is enough",
]


def test_the_report_says_what_was_killed_and_gives_one_thing_to_do() -> None:
    assert report_lines(JUDGEMENT) == [*RATES, "bad: misreads the spec"]
    hint = "hint: no verifier of the class plus sign is killed yet"
    assert report_lines(JUDGEMENT._replace(faults={})) == [*RATES, hint]
    all_killed = JUDGEMENT._replace(faults={}, killed={"a1", "a2", "b1"})
    assert report_lines(all_killed) == RATES


def test_a_class_of_which_some_are_killed_gets_another_hint() -> None:
    kills = {"test_one": frozenset({"a1", "b1"}), "test_two[1-\x1b]": frozenset[str]()}
    judgement = JUDGEMENT._replace(kills=kills, killed={"a1", "b1"}, faults={})
    assert report_lines(judgement)[-1] == "hint: not every verifier of the class space is killed yet"


def test_long_names_fit_and_a_sentence_names_five_tests() -> None:
    long = f"test_{'n' * 99}[{'p' * 99}]"
    judgement = JUDGEMENT._replace(cells={long: {"a1": KILLED}}, faults={long: "misreads the spec"}, smallest=[long] * 9)
    assert max(map(len, report_lines(judgement))) <= 80
    assert "and 4 more." in page_of_tests(judgement)


def test_the_page_has_a_cell_for_each_test_and_shown_verifier() -> None:
    matrix = matrix_data(JUDGEMENT)
    assert matrix["verifiers"] == ["space", "space", None], "of a class not killed yet no name"
    assert matrix["tests"] == [
        {"name": "one", "fault": None, "cells": ["#", " ", "."]},
        {"name": "two[1-<U+001B ESCAPE>]", "fault": None, "cells": ["#", "x", " "]},
        {"name": "bad", "fault": "misreads the spec", "cells": [" ", " ", " "]},
    ]
    assert matrix["rates"] == {"shown": (1, 3), "held out": (1, 2)}
    assert "plus" not in page_of_tests(JUDGEMENT).partition('id="data">')[2].partition("</script>")[0]
