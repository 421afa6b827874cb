"""Machinery: what is shown of a student's tests: a few lines at a terminal, and the matrix of tests as a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from check.kills import ENOUGH, Cell, Judgement
from check.versions import Version, find_witness
from course.show.tables import interval, percent
from course.stats import wilson_interval
from course.text import clipped

_TEXT = 60  # characters of a witness


def report_lines(judgement: Judgement) -> list[str]:
    """What was killed; and the first test that is not right, or a hint."""
    lines = [rate_line(name, killed, count) for name, (killed, count) in judgement.rates.items()]
    faults = list(judgement.faults.items())
    if faults:
        test, fault = faults[0]
        more = f" ({len(faults) - 1} more tests are not right)" if len(faults) > 1 else ""
        lines.append(f"{short_name(test)}: {fault}{more}")
    elif hint := hint_line(judgement):
        lines.append(hint)
    return lines


def rate_line(name: str, killed: int, count: int) -> str:
    """How many of a set are killed, and how many are enough."""
    sure = interval(wilson_interval(killed, count))
    line = f"{name}: {killed} of {count} killed, {percent(killed / count, 0)} (95 % interval {sure})"
    if name in ENOUGH:
        line += f"; {percent(ENOUGH[name], 0)} is enough"
    return line


def hint_line(judgement: Judgement) -> str:
    """One class of which a verifier is left: the first that nothing kills, else the first that is killed in part."""
    left = survivors(judgement)
    killed = {verifier.kind for verifier in judgement.shown if verifier.id in judgement.killed}
    untouched = [verifier.kind for verifier in left if verifier.kind not in killed]
    if untouched:
        return f"hint: no verifier of the class {words_of(untouched[0])} is killed yet"
    if left:
        return f"hint: not every verifier of the class {words_of(left[0].kind)} is killed yet"
    return ""


def survivors(judgement: Judgement) -> list[Version]:
    """The wrong verifiers that every right test passes."""
    return [verifier for verifier in judgement.shown if verifier.id not in judgement.killed]


def page_of_tests(judgement: Judgement) -> str:
    from course.pages.html import html_page

    text = (
        "Each wrong verifier stood in the scorer's place while your tests ran. A test kills a verifier if it fails "
        "with that verifier, and passes with every right one."
    )
    return html_page("matrix", "Your tests against wrong verifiers", text, matrix_data(judgement))


def matrix_data(judgement: Judgement) -> dict[str, object]:
    """Everything that the view "matrix" reads: what survives first, then tests x classes of verifiers, in words."""
    kinds: dict[str, list[Version]] = {}
    left = {verifier.kind for verifier in survivors(judgement)}
    for verifier in sorted(judgement.shown, key=lambda verifier: verifier.kind not in left):
        kinds.setdefault(verifier.kind, []).append(verifier)
    return {
        "rates": [rate_data(name, killed, count) for name, (killed, count) in judgement.rates.items()],
        "survivors": [survivor_data(verifier) for verifier in survivors(judgement)],
        "kinds": [words_of(kind) for kind in kinds],
        "tests": [test_data(test, cells, kinds, judgement) for test, cells in judgement.cells.items()],
    }


def rate_data(name: str, killed: int, count: int) -> dict[str, object]:
    enough = f"{percent(ENOUGH[name], 0)} is enough" if name in ENOUGH else ""
    return {"name": name, "killed": killed, "count": count, "enough": enough}


def survivor_data(verifier: Version) -> dict[str, object]:
    """A verifier that nothing kills: its class, what it does, and a completion on which it is wrong."""
    witness = find_witness(verifier)
    shown = None
    if witness:
        gold, completion = witness
        shown = {"completion": value_text(completion), "expected": value_text(gold)}
    return {"kind": words_of(verifier.kind), "does": verifier.believes, "witness": shown}


def value_text(value: Any) -> str:
    """A value as it is written in Python; of a long text the beginning and the length."""
    if isinstance(value, str) and len(value) > _TEXT:
        return f"{value[:_TEXT]!r} and so on, {len(value):,} characters"
    return repr(value)


def test_data(
    test: str, cells: Mapping[str, Cell], kinds: Mapping[str, Sequence[Version]], judgement: Judgement
) -> dict[str, object]:
    row = [cell_words([cells.get(verifier.id) for verifier in verifiers]) for verifiers in kinds.values()]
    return {"name": short_name(test), "fault": judgement.faults.get(test), "cells": row}


def cell_words(cells: Sequence[Cell | None]) -> str:
    """What a test does to the verifiers of one class; nothing where they answer it as a right verifier does.

    A test that did not run with a verifier has no cell.
    """
    met = [cell for cell in cells if cell is not None]
    killed = sum(cell.ending == "failed" for cell in met)
    if killed:
        return "kills" if killed == len(cells) else f"kills {killed} of {len(cells)}"
    if any(cell.differed for cell in met):
        return "misses"
    return ""


def words_of(kind: str) -> str:
    return kind.replace("_", " ")


def short_name(test: str, width: int = 60) -> str:
    """A name that fits. Of a test with parameters, these are what tells it from the others."""
    name, bracket, parameters = test.removeprefix("test_").partition("[")
    if len(test) > width and bracket:
        name = f"{name[: width // 3]}…"
    return clipped(name + bracket + parameters, width)
