"""Machinery: which wrong verifiers a student's tests kill, and what that says of the tests.

A test kills a verifier that it fails. ``check.judge`` runs the tests; nothing is run or printed here.
"""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from check.versions import Version, breadth

# The share of wrong verifiers that is killed where the tests are done. Careful files of some 70 cases over all classes
# of the spec kill 98 % and 83 % where they assert the outcome too, 93 % and 72 % where they assert the reward alone; a
# third one killed 87 % and 68 %. The verifiers held out were not seen, so a file need not kill as many of them.
ENOUGH = {"shown": 0.8, "held out": 0.6}


class Cell(NamedTuple):
    """What came of one test with one version. ``ending``: passed, failed or skipped.

    ``words``: of an exception that is no failed assertion, safe to print. ``differed``: whether the version answered
    otherwise than a right one while the test ran.
    """

    ending: str
    words: str = ""
    differed: bool = False


class TestRun(NamedTuple):
    """``cells``: test -> id of a version -> what came of the two; none for a test that did not run.

    ``error``: why there is nothing to judge. ``left_out``: tests that do not take the fixture.
    """

    cells: dict[str, dict[str, Cell]]
    error: str = ""
    left_out: int = 0


class Judgement(NamedTuple):
    """What is known of tests that met every verifier.

    ``cells``: as in ``TestRun``. ``shown``: the wrong verifiers that may be named. ``faults``: test that is not right
    -> why. ``killed``: ids of the wrong verifiers that a right test kills. ``rates``: name of a set -> how many of how
    many are killed.
    """

    cells: Mapping[str, Mapping[str, Cell]]
    shown: Sequence[Version]
    faults: Mapping[str, str]
    killed: Set[str]
    rates: Mapping[str, tuple[int, int]]


def judge(run: TestRun, right: Sequence[Version], sets: Mapping[str, Sequence[Version]]) -> Judgement:
    """Which tests are right, and which wrong verifiers they kill. ``sets``: of wrong ones, ``shown`` among them."""
    faults = {}
    killed: set[str] = set()
    for test, cells in run.cells.items():
        fault = find_fault(cells, right, sets["shown"])
        if fault:
            faults[test] = fault
        else:
            killed.update(id_ for id_, cell in cells.items() if cell.ending == "failed")
    rates = {}
    for name, versions in sets.items():
        rates[name] = (sum(version.id in killed for version in versions), len(versions))
    return Judgement(run.cells, sets["shown"], faults, killed, rates)


def find_fault(cells: Mapping[str, Cell], right: Sequence[Version], shown: Sequence[Version]) -> str:
    """What is wrong with a test that a right verifier does not pass; else nothing."""
    if any(version.id not in cells for version in right):
        return "did not run: it is skipped, or a fixture of its own failed"
    failed = [version for version in right if cells[version.id].ending == "failed"]
    if not failed:
        return ""
    if len(failed) < len(right):
        example = failed[0]
        if example is right[0] and len(failed) > 1:  # the scorer itself, which says less
            example = failed[1]
        return f"asks for more than the spec: it fails a correct verifier that {example.believes}"
    words = cells[failed[0].id].words
    if words:
        return f"ends in an exception with every verifier: {words}"
    passed = {id_ for id_, cell in cells.items() if cell.ending == "passed" and cell.differed}
    agreeing = [version for version in shown if version.id in passed]
    if not agreeing:
        return "misreads the spec: every correct verifier fails it"
    closest = min(agreeing, key=breadth)
    return f"misreads the spec: it agrees with a verifier that {closest.believes}"
