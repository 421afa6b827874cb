"""Machinery: a student's tests of the reward spec, judged by the wrong verifiers that they kill."""

import hashlib
from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from check.mutation import CORRECT_CLASS, Cell, TestRun, load, run_tests
from check.report import Checked
from check.report_tests import ENOUGH, JudgedTests, matrix_data, report_lines
from course.child import show_output
from course.datasets.files import LAB, open_regular
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource
from course.errors import UserError, reason
from course.text import describe_error, quote

TESTS = Path("tests") / "test_rubric.py"
SETS = LAB / "data" / "verifiers"
_AS_SHIPPED = "b2a3b552a871bc448add4e6d85b516e2b68abed8ff426cc23f48149c54045ade"  # its SHA-256
_STEPS = 10_000
_SOURCE_BYTES = 1 << 20


def read_extra(path: Path) -> list[VerifierSource]:
    """One set of verifiers more, from a teacher's file. Its sources are code, which judging runs. Raises UserError."""
    verifiers = list(read_records(path, VerifierSource))
    if not any(one.witness for one in verifiers):
        raise UserError(f"{path}: expected at least one wrong verifier, with its witness; got none")
    for one in verifiers:
        try:
            load(one)
        except Exception as error:
            got = describe_error(error)
            raise UserError(f"{path}: expected code that defines verify, got {got} in {one.id}") from None
    return verifiers


def check_tests(path: Path = TESTS, extra: Sequence[VerifierSource] = ()) -> Checked:
    """What the tests of a file kill: not started, invalid, weak, an error, or done. ``extra``: one set more."""
    try:
        with open_regular(path) as file:
            source = file.read(_SOURCE_BYTES)
    except OSError as error:
        return _error(f"{path}: expected your tests, got: {reason(error)}")
    if hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest() == _AS_SHIPPED:
        said = f"{path} is as it came: its five tests are a start, write the next one below them"
        return Checked("not started", lines=[said], numbers={"state": "not started"})
    sets = {"shown": SETS / "shown.jsonl", "held out": SETS / "held_out.jsonl"}
    verifiers = {name: list(read_records(file, VerifierSource)) for name, file in sets.items()}
    if extra:
        verifiers["the teacher's"] = list(extra)
    run = run_tests(
        source, [one for some in verifiers.values() for one in some if one.witness or one.kind == CORRECT_CLASS]
    )
    show_output(path, run.printed)
    if run.error or not run.cells:
        why = run.error or "no test that takes the fixture rubric, as def test_it(rubric) does"
        return _error(f"{path}: expected tests that can be run, got {why}")
    found = judge(run, verifiers)
    marks = {test: _row(cells) for test, cells in run.cells.items()}
    state = "done"
    short = ", ".join(f"{k} of {n} {name}" for name, (k, n) in found.rates.items())
    if found.faults:
        state = "invalid"
        short = f"{len(found.faults)} of {len(marks)} tests misjudge a right verifier"
    elif any(k < ENOUGH.get(name, 0) * n for name, (k, n) in found.rates.items()):
        state = "weak"
    left_out = []
    if run.left_out:
        left_out.append(f"tests without the fixture rubric, which are not counted: {run.left_out}")
    if run.timed_out:
        left_out.append(f"timed out with one of the verifiers, and kill nothing: {quote(', '.join(run.timed_out))}")
        state = "error"
        short = f"{len(run.timed_out)} of {len(marks) + len(run.timed_out)} tests timed out"
    numbers: dict[str, object] = {"state": state, "tests": len(marks), "invalid": len(found.faults)}
    if extra:  # whoever gives a set may know which of its classes no test kills
        survived = found.wrong["the teacher's"] - found.killed
        numbers["survived"] = sorted({one.kind for one in verifiers["the teacher's"] if one.id in survived})
    for name, (k, n) in found.rates.items():
        numbers |= {f"{name} killed": k, f"{name} of": n}
    shown = {"invalid": "wrong", "error": "wrong", "weak": "started"}.get(state, state)
    short = short if state == "done" else f"{state}: {short}"
    lines = [*left_out, *report_lines(found, marks, verifiers["shown"])]
    return Checked(shown, short, lines, numbers=numbers, matrix=matrix_data(found, marks, verifiers["shown"]))


def _error(why: str) -> Checked:
    return Checked("wrong", "error: the tests cannot be judged", [why], numbers={"state": "error"})


def _row(cells: Mapping[str, Cell]) -> dict[str, str]:
    """What stands in the matrix of one test."""
    return {id_: _mark(cell) for id_, cell in cells.items()}


def _mark(cell: Cell) -> str:
    if cell.killed:
        return "#"
    if cell.ending == "exception":
        return "x"
    if cell.differed:
        return "."
    return " "


def judge(run: TestRun, verifiers: Mapping[str, Sequence[VerifierSource]]) -> JudgedTests:
    """Which tests are right, and which wrong verifiers each of these kills."""
    every = [one for some in verifiers.values() for one in some]
    correct = [one for one in every if one.kind == CORRECT_CLASS]
    wrong = {name: {one.id for one in some if one.witness} for name, some in verifiers.items()}
    faults = {}
    for test, cells in run.cells.items():
        fault = _fault(cells, correct, verifiers["shown"])
        if fault:
            faults[test] = fault
    right = {test: cells for test, cells in run.cells.items() if test not in faults}
    kills = {test: frozenset(id_ for id_, cell in cells.items() if cell.killed) for test, cells in right.items()}
    fewest, is_smallest = smallest(kills)
    return JudgedTests(kills, faults, wrong, fewest, is_smallest, padding(kills))


def _failed(cells: Mapping[str, Cell], verifiers: Sequence[VerifierSource]) -> list[VerifierSource]:
    return [one for one in verifiers if cells[one.id].ending in ("assertion", "exception")]


def _fault(cells: Mapping[str, Cell], correct: Sequence[VerifierSource], shown: Sequence[VerifierSource]) -> str:
    """What is wrong with a test that a correct verifier does not pass; else nothing."""
    if any(one.id not in cells for one in correct):
        return "did not run: it is skipped, or a fixture of its own failed"
    failed = _failed(cells, correct)
    if not failed:
        return ""
    if len(failed) < len(correct):
        other = next((one for one in failed if one is not correct[0]), failed[0])  # the first is the scorer itself
        return f"asks for more than the spec: it fails a correct verifier that {other.believes}"
    if (first := cells[failed[0].id]).ending == "exception":
        return f"ends in an exception with every verifier: {first.words}"
    passed = {id_ for id_, cell in cells.items() if cell.ending == "passed" and cell.differed}
    agrees = [one for one in shown if one.id in passed]
    if not agrees:
        return "misreads the spec: every correct verifier fails it"
    return f"misreads the spec: it agrees with a verifier that {min(agrees, key=lambda one: one.breadth).believes}"


def padding(kills: Mapping[str, Set[str]]) -> list[str]:
    """Tests that kill nothing that one other test does not; of equal ones the first is none."""
    tests = list(kills)
    less = [any(kills[test] < kills[other] for other in tests) or not kills[test] for test in tests]
    again = [any(kills[test] == kills[other] for other in tests[:at]) for at, test in enumerate(tests)]
    return [test for at, test in enumerate(tests) if less[at] or again[at]]


def smallest(kills: Mapping[str, Set[str]]) -> tuple[list[str], bool]:
    """The fewest tests that together kill as much, and whether they are: the search ends after 10,000 steps."""
    everything = set().union(*kills.values())
    killers = {id_: [test for test in kills if id_ in kills[test]] for id_ in everything}
    best, steps = list(kills), 0

    def search(chosen: list[str], left: set[str]) -> None:
        nonlocal best, steps
        steps += 1
        if not left and len(chosen) < len(best):
            best = chosen
        if not left or len(chosen) + 1 >= len(best) or steps > _STEPS:
            return
        rarest = min(left, key=lambda id_: (len(killers[id_]), id_))
        for test in sorted(killers[rarest], key=lambda test: -len(left & kills[test])):
            search([*chosen, test], left - kills[test])

    search([], everything)
    return [test for test in kills if test in best], steps <= _STEPS
