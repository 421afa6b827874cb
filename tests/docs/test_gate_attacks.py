"""The page that counts the attacks on the gate has the counts of tests/attacks.

An example: a forgery of the rows is added. The page still counts one less, and the test says so.
"""

import re

from attacks.table import FORGERIES, IMPROVEMENTS, MISTAKES, Case
from conftest import ROOT

PAGE = " ".join((ROOT / "docs" / "reference" / "gate_attacks.md").read_text(encoding="utf-8").split())


def count(cases: tuple[Case, ...]) -> tuple[int, int]:
    """How many there are, and how many of them the gate promoted once."""
    return len(cases), sum(case.promoted for case in cases)


def test_every_kind_of_attack_is_counted() -> None:
    written = {
        title.strip(): (int(tried), int(promoted))
        for title, tried, promoted in re.findall(r"\| ([^|]+?) \| (\d+) \| (\d+) \|", PAGE)
    }
    assert written == {title: count(cases) for title, cases in (FORGERIES | MISTAKES).items()}


def test_the_sums_are_those_of_the_table() -> None:
    forgeries = [case for cases in FORGERIES.values() for case in cases]
    mistakes = [case for cases in MISTAKES.values() for case in cases]
    believed = sum(bool(case.believed) for case in forgeries)
    promoted = count(tuple(forgeries))[1], count(tuple(mistakes))[1]
    assert f"promoted {promoted[0]} of these forgeries and {promoted[1]} of these mistakes" in PAGE
    assert f"Of the {len(forgeries)} forgeries the gate still finds {len(forgeries) - believed}" in PAGE
    assert f"The other {believed} change" in PAGE
    assert f"{len(IMPROVEMENTS)} honest improvements" in PAGE
