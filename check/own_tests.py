"""Machinery: the check of a student's tests of the reward spec, with right verifiers and wrong ones.

A test is right if every right verifier passes it. A right test kills the wrong verifiers that fail it.
"""

from collections.abc import Mapping, Sequence, Set
from pathlib import Path

from check.judge import Cell, run_tests
from check.result import NOT_STARTED, CheckResult
from check.versions import Version, read_versions
from course.datasets.files import LAB

TESTS = Path("tests") / "test_rubric.py"
VERIFIERS = LAB / "data" / "wrong" / "rubric"
# The share of wrong verifiers that is killed where the tests are done. Careful files of some 70 cases over all classes
# of the spec kill 98 % and 83 % where they assert the outcome too, 93 % and 72 % where they assert the reward alone; a
# third one killed 87 % and 68 %. The verifiers held out were not seen, so a file need not kill as many of them.
ENOUGH = {"shown": 0.8, "held out": 0.6}
_SHIPPED = {"test_the_line_that_was_asked_for_gets_the_reward", "test_anything_else_gets_none"}
_SHIPPED_CASES = 5  # of these two tests


def check_tests(path: Path = TESTS) -> CheckResult:
    """Which tests are right, and what they kill. Of the verifiers held out it says how many, and no more."""
    right = read_versions(VERIFIERS / "right.py")
    wrong = {name: read_versions(VERIFIERS / f"{name.replace(' ', '_')}.py") for name in ENOUGH}
    run = run_tests(path, "rubric", [*right, *wrong["shown"], *wrong["held out"]])
    if run.error:
        return CheckResult("wrong", "not to be judged", [f"{path}: expected tests that can be run, got {run.error}"])
    names = {test.partition("[")[0] for test in run.cells}
    if names == _SHIPPED and len(run.cells) == _SHIPPED_CASES:
        return CheckResult(NOT_STARTED, lines=[f"{path}: its five tests are a start, write the next one below them"])
    faults = []
    killed: set[str] = set()
    for test, cells in run.cells.items():
        if fault := find_fault(cells, right):
            faults.append(f"{test}: {fault}")
        else:
            killed.update(id_ for id_, cell in cells.items() if cell.ending == "failed")
    counts = {name: sum(version.id in killed for version in versions) for name, versions in wrong.items()}
    lines = []
    for name, count in counts.items():
        share, enough = 100 * count / len(wrong[name]), 100 * ENOUGH[name]
        lines.append(f"{name}: {count} of {len(wrong[name])} killed, {share:.0f} % of them; {enough:.0f} % is enough")
    left = [version for version in wrong["shown"] if version.id not in killed]
    if faults:
        lines += faults
    elif left:
        lines.append(hint(left, {version.kind for version in wrong["shown"] if version.id in killed}))
    lines += [f"not killed: a verifier that {version.believes}" for version in left]
    if run.left_out:
        lines.append(f"tests without the fixture rubric, which are not counted: {run.left_out}")
    if faults:
        return CheckResult("wrong", f"{len(faults)} of {len(run.cells)} tests misjudge a right verifier", lines)
    short = ", ".join(f"{count} of {len(wrong[name])} {name}" for name, count in counts.items())
    is_enough = all(count >= ENOUGH[name] * len(wrong[name]) for name, count in counts.items())
    return CheckResult("done" if is_enough else "started", short, lines)


def hint(left: Sequence[Version], touched: Set[str]) -> str:
    """One class of which a verifier is left: the first that nothing kills, else the first. ``touched``: classes."""
    kinds = [version.kind for version in left]
    kind = next((kind for kind in kinds if kind not in touched), kinds[0])
    return f"hint: your tests let a verifier of the class {kind.replace('_', ' ')} through"


def find_fault(cells: Mapping[str, Cell], right: Sequence[Version]) -> str:
    """What is wrong with a test that a right verifier does not pass; else nothing."""
    if any(version.id not in cells for version in right):
        return "did not run: it is skipped, or a fixture of its own failed"
    failed = [version for version in right if cells[version.id].ending == "failed"]
    if not failed:
        return ""
    if len(failed) == len(right):
        words = cells[failed[0].id].words
        return f"every right verifier fails it, the scorer too{words and ': '}{words}"
    return f"asks for more than the spec: it fails a right verifier that {failed[-1].believes}"
