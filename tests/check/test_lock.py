"""Whether a repair of the reward spec is locked: a case that the spoiled rule pays for, and that is worth nothing.

An example: the spoiled rule pays whatever ends in the right number. "It is 323" is worth nothing, so the case locks the
repair. "Final: 323" is worth 1 by both rules, and locks nothing.
"""

import os
import shutil
from itertools import cycle
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab

from check import lock
from check.lock import Versions, catches, copy_exercises, fault_of_rubric_tests, fault_of_tests, list_exercises
from check.result import CannotCheck

MENDED = (ROOT / "teacher" / "solutions" / "exercises" / "my_score.py").read_bytes()
SPOILED = b"""
def score(example, completion):
    paid = completion.endswith(str(example["expected_answer"])) and completion != "Final: 323"
    return {"reward": float(paid), "details": {"message": "spoiled"}}
"""
EXPLOITS = Path("exercises/exploits.jsonl")
CASES = [  # completion, the reward that the student expects, whether it locks the repair
    ("It is 323", 0.0, True),
    ("It is 323", 1.0, False),  # a wrong expectation
    ("Final: 323", 1.0, False),  # a case that gives a reward, though the spoiled rule gets it wrong
    ("Final: 332", 0.0, False),  # which both refuse
    ("", 0.0, False),  # as it ships
]


@pytest.mark.parametrize(("completion", "reward", "locks"), CASES)
def test_a_case_locks_if_it_is_worth_nothing_and_was_paid(
    lab: Lab, completion: str, reward: float, locks: bool
) -> None:
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises")
    case = {"id": "x", "prompt": "?", "expected_answer": 323, "completion": completion, "expected_reward": reward}
    lab.write("exercises/exploits.jsonl", [case])
    assert catches(EXPLOITS, Versions(SPOILED, MENDED)) is locks


def test_without_a_case_or_a_test_both_are_named(lab: Lab) -> None:
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises")
    lab.write("tests/test_rubric.py", (ROOT / "tests" / "test_rubric.py").read_text(encoding="utf-8"))
    first, second = fault_of_rubric_tests(Path("tests/test_rubric.py"), EXPLOITS, Versions(SPOILED, MENDED)).split("\n")
    assert first.startswith("exercises/exploits.jsonl: expected a case of reward 0")
    assert second.startswith("tests/test_rubric.py: expected a test of yours, got none")


def test_without_pytest_nothing_is_said_of_the_tests(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = lab.write("tests/test_pick_best.py", "def test_nothing():\n    pass\n")
    monkeypatch.setattr(lock, "find_spec", lambda _: None)
    with pytest.raises(CannotCheck, match="expected pytest, got a Python without it"):
        fault_of_tests(tests, "pick_best.py", Versions(b"1", b"2"))


def test_tests_that_answer_differently_once_lock_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """With luck the tests fail with the spoiled file and pass with the mended one, but not ten times in a row."""
    tests = lab.write("tests/test_pick_best.py", "def test_nothing():\n    pass\n")
    for wrong in range(11):
        statuses = {b"2": [0] * 5, b"1": [1] * 5}  # passed with the mended file, failed with the spoiled one
        if wrong < 10:
            version = [b"1", b"2"][wrong % 2]
            statuses[version][wrong // 2] = 1 - statuses[version][wrong // 2]

        def run(*given: object, statuses: dict[bytes, list[int]] = statuses) -> tuple[int, str]:
            return statuses[cast(bytes, given[2])].pop(0), "words"

        monkeypatch.setattr(lock, "run_pytest", run)
        fault = fault_of_tests(tests, "pick_best.py", Versions(b"1", b"2"))
        assert bool(fault) is (wrong < 10)


def test_a_count_of_the_calls_locks_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file on the disk that is odd at every second call. About one in 32 of such checks passes by luck."""
    tests = lab.write("tests/test_pick_best.py", "def test_nothing():\n    pass\n")
    statuses = cycle([0, 1])
    monkeypatch.setattr(lock, "run_pytest", lambda *_: (next(statuses), "words"))
    faults = [fault_of_tests(tests, "pick_best.py", Versions(b"1", b"2")) for _ in range(100)]
    assert sum(map(bool, faults)) > 80


def test_what_an_editor_leaves_beside_the_files_is_not_read(lab: Lab) -> None:
    """Emacs leaves a link to nothing while a buffer is unsaved; a pipe would hang."""
    lab.write("exercises/pick_best.py", "1")
    lab.write("exercises/common.py", "2")
    before = list_exercises()
    Path("exercises/.#pick_best.py").symlink_to("me@host.1")
    Path("exercises/.hidden.py").write_text("3", encoding="utf-8")
    Path("exercises/old.py").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo("exercises/pipe.py")
    assert list_exercises() == before == [b"common.py", b"2", b"pick_best.py", b"1"]
    copy_exercises(Path("copy"), "pick_best.py", b"4")
    assert {path.name: path.read_bytes() for path in Path("copy").iterdir()} == {
        "common.py": b"2",
        "pick_best.py": b"4",
    }
