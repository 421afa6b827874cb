"""Machinery: whether a student's tests notice that the student's own file was spoiled.

A repair is locked if a test fails with the spoiled file and passes with the mended one. The runs keep both files as
they ran. Each is put back beside the student's other files, and the tests meet both, several times.

Covered
    A test or a file that hangs, exits, does not load or prints: each runs in a process and a folder of its own, under
    limits. A test that fails by chance, nearly always; one that counts its calls, because the order is drawn. A case
    that gives a reward: only a text that is worth nothing, and that the spoiled rule pays, shows the hole.
Not covered
    A test that tells the two files apart by their text. A test that counts on the disk how often it was called: the
    drawn order suits it once in 32. A property of the scorer's details, which the rubric's fixture gives beside the
    student's reward. A rule in a module that the file imports: the module is as it is today. Code that means harm.
"""

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from random import SystemRandom
from tempfile import TemporaryDirectory
from typing import NamedTuple

from check.result import CannotCheck
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of
from course.errors import UserError
from course.guest import OwnRubric
from course.limited_process import Limits, Process
from course.starting import PYTHON
from course.text import clipped, quote

_LIMITS = Limits(seconds=60, output_mb=4)
_PASSED = 0  # exit statuses of pytest
_FAILED = 1
_NO_TESTS = 5
_TIMES = 5  # that a test meets each file: a coin in place of a test is believed once in 1,024
# The tests that tests/test_rubric.py ships with. A spoiled rule fails some of them, so they do not count as a lock.
_SHIPPED_TESTS = (
    "test_the_line_that_was_asked_for_gets_the_reward",
    "test_anything_else_gets_none[Final: 332-wrong_answer]",
    "test_anything_else_gets_none[323-missing_prefix]",
    r"test_anything_else_gets_none[17 * 19 = 323\nFinal: 323-not_single_line]",
    "test_anything_else_gets_none[Final: 323 apples-not_an_integer]",
)
# The fixture of tests of the spec. A student's rule owes no details, so those of the scorer stand beside its reward.
_RUBRIC_FIXTURE = """
import pytest
from course.score import score as scorer
from exercises.my_score import score


@pytest.fixture
def rubric():
    def judge(example, completion):
        result = score(example, completion)
        reward = result["reward"] if isinstance(result, dict) else result
        return scorer(example, completion) | {"reward": reward}

    return judge
"""


class Versions(NamedTuple):
    """A file of the student's, as it was spoiled and as it is mended."""

    spoiled: bytes
    mended: bytes


def fault_of_tests(
    tests: Path, name: str, versions: Versions, *, left_out: Sequence[str] = (), fixture: str = ""
) -> str:
    """Why the tests do not lock ``exercises/NAME``, in one sentence; an empty text if they do.

    Raises CannotCheck if this Python has no pytest.

    ``left_out``: tests that do not count. ``fixture``: the text of a conftest.py.
    """
    if not tests.is_file():
        return f"{tests}: expected your tests, got no such file"
    if find_spec("pytest") is None:
        raise CannotCheck(f"{tests}: expected pytest, got a Python without it; {PYTHON} lab.py fetches it")
    if versions.spoiled == versions.mended:
        return f"expected a spoiled exercises/{name}, got the mended one; spoil the file itself, not a module of yours"
    for _ in range(_TIMES):
        outcomes = {
            version: run_pytest(tests, name, version, left_out, fixture)
            for version in SystemRandom().sample(versions, 2)
        }
        status, words = outcomes[versions.mended]
        if status == _NO_TESTS:
            return f"{tests}: expected a test of yours, got none"
        if status != _PASSED:
            return f"{tests}: expected tests that your repaired exercises/{name} passes, got {words}"
        status, words = outcomes[versions.spoiled]
        if status == _PASSED:
            return f"{tests}: expected a test that your spoiled exercises/{name} fails, got none: it passes all of them"
        if status != _FAILED:
            return f"{tests}: expected a test that fails with your spoiled exercises/{name}, got {words}"
    return ""


def run_pytest(tests: Path, name: str, source: bytes, left_out: Sequence[str], fixture: str) -> tuple[int, str]:
    """pytest's exit status and its last words, of these tests with ``source`` as ``exercises/NAME``."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "PYTEST"))}
    environment |= {"PYTHONPATH": str(LAB), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place)
        copy_exercises(folder / "exercises", name, source)
        (folder / tests.name).write_bytes(tests.read_bytes())
        (folder / "conftest.py").write_text(fixture, encoding="utf-8")
        (folder / "pytest.ini").write_bytes(b"[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests.name]
        for test in left_out:
            command += ["--deselect", f"{tests.name}::{test}"]
        with Process(command, _LIMITS, working_folder=folder, environment=environment, folder=folder) as process:
            limit = process.wait()
        status = process.status
        if limit or status is None:
            return -1, f"no end within {limit or 'its time'}"
        words = process.output.decode("utf-8", "replace").strip().split("\n")[-1]
        return status, quote(clipped(words, 120)) or f"exit status {status}"


def list_exercises(folder: Path = Path("exercises")) -> list[bytes]:
    """The names and the bytes of the student's Python files, in order."""
    parts = []
    for path in python_files(folder):
        parts += [path.name.encode("utf-8", "surrogateescape"), path.read_bytes()]
    return parts


def python_files(folder: Path) -> list[Path]:
    """The Python files of a folder, in order. An editor's lock file, a folder or a pipe of such a name is none."""
    return sorted(path for path in folder.glob("*.py") if path.is_file() and not path.name.startswith("."))


def copy_exercises(folder: Path, name: str, source: bytes) -> None:
    """The student's Python files as they are, which this one may import, and ``source`` as the file of this name."""
    folder.mkdir()
    for path in python_files(Path("exercises")):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / name).write_bytes(source)


def fault_of_rubric_tests(tests: Path, exploits: Path, versions: Versions) -> str:
    """Why nothing locks the student's ``score``; an empty text if a case among the exploits or a test does."""
    if catches(exploits, versions):
        return ""
    name = "my_score.py"
    fault = fault_of_tests(tests, name, versions, left_out=_SHIPPED_TESTS, fixture=_RUBRIC_FIXTURE)
    if fault:
        expected = "expected a case of reward 0 that your spoiled rule pays and your repaired rule does not, got none"
        return f"{exploits}: {expected}\n{fault}"
    return ""


def catches(exploits: Path, versions: Versions) -> bool:
    """Whether the spoiled rule pays for a case whose reward is 0, and the mended one does not."""
    if not exploits.is_file():
        return False
    cases = [case for case in read_records(exploits, GoldenCase) if case.completion and case.expected_reward == 0]
    spoiled = rewards_of(versions.spoiled, cases)
    mended = rewards_of(versions.mended, cases)
    return any(before is not None and before > 0 and after == 0 for before, after in zip(spoiled, mended, strict=True))


def rewards_of(source: bytes, cases: Sequence[GoldenCase]) -> list[float | None]:
    """What the rule gives for each case; None where it gives no reward."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        folder = Path(place) / "exercises"
        copy_exercises(folder, "my_score.py", source)
        try:
            rule = OwnRubric(f"{folder / 'my_score.py'}:score")
            answers = rule.answers([(task_of(case), case.completion) for case in cases])
        except UserError:  # it cannot be loaded by itself
            return [None for _ in cases]
    return [answer.reward for answer in answers]
