"""Machinery: what is shown of a student's tests: what was killed and one hint; on a page also the matrix of tests and
verifiers.
"""

from collections.abc import Sequence

from check.kills import ENOUGH, Cell, Judgement
from course.show.tables import interval, percent
from course.stats import wilson_interval
from course.text import clipped

_LISTED = 5  # tests that a sentence names


def report_lines(judgement: Judgement) -> list[str]:
    """What a terminal shows: how many are killed, and one thing to do: mend a test, or write one."""
    lines = [rate_line(name, killed, count) for name, (killed, count) in judgement.rates.items()]
    if judgement.faults:
        test, fault = next(iter(judgement.faults.items()))
        lines.append(f"{short_name(test)}: {fault}")
    elif hint := hint_line(judgement):
        lines.append(hint)
    return lines


def mark(cell: Cell | None) -> str:
    """What stands in the matrix; a test that did not run with a verifier has no cell."""
    if cell is None:
        return " "
    if cell.killed:
        return "#"
    if cell.ending == "exception":
        return "x"
    if cell.differed:
        return "."
    return " "


def tests_line(what: str, tests: Sequence[str], total: int) -> str:
    line = f"{what}, {len(tests)} of {total}: {', '.join(map(short_name, tests[:_LISTED]))}"
    if len(tests) > _LISTED:
        line += f" and {len(tests) - _LISTED} more"
    return line


def rate_line(name: str, killed: int, count: int) -> str:
    """How many of a set are killed, and how many are enough."""
    sure = interval(wilson_interval(killed, count))
    line = f"{name}: {killed} of {count} killed, {percent(killed / count, 0)} (95 % interval {sure})"
    if name in ENOUGH:
        line += f"; {percent(ENOUGH[name], 0)} is enough"
    return line


def hint_line(judgement: Judgement) -> str:
    """One class of which a verifier is left: the first that nothing kills, else the first that is killed in part."""
    killed = {verifier.kind for verifier in judgement.shown if verifier.id in judgement.killed}
    left = [verifier.kind for verifier in judgement.shown if verifier.id not in judgement.killed]
    untouched = [kind for kind in left if kind not in killed]
    if untouched:
        return f"hint: no verifier of the class {untouched[0].replace('_', ' ')} is killed yet"
    if left:
        return f"hint: not every verifier of the class {left[0].replace('_', ' ')} is killed yet"
    return ""


def matrix_data(judgement: Judgement) -> dict[str, object]:
    """The same for a page. Of a class that nothing kills there is no name."""
    killed = {verifier.kind for verifier in judgement.shown if verifier.id in judgement.killed}
    names = [verifier.kind.replace("_", " ") if verifier.kind in killed else None for verifier in judgement.shown]
    tests = [
        {
            "name": short_name(test, 40),
            "fault": judgement.faults.get(test),
            "cells": [mark(cells.get(verifier.id)) for verifier in judgement.shown],
        }
        for test, cells in judgement.cells.items()
    ]
    return {"verifiers": names, "tests": tests, "rates": judgement.rates}


def page_of_tests(judgement: Judgement) -> str:
    from course.pages.html import html_page

    text = "A row for each test, a column for each wrong verifier; the columns of a class that is killed have its name."
    total = len(judgement.cells)
    if judgement.smallest:
        fewest = "The fewest" if judgement.is_smallest else "A few"
        text += f" {tests_line(f'{fewest} tests that kill as much', judgement.smallest, total)}."
    if judgement.padding:
        text += f" {tests_line('Tests that kill nothing which one other test does not', judgement.padding, total)}."
    return html_page("matrix", "Your tests against wrong verifiers", text, matrix_data(judgement))


def short_name(test: str, width: int = 60) -> str:
    """A name that fits. Of a test with parameters, these are what tells it from the others."""
    name, bracket, parameters = test.removeprefix("test_").partition("[")
    if len(test) > width and bracket:
        name = f"{name[: width // 3]}…"
    return clipped(name + bracket + parameters, width)
