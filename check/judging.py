"""Machinery: the check of a student's tests of the reward spec: they meet every verifier, and are judged by the wrong
ones that they kill.
"""

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path

from check.kills import CORRECT_CLASS, ENOUGH, Judgement, TestRun, judge
from check.result import NOT_STARTED, CheckResult
from check.run_tests import load, run_tests
from course.datasets.files import LAB, open_regular
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource
from course.errors import UserError, reason
from course.text import clipped, describe_error, quote, visible_path

TESTS = Path("tests") / "test_rubric.py"
SETS = LAB / "data" / "verifiers"
_TEACHERS_SET = "the teacher's"
_AS_SHIPPED = "b2a3b552a871bc448add4e6d85b516e2b68abed8ff426cc23f48149c54045ade"  # its SHA-256
_SOURCE_BYTES = 1 << 20
_LINES_SHOWN = 10  # of what the tests print
_LINE_WIDTH = 100


def read_extra(path: Path) -> list[VerifierSource]:
    """One set of verifiers more, from a teacher's file. Its sources are code, which judging runs. Raises UserError."""
    verifiers = list(read_records(path, VerifierSource))
    if not any(verifier.witness for verifier in verifiers):
        raise UserError(f"{path}: expected at least one wrong verifier, with its witness; got none")
    for verifier in verifiers:
        try:
            load(verifier)
        except Exception as error:
            got = f"{describe_error(error)} in {verifier.id}"
            raise UserError(f"{path}: expected code that defines verify, got {got}") from None
    return verifiers


def check_tests(path: Path = TESTS, extra: Sequence[VerifierSource] = ()) -> CheckResult:
    """What the tests of a file kill: not started, invalid, weak, an error, or done. ``extra``: one set more."""
    try:
        with open_regular(path) as file:
            source = file.read(_SOURCE_BYTES)
    except OSError as error:
        return _error(f"{path}: expected your tests, got: {reason(error)}")
    if hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest() == _AS_SHIPPED:
        line = f"{path} is as it came: its five tests are a start, write the next one below them"
        return CheckResult(NOT_STARTED, lines=[line], numbers={"state": NOT_STARTED})
    sets = read_sets(extra)
    verifiers = [verifier for set_ in sets.values() for verifier in set_]
    run = run_tests(source, [verifier for verifier in verifiers if verifier.witness or verifier.kind == CORRECT_CLASS])
    show_printed(path, run.printed)
    if run.error or not run.cells:
        why = run.error or "no test that takes the fixture rubric, as def test_it(rubric) does"
        return _error(f"{path}: expected tests that can be run, got {why}")
    judgement = judge(run, sets)
    state, short = state_of(run, judgement)
    numbers: dict[str, object] = {"state": state, "tests": len(run.cells), "invalid": len(judgement.faults)}
    if extra:  # whoever gives a set may know which of its classes no test kills
        survivors = [verifier for verifier in extra if verifier.witness and verifier.id not in judgement.killed]
        numbers["survived"] = sorted({verifier.kind for verifier in survivors})
    for name, (killed, count) in judgement.rates.items():
        numbers[f"{name} killed"] = killed
        numbers[f"{name} of"] = count
    lines = []
    if run.left_out:
        lines.append(f"tests without the fixture rubric, which are not counted: {run.left_out}")
    if run.timed_out:
        lines.append(f"timed out with one of the verifiers, and kill nothing: {quote(', '.join(run.timed_out))}")
    if state == "done":
        return CheckResult("done", short, lines, numbers=numbers, judgement=judgement)
    overall = "started" if state == "weak" else "wrong"
    return CheckResult(overall, f"{state}: {short}", lines, numbers=numbers, judgement=judgement)


def show_printed(path: Path, output: bytes) -> None:
    """What the tests of a file have printed, on standard error: the first lines, safe for a terminal."""
    lines = output.decode("utf-8", "replace").splitlines()
    if lines:
        print(f"note: {visible_path(path)} printed:", file=sys.stderr)
    for line in lines[:_LINES_SHOWN]:
        print(f"  {clipped(line, _LINE_WIDTH)}", file=sys.stderr)
    if len(lines) > _LINES_SHOWN:
        print("  and more", file=sys.stderr)


def read_sets(extra: Sequence[VerifierSource]) -> dict[str, list[VerifierSource]]:
    """Name of a set -> its verifiers."""
    sets = {
        "shown": list(read_records(SETS / "shown.jsonl", VerifierSource)),
        "held out": list(read_records(SETS / "held_out.jsonl", VerifierSource)),
    }
    if extra:
        sets[_TEACHERS_SET] = list(extra)
    return sets


def state_of(run: TestRun, judgement: Judgement) -> tuple[str, str]:
    """Error, invalid, weak or done, and a few words."""
    tests = len(run.cells)
    if run.timed_out:
        return "error", f"{len(run.timed_out)} of {tests + len(run.timed_out)} tests timed out"
    if judgement.faults:
        return "invalid", f"{len(judgement.faults)} of {tests} tests misjudge a right verifier"
    short = ", ".join(f"{killed} of {count} {name}" for name, (killed, count) in judgement.rates.items())
    for name, share in ENOUGH.items():
        killed, count = judgement.rates[name]
        if killed < share * count:
            return "weak", short
    return "done", short


def _error(why: str) -> CheckResult:
    return CheckResult("wrong", "error: the tests cannot be judged", [why], numbers={"state": "error"})
