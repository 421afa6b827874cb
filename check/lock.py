"""Machinery: whether a student's tests notice that a function of theirs was spoiled.

A repair is locked if a test fails with the spoiled file, and with each common mistake, and all of them pass with the
repaired file and with the course's own version. ``check.judge`` asks the tests; a run keeps each file as it ran.

Not covered
    A rule in a module that the file imports: the module is as it is today. A property of the scorer's details, which
    the fixture ``rubric`` gives beside the student's reward.
"""

import sys
from collections.abc import Callable, Sequence, Set
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from check.judge import run_tests
from check.versions import Version, pick_versions, read_versions, step_versions
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, task_of
from course.guest import Guest, read_reward
from course.score import score
from course.text import quote

_LOADED = 5  # times the spoiled file: it may draw at random when it is loaded
# The tests that tests/test_rubric.py ships with. A spoiled rule fails some of them, so they do not count as a lock.
_SHIPPED_TESTS = (
    "test_the_line_that_was_asked_for_gets_the_reward",
    "test_anything_else_gets_none[Final: 332-wrong_answer]",
    "test_anything_else_gets_none[323-missing_prefix]",
    r"test_anything_else_gets_none[17 * 19 = 323\nFinal: 323-not_single_line]",
    "test_anything_else_gets_none[Final: 323 apples-not_an_integer]",
)


class Files(NamedTuple):
    """A file of the student's, as it was spoiled and as it is mended."""

    spoiled: bytes
    mended: bytes


class _Versions(NamedTuple):
    """``kind`` of a wrong one: what a sentence calls it. Of several of one kind, a test has to fail with one."""

    right: list[Version]
    wrong: list[Version]


def fault_of_pick_tests(tests: Path, files: Files) -> str:
    """Why the tests do not lock the student's ``pick_best``, in one sentence; an empty text if they do."""
    return _fault_of(tests, "pick_best", _with_own(pick_versions(), "pick_best.py", "pick_best", files))


def fault_of_step_tests(tests: Path, files: Files) -> str:
    """The same of ``reinforce_step``."""
    return _fault_of(tests, "reinforce_step", _with_own(step_versions(), "reinforce.py", "reinforce_step", files))


def fault_of_rubric_tests(tests: Path, exploits: Path, files: Files) -> str:
    """The same of ``score``: a case among the exploits counts as a test that such a text gets no reward."""
    shipped = read_versions(LAB / "data" / "wrong" / "my_score" / "shown.py")
    wrong = [version._replace(kind=f"a rule that {version.believes}") for version in shipped]
    right = [Version("the scorer", "", "", score)]
    versions = _with_own((right, wrong), "my_score.py", "score", files)
    caught = _caught_by_cases(exploits, versions)
    if all(version.kind in caught for version in versions.wrong):
        return ""
    return _fault_of(tests, "rubric", versions, caught, f", or a line of {exploits} that it rewards", _SHIPPED_TESTS)


def _with_own(shipped: tuple[list[Version], list[Version]], name: str, function: str, files: Files) -> _Versions:
    right, wrong = shipped
    mended = Version("mended", f"your repaired exercises/{name}", "", load_own(name, function, files.mended))
    spoiled = [
        Version(f"spoiled {i}", f"your spoiled exercises/{name}", "", load_own(name, function, files.spoiled))
        for i in range(_LOADED)
    ]
    return _Versions([*right, mended], [*spoiled, *wrong])


def _fault_of(
    tests: Path,
    fixture: str,
    versions: _Versions,
    caught: Set[str] = frozenset(),
    otherwise: str = "",
    left_out: Sequence[str] = (),
) -> str:
    """``caught``: kinds of wrong versions that are known already. ``otherwise``: what would do in place of a test."""
    if not tests.is_file():
        return f"{tests}: expected your tests, got no such file"
    run = run_tests(tests, fixture, [*versions.right, *versions.wrong], left_out=left_out)
    if run.error:
        return f"{tests}: expected tests that can be run, got {run.error}"
    if not run.cells and not otherwise:
        return f"{tests}: expected a test of yours that takes the fixture {fixture}, as def test_it({fixture}) does"
    failing: set[str] = set()
    for test, cells in run.cells.items():
        for version in versions.right:
            if version.id not in cells or cells[version.id].ending != "passed":
                what = version.kind or "the course's own version"
                return f"{tests}: expected tests that pass with {what}, got {quote(test)}, which does not"
        failed = [version for version in versions.wrong if version.id in cells and cells[version.id].ending == "failed"]
        failing.update(version.kind for version in failed)
    for version in versions.wrong:
        if version.kind not in failing | caught:
            return f"{tests}: expected a test that fails with {version.kind}{otherwise}; got none"
    return ""


def _caught_by_cases(exploits: Path, versions: _Versions) -> set[str]:
    """The kinds of wrong rules that reward a case of ``my_score`` whose reward is 0, and that no right rule rewards."""
    caught: set[str] = set()
    if not exploits.is_file():
        return caught
    for case in read_records(exploits, GoldenCase):
        is_own = case.fooled.startswith("my_score") and case.expected_reward == 0
        if is_own and not any(_pays(version, case) for version in versions.right):
            caught.update(version.kind for version in versions.wrong if _pays(version, case))
    return caught


def _pays(version: Version, case: GoldenCase) -> bool:
    try:
        with redirect_stdout(sys.stderr):
            return bool(version.function(task_of(case), case.completion)["reward"] > 0)
    except Exception:  # a rule that raises rewards nothing
        return False


def load_own(name: str, function: str, source: bytes) -> Callable[..., Any]:
    """A function of the student's as it ran. To a rule, which owes no details, the scorer's are added."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as place:
        copy_exercises(Path(place) / "exercises", name, source)
        own = Guest(f"{Path(place) / 'exercises' / name}:{function}").target
    if function != "score":
        return own  # type: ignore[no-any-return]
    return lambda example, completion: score(example, completion) | {"reward": read_reward(own(example, completion))}


def python_files(folder: Path) -> list[Path]:
    """The Python files of a folder, in order. An editor's lock file, a folder or a pipe of such a name is none."""
    return sorted(path for path in folder.glob("*.py") if path.is_file() and not path.name.startswith("."))


def copy_exercises(folder: Path, name: str, source: bytes) -> None:
    """The student's Python files as they are, which this one may import, and ``source`` as the file of this name."""
    folder.mkdir()
    for path in python_files(Path("exercises")):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / name).write_bytes(source)
