"""Machinery: what check tests prints: the matrix of tests and verifiers, what was killed, and one hint."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from string import ascii_letters
from typing import NamedTuple

from course.datasets.records import VerifierSource
from course.pages.html import html_page
from course.show.tables import interval, percent
from course.stats import wilson_interval
from course.text import clipped

# The share of wrong verifiers that is killed where the tests are done. Careful files of some 70 cases over all classes
# of the spec kill 98 % and 83 % where they assert the outcome too, 93 % and 72 % where they assert the reward alone; a
# third one killed 87 % and 68 %. The verifiers held out were not seen, so a file need not kill as many of them.
ENOUGH = {"shown": 0.8, "held out": 0.6}
_NAME_WIDTH, _LISTED = 26, 5  # columns of a test's name; tests that a sentence names


class JudgedTests(NamedTuple):
    """``kills``: right test -> ids of the wrong verifiers it kills. ``faults``: test that is not right -> why.

    ``wrong``: name of a set -> ids of its wrong verifiers. ``smallest``: the fewest tests that kill as much, or where
    not ``is_smallest`` few enough.
    ``padding``: tests that kill nothing that one other does not.
    """

    kills: Mapping[str, frozenset[str]]
    faults: Mapping[str, str]
    wrong: Mapping[str, set[str]]
    smallest: Sequence[str]
    is_smallest: bool
    padding: Sequence[str]

    @property
    def killed(self) -> set[str]:
        return set().union(*self.kills.values())

    @property
    def rates(self) -> dict[str, tuple[int, int]]:
        """Name of a set -> how many of how many are killed."""
        return {name: (len(self.killed & ids), len(ids)) for name, ids in self.wrong.items()}


def report_lines(
    found: JudgedTests, marks: Mapping[str, Mapping[str, str]], shown: Sequence[VerifierSource]
) -> list[str]:
    """The whole report, a line each. ``marks``: test -> id of a verifier -> what stands in the matrix."""
    columns = [one for one in shown if one.id in found.wrong["shown"]]
    lines = [*matrix(found, marks, columns), *(f"{_short(test)}: {fault}" for test, fault in found.faults.items())]
    for what, tests in (
        (f"{'the fewest' if found.is_smallest else 'a few'} tests that kill as much", found.smallest),
        ("padding, which kills nothing that one other test does not", found.padding),
    ):
        more = f" and {len(tests) - _LISTED} more" if len(tests) > _LISTED else ""
        if tests:
            lines.append(f"{what}, {len(tests)} of {len(marks)}: {', '.join(map(_short, tests[:_LISTED]))}{more}")
    for name, (k, n) in found.rates.items():
        sure = interval(wilson_interval(k, n))
        target = f"; {percent(ENOUGH[name], 0)} is enough" if name in ENOUGH else ""
        lines.append(f"{name}: {k} of {n} killed, {percent(k / n, 0)} (95 % interval {sure}){target}")
    killed = {one.kind for one in columns if one.id in found.killed}
    left = sorted((one.kind in killed, at, one.kind) for at, one in enumerate(columns) if one.id not in found.killed)
    for partly, _, kind in left[:1]:
        class_ = kind.replace("_", " ")
        lines.append(f"hint: {'not every' if partly else 'no'} verifier of the class {class_} is killed yet")
    return lines


def matrix(found: JudgedTests, marks: Mapping[str, Mapping[str, str]], columns: Sequence[VerifierSource]) -> list[str]:
    """Tests x shown verifiers. A class that nothing kills has no letter: its name would tell what to test."""
    kinds = dict.fromkeys(one.kind for one in columns if one.id in found.killed)
    letters = dict(zip(kinds, ascii_letters, strict=False))
    lines = [f"{'':{_NAME_WIDTH}} {''.join(letters.get(one.kind, '?') for one in columns)}  only"]
    times = Counter(chain.from_iterable(found.kills.values()))
    for test, row in marks.items():
        only = sum(times[id_] == 1 for id_ in found.kills.get(test, frozenset()) & found.wrong["shown"])
        cells = "".join(row.get(one.id, " ") for one in columns)
        lines.append(f"{_short(test, _NAME_WIDTH):{_NAME_WIDTH}} {cells}  {'wrong' if test in found.faults else only}")
    lines.append("# killed, . not killed though it answered wrongly, x ended in an exception, blank: no difference")
    legend = [f"{letter} {kind.replace('_', ' ')}" for kind, letter in letters.items()]
    lines.append("; ".join([*legend, "? a class not killed yet", "only: how many this test alone kills"]))
    return lines


def matrix_data(
    found: JudgedTests, marks: Mapping[str, Mapping[str, str]], shown: Sequence[VerifierSource]
) -> dict[str, object]:
    """The same for a page. Of a class that nothing kills there is no name."""
    columns = [one for one in shown if one.id in found.wrong["shown"]]
    tests = [
        {"name": _short(test, 40), "fault": found.faults.get(test), "cells": [row.get(one.id, " ") for one in columns]}
        for test, row in marks.items()
    ]
    kinds = {one.kind for one in columns if one.id in found.killed}
    names = [one.kind.replace("_", " ") if one.kind in kinds else None for one in columns]
    return {"verifiers": names, "tests": tests, "rates": found.rates}


def page_of_tests(matrix: Mapping[str, object]) -> str:
    text = "A row for each test, a column for each wrong verifier; the columns of a class that is killed have its name."
    return html_page("matrix", "Your tests against wrong verifiers", text, matrix)


def _short(test: str, width: int = 60) -> str:
    """A name that fits. Of a test with parameters, these are what tells it from the others."""
    name, bracket, parameters = test.removeprefix("test_").partition("[")
    if len(test) > width and bracket:
        name = f"{name[: width // 3]}…"
    return clipped(name + bracket + parameters, width)
