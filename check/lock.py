"""Machinery: whether a student's test notices that a file of the student's was spoiled.

A mended file stays mended where a test fails without the repair. The spoiled file and the mended one stand in the runs
that were made with them, so each is put back and the test meets both.

Covered
    A test that hangs, exits, does not load or prints: it runs in a process and a folder of its own, under limits.
Not covered
    A test that tells the two files apart by their text, or fails by chance. Code that means harm.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from check.kills import CORRECT_CLASS
from check.run_tests import run_tests
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, VerifierSource, task_of
from course.errors import UserError
from course.limited_process import Limits, Process
from course.text import clipped, quote
from course.verifier import Verifier

_LIMITS = Limits(seconds=60, output_mb=4)
_PASSED = 0  # exit statuses of pytest
_FAILED = 1
_NO_TESTS = 5
_OWN = "own"  # the class of a student's file among the verifiers
# The tests that tests/test_rubric.py ships with: some of the sabotages fail them, so they lock nothing of a student's.
_SHIPPED_TESTS = {
    "test_the_line_that_was_asked_for_gets_the_reward",
    "test_anything_else_gets_none[Final: 332-wrong_answer]",
    "test_anything_else_gets_none[323-missing_prefix]",
    r"test_anything_else_gets_none[17 * 19 = 323\nFinal: 323-not_single_line]",
    "test_anything_else_gets_none[Final: 323 apples-not_an_integer]",
}
_CORRECT_VERIFIERS = LAB / "data" / "verifiers" / "shown.jsonl"


class Versions(NamedTuple):
    """A file of the student's, as it was spoiled and as it is mended."""

    spoiled: bytes
    mended: bytes


def fault_of_tests(tests: Path, name: str, versions: Versions) -> str:
    """Why the tests do not lock ``exercises/NAME``, in one sentence; nothing where they do."""
    if not tests.is_file():
        return f"{tests}: expected your tests, got no such file"
    status, words = run_pytest(tests, name, versions.mended)
    if status == _NO_TESTS:
        return f"{tests}: expected a test, got none"
    if status != _PASSED:
        return f"{tests}: expected tests that your repaired exercises/{name} passes, got {words}"
    status, words = run_pytest(tests, name, versions.spoiled)
    if status == _PASSED:
        return f"{tests}: expected a test that your spoiled exercises/{name} fails, got none: it passes all of them"
    if status != _FAILED:
        return f"{tests}: expected a test that fails with your spoiled exercises/{name}, got {words}"
    return ""


def run_pytest(tests: Path, name: str, source: bytes) -> tuple[int, str]:
    """pytest's exit status and its last words, of these tests with ``source`` as ``exercises/NAME``."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    environment |= {"PYTHONPATH": str(LAB), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place)
        (folder / "exercises").mkdir()
        (folder / "exercises" / name).write_bytes(source)
        (folder / tests.name).write_bytes(tests.read_bytes())
        (folder / "pytest.ini").write_bytes(b"[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests.name]
        with Process(command, _LIMITS, working_folder=folder, environment=environment, folder=folder) as process:
            limit = process.wait()
        if limit or process.status is None:
            return -1, f"no end within {limit or 'its time'}"
        words = process.output.decode("utf-8", "replace").strip().split("\n")[-1]
        return process.status, quote(clipped(words, 120)) or f"exit status {process.status}"


def fault_of_rubric_tests(tests: Path, exploits: Path, versions: Versions) -> str:
    """The same of a reward spec, ``score(example, completion)``: a case among the exploits locks it, or a test."""
    if catches(exploits, versions) or kills(tests, versions.spoiled):
        return ""
    places = f"{exploits} or {tests}"
    return f"{places}: expected a case that your spoiled rule gets wrong and your repaired rule right, got none"


def catches(exploits: Path, versions: Versions) -> bool:
    """Whether the spoiled rule gets a case wrong that the mended one gets right."""
    if not exploits.is_file():
        return False
    cases = [case for case in read_records(exploits, GoldenCase) if case.completion]
    expected = [case.expected_reward for case in cases]
    spoiled = rewards_of(versions.spoiled, cases)
    mended = rewards_of(versions.mended, cases)
    return any(
        wrong != reward and right == reward for reward, wrong, right in zip(expected, spoiled, mended, strict=True)
    )


def rewards_of(source: bytes, cases: Sequence[GoldenCase]) -> list[float]:
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        path = Path(place) / "my_score.py"
        path.write_bytes(source)
        with Verifier(f"{path}:score") as verifier:
            results = verifier.results([(task_of(case), case.completion) for case in cases])
    return [float(result["reward"]) for result in results]


def kills(tests: Path, source: bytes) -> bool:
    """Whether a test of the student's own passes the correct verifiers and fails this source."""
    if not tests.is_file():
        return False
    spoiled = VerifierSource(
        id=_OWN,
        kind=_OWN,
        source=f"{source.decode('utf-8')}\n\ndef verify(example, completion):\n    return score(example, completion)\n",
        believes="",
    )
    shown = read_records(_CORRECT_VERIFIERS, VerifierSource)
    correct = [verifier for verifier in shown if verifier.kind == CORRECT_CLASS]
    run = run_tests(tests.read_bytes(), [*correct, spoiled])
    if run.error:
        raise UserError(f"{tests}: expected tests that can be judged, got {run.error}")
    for test, cells in run.cells.items():
        passes = [verifier.id in cells and cells[verifier.id].ending == "passed" for verifier in correct]
        if test not in _SHIPPED_TESTS and all(passes) and _OWN in cells and cells[_OWN].killed:
            return True
    return False
