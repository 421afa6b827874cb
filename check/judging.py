"""Machinery: the check of a student's tests of the reward spec, which meet right verifiers and wrong ones."""

import hashlib
from pathlib import Path

from check.judge import run_tests
from check.kills import ENOUGH, Judgement, judge
from check.result import NOT_STARTED, CheckResult
from check.versions import differs, read_versions
from course.datasets.files import LAB, open_regular
from course.errors import reason

TESTS = Path("tests") / "test_rubric.py"
VERIFIERS = LAB / "data" / "wrong" / "rubric"
_AS_SHIPPED = "b2a3b552a871bc448add4e6d85b516e2b68abed8ff426cc23f48149c54045ade"  # its SHA-256


def check_tests(path: Path = TESTS) -> CheckResult:
    """What the tests of a file kill: not started, invalid, weak, an error, or done."""
    try:
        with open_regular(path) as file:
            source = file.read()
    except OSError as error:
        return _error(f"{path}: expected your tests, got: {reason(error)}")
    if hashlib.sha256(source.replace(b"\r\n", b"\n")).hexdigest() == _AS_SHIPPED:
        line = f"{path} is as it came: its five tests are a start, write the next one below them"
        return CheckResult(NOT_STARTED, lines=[line], numbers={"state": NOT_STARTED})
    right = read_versions(VERIFIERS / "right.py")
    sets = {"shown": read_versions(VERIFIERS / "shown.py"), "held out": read_versions(VERIFIERS / "held_out.py")}
    run = run_tests(path, "rubric", [*right, *sets["shown"], *sets["held out"]], differs)
    if run.error or not run.cells:
        why = run.error or "no test that takes the fixture rubric, as def test_it(rubric) does"
        return _error(f"{path}: expected tests that can be run, got {why}")
    judgement = judge(run, right, sets)
    state, short = state_of(judgement)
    numbers: dict[str, object] = {"state": state, "tests": len(run.cells), "invalid": len(judgement.faults)}
    left = {version.kind for version in sets["shown"] if version.id not in judgement.killed}
    numbers["survived"] = sorted(left)
    for name, (killed, count) in judgement.rates.items():
        numbers[f"{name} killed"] = killed
        numbers[f"{name} of"] = count
    lines = []
    if run.left_out:
        lines.append(f"tests without the fixture rubric, which are not counted: {run.left_out}")
    if state == "done":
        return CheckResult("done", short, lines, numbers=numbers, judgement=judgement)
    overall = "started" if state == "weak" else "wrong"
    return CheckResult(overall, f"{state}: {short}", lines, numbers=numbers, judgement=judgement)


def state_of(judgement: Judgement) -> tuple[str, str]:
    """Invalid, weak or done, and a few words."""
    if judgement.faults:
        return "invalid", f"{len(judgement.faults)} of {len(judgement.cells)} tests misjudge a right verifier"
    short = ", ".join(f"{killed} of {count} {name}" for name, (killed, count) in judgement.rates.items())
    for name, share in ENOUGH.items():
        killed, count = judgement.rates[name]
        if killed < share * count:
            return "weak", short
    return "done", short


def _error(why: str) -> CheckResult:
    return CheckResult("wrong", "error: the tests cannot be judged", [why], numbers={"state": "error"})
