"""Machinery: whether a repair is locked: by tests, or for a reward spec by cases, that notice when it is spoiled.

The student's spoiled file and each common mistake have to be caught; the repaired file and the course's own version
must not be. A run keeps each file as it ran, so what became of the file since then does not matter.
"""

from pathlib import Path

from check.judge import run_tests
from check.oracles import FUNCTIONS
from check.versions import Version, pick_versions, read_versions, step_versions
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of
from course.guest import Guest, OwnRubric
from course.rubrics import Rubric
from course.text import quote

CASES = Path("exercises") / "exploits.jsonl"
_VERSIONS = {"pick_best": pick_versions, "reinforce_step": step_versions}
_LOADED = 5  # how often the spoiled file is loaded: it may draw at random then


def fault_of_tests(function: str, spoiled: Path, repaired: Path) -> str:
    """Why the student's tests do not lock a function of theirs, in one sentence; an empty text if they do."""
    right, wrong = _VERSIONS[function]()
    right.append(Version("repaired", "your repaired file", "", Guest(f"{repaired}:{function}").target))
    for number in range(_LOADED):
        wrong.insert(0, Version(f"spoiled {number}", "your spoiled file", "", Guest(f"{spoiled}:{function}").target))
    tests = Path("tests") / f"test_{FUNCTIONS[function].file}.py"
    run = run_tests(tests, function, [*right, *wrong])
    if run.error:
        return f"{tests}: expected tests that can be run, got {run.error}"
    caught: set[str] = set()
    for test, cells in run.cells.items():
        for version in right:
            if version.id not in cells or cells[version.id].ending != "passed":
                return f"{tests}: expected tests that pass with {version.kind}, got {quote(test)}, which does not"
        caught.update(version.kind for version in wrong if cells[version.id].ending == "failed")
    missed = next((version.kind for version in wrong if version.kind not in caught), "")
    return f"{tests}: expected a test that fails with {missed}; got none" if missed else ""


def fault_of_cases(function: str, spoiled: Path, repaired: Path) -> str:
    """The same of a reward spec, which a case of ``my_score`` with the reward 0 locks, if careless rules pay for it."""
    right = OwnRubric(f"{repaired}:{function}")
    careless: dict[str, Rubric] = {"your spoiled file": OwnRubric(f"{spoiled}:{function}")}
    for version in read_versions(LAB / "data" / "wrong" / "my_score" / "shown.py"):
        careless[f"a rule that {version.believes}"] = version.function
    cases = []
    for case in read_records(CASES, GoldenCase):
        is_own = case.fooled.partition(" ")[0] == "my_score" and case.expected_reward == 0
        if is_own and right(task_of(case), case.completion)["reward"] == 0:
            cases.append((task_of(case), case.completion))
    for name, rule in careless.items():
        if not any(rule(*case)["reward"] > 0 for case in cases):
            expected = f'expected a line with "fooled": "my_score 1" for which {name} pays, and your repaired file not'
            return f"{CASES}: {expected}; got none"
    return ""
