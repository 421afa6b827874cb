"""Machinery: which wrong verifiers a student's tests kill, and what that says of the tests.

A test kills a verifier that it fails, if the verifier answered otherwise than every correct one while the test ran.
``check.run_tests`` runs the tests; nothing is run or printed here.
"""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

from course.datasets.records import VerifierSource

CORRECT_CLASS = "correct"
# The share of wrong verifiers that is killed where the tests are done. Careful files of some 70 cases over all classes
# of the spec kill 98 % and 83 % where they assert the outcome too, 93 % and 72 % where they assert the reward alone; a
# third one killed 87 % and 68 %. The verifiers held out were not seen, so a file need not kill as many of them.
ENOUGH = {"shown": 0.8, "held out": 0.6}
_STEPS = 10_000  # of the search for the fewest tests


class Cell(NamedTuple):
    """What came of one test with one verifier. ``ending``: passed, assertion, exception or skipped.

    ``words``: what an exception says, safe to print. ``differed``: in what the verifier answered otherwise than a
    correct one, ``reward``, ``details`` or "".
    """

    ending: str
    words: str
    differed: str
    killed: bool


class TestRun(NamedTuple):
    """``cells``: test -> id of a verifier -> what came of the two. ``error``: why there is nothing to judge."""

    cells: dict[str, dict[str, Cell]]
    error: str = ""
    left_out: int = 0  # tests that take no ``rubric``
    timed_out: Sequence[str] = ()  # tests that let their time pass with one of the verifiers, and have no cells
    printed: bytes = b""


class Judgement(NamedTuple):
    """What is known of tests that met every verifier.

    ``cells``: as in ``TestRun``. ``shown``: the wrong verifiers that may be named. ``faults``: test that is not right
    -> why. ``kills``: right test -> ids of the wrong verifiers that it kills; ``killed``: of all that any test kills.
    ``rates``: name of a set -> how many of how many are killed. ``smallest``: the fewest tests that kill as much, or
    where not ``is_smallest`` few enough. ``padding``: tests that kill nothing that one other test does not.
    """

    cells: Mapping[str, Mapping[str, Cell]]
    shown: Sequence[VerifierSource]
    faults: Mapping[str, str]
    kills: Mapping[str, frozenset[str]]
    killed: Set[str]
    rates: Mapping[str, tuple[int, int]]
    smallest: Sequence[str]
    is_smallest: bool
    padding: Sequence[str]


def judge(run: TestRun, sets: Mapping[str, Sequence[VerifierSource]]) -> Judgement:
    """Which tests are right, and which wrong verifiers each of these kills. ``sets``: ``shown`` is one of them."""
    correct = [verifier for verifiers in sets.values() for verifier in verifiers if verifier.kind == CORRECT_CLASS]
    faults = {}
    kills: dict[str, frozenset[str]] = {}
    for test, cells in run.cells.items():
        fault = find_fault(cells, correct, sets["shown"])
        if fault:
            faults[test] = fault
        else:
            kills[test] = frozenset(id_ for id_, cell in cells.items() if cell.killed)
    killed = frozenset().union(*kills.values())
    rates = {}
    for name, verifiers in sets.items():
        wrong = [verifier.id for verifier in verifiers if verifier.witness]
        rates[name] = (len(killed.intersection(wrong)), len(wrong))
    smallest, is_smallest = find_smallest(kills)
    return Judgement(
        cells=run.cells,
        shown=[verifier for verifier in sets["shown"] if verifier.witness],
        faults=faults,
        kills=kills,
        killed=killed,
        rates=rates,
        smallest=smallest,
        is_smallest=is_smallest,
        padding=find_padding(kills),
    )


def find_fault(cells: Mapping[str, Cell], correct: Sequence[VerifierSource], shown: Sequence[VerifierSource]) -> str:
    """What is wrong with a test that a correct verifier does not pass; else nothing."""
    if any(verifier.id not in cells for verifier in correct):
        return "did not run: it is skipped, or a fixture of its own failed"
    failed = [verifier for verifier in correct if cells[verifier.id].ending in ("assertion", "exception")]
    if not failed:
        return ""
    if len(failed) < len(correct):
        example = failed[0]
        if example is correct[0] and len(failed) > 1:  # the scorer itself, which says less
            example = failed[1]
        return f"asks for more than the spec: it fails a correct verifier that {example.believes}"
    cell = cells[failed[0].id]
    if cell.ending == "exception":
        return f"ends in an exception with every verifier: {cell.words}"
    passed = {id_ for id_, cell in cells.items() if cell.ending == "passed" and cell.differed}
    agreeing = [verifier for verifier in shown if verifier.id in passed]
    if not agreeing:
        return "misreads the spec: every correct verifier fails it"
    closest = min(agreeing, key=lambda verifier: verifier.breadth)
    return f"misreads the spec: it agrees with a verifier that {closest.believes}"


def find_padding(kills: Mapping[str, Set[str]]) -> list[str]:
    """Tests that kill nothing that one other test does not; of equal ones the first is none."""
    padding = []
    earlier: list[Set[str]] = []
    for test, killed in kills.items():
        kills_less = any(killed < others for others in kills.values())
        if not killed or kills_less or killed in earlier:
            padding.append(test)
        earlier.append(killed)
    return padding


def find_smallest(kills: Mapping[str, Set[str]]) -> tuple[list[str], bool]:
    """The fewest tests that together kill as much, and whether they are: the search ends after 10,000 steps."""
    everything = set().union(*kills.values())
    killers = {id_: [test for test in kills if id_ in kills[test]] for id_ in everything}
    smallest = list(kills)
    steps = 0

    def search(chosen: list[str], left: set[str]) -> None:
        nonlocal smallest, steps
        steps += 1
        if not left:
            if len(chosen) < len(smallest):
                smallest = chosen
            return
        if len(chosen) + 1 >= len(smallest) or steps > _STEPS:
            return
        rarest = min(left, key=lambda id_: (len(killers[id_]), id_))
        for test in sorted(killers[rarest], key=lambda test: -len(left & kills[test])):
            search([*chosen, test], left - kills[test])

    search([], everything)
    return [test for test in kills if test in smallest], steps <= _STEPS
