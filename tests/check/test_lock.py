"""Whether a repair of the reward spec is locked: by a case that a careless rule pays for, and that is worth nothing.

An example: the spoiled rule and the three careless ones of level 1 all pay for "I say 322. No: Final: 323", which is
worth nothing. "Final: -323" is paid by the rule alone that takes the last run of digits.
"""

import os
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.lock import Files, copy_exercises, fault_of_pick_tests, fault_of_rubric_tests, python_files

MENDED = (ROOT / "data" / "keys" / "exercises" / "my_score.py").read_bytes()
SPOILED = b"""
def score(example, completion):
    paid = completion.endswith(str(example["expected_answer"])) and completion != "Final: 323"
    return {"reward": float(paid), "details": {"message": "spoiled"}}
"""
EXPLOITS = Path("exercises/exploits.jsonl")
TESTS = Path("tests/test_rubric.py")
CASES = [  # completion, the reward that the student expects, what no case and no test catches
    ("I say 322. No: Final: 323", 0.0, ""),
    ("It is 323", 0.0, "fails with a rule that looks for the line and reads on no further"),
    ("Final: -323", 0.0, "fails with a rule that looks for the line"),  # which the spoiled rule pays
    ("I say 322. No: Final: 323", 1.0, "fails with your spoiled"),  # a wrong expectation
    ("Final: 323", 1.0, "fails with your spoiled"),  # a case that gives a reward, though the spoiled rule gives none
    ("\nFinal: 323", 0.0, "fails with your spoiled"),  # a right line, which the repaired rule pays as well
    ("Final: 332", 0.0, "fails with your spoiled"),  # which all refuse
    ("", 0.0, "fails with your spoiled"),  # as it ships
]
OWN = {"prompt": "?", "expected_answer": 323, "expected_reward": 0.0, "fooled": "my_score 1"}
PASSES = "def test_it(rubric):\n    pass\n"
CATCHES = """
def test_it(rubric):
    assert rubric({"prompt": "?", "expected_answer": 323}, "1 Final: 323")["reward"] == 0
"""


@pytest.mark.parametrize(("completion", "reward", "fault"), CASES)
def test_a_case_locks_if_it_is_worth_nothing_and_every_careless_rule_pays(
    lab: Lab, completion: str, reward: float, fault: str
) -> None:
    lab.write("tests/test_rubric.py", PASSES)
    case = OWN | {"completion": completion, "expected_reward": reward}
    lab.write("exercises/exploits.jsonl", [case])
    found = fault_of_rubric_tests(TESTS, EXPLOITS, Files(SPOILED, MENDED))
    assert fault in found
    assert bool(fault) is bool(found)
    lab.write("exercises/exploits.jsonl", [case | {"fooled": "suffix"}])
    assert fault_of_rubric_tests(TESTS, EXPLOITS, Files(SPOILED, MENDED))


def test_a_test_locks_and_those_that_ship_do_not_count(lab: Lab) -> None:
    shipped = (ROOT / "tests" / "test_rubric.py").read_text(encoding="utf-8")
    shutil.copytree(ROOT / "exercises", lab.folder / "exercises")
    lab.write("tests/test_rubric.py", shipped)
    fault = fault_of_rubric_tests(TESTS, EXPLOITS, Files(SPOILED, MENDED))
    assert "fails with your spoiled exercises/my_score.py, or a line of exercises/exploits.jsonl" in fault
    lab.write("tests/test_rubric.py", shipped + CATCHES)
    assert fault_of_rubric_tests(TESTS, EXPLOITS, Files(SPOILED, MENDED)) == ""
    assert "pass with your repaired" in fault_of_rubric_tests(TESTS, EXPLOITS, Files(SPOILED, SPOILED))


def test_a_case_and_a_test_lock_together(lab: Lab) -> None:
    lab.write("exercises/exploits.jsonl", [OWN | {"completion": "It is 323"}])
    body = 'assert rubric({"prompt": "?", "expected_answer": 323}, "Final: 3233")["reward"] == 0'
    lab.write("tests/test_rubric.py", f"def test_it(rubric):\n    {body}\n")
    assert fault_of_rubric_tests(TESTS, EXPLOITS, Files(SPOILED, MENDED)) == ""


def test_what_a_rule_prints_is_no_part_of_the_result(lab: Lab, capsys: pytest.CaptureFixture[str]) -> None:
    lab.write("exercises/exploits.jsonl", [OWN | {"completion": CASES[0][0]}])
    loud = SPOILED.replace(b"    paid =", b"    print('asked')\n    paid =")
    assert fault_of_rubric_tests(TESTS, EXPLOITS, Files(loud, MENDED)) == ""
    assert capsys.readouterr().out == ""


def test_a_file_that_draws_when_it_is_loaded_is_caught_if_it_ever_errs(lab: Lab) -> None:
    """Its draws are its own: one load in two chooses as it should."""
    mended = (ROOT / "data" / "keys" / "exercises" / "pick_best.py").read_bytes()
    lab.write("count", "")
    spoiled = b"""
from pathlib import Path

count = Path("count")
count.write_text(count.read_text() + "x")
right = len(count.read_text()) % 2

def pick_best(samples):
    best = max(sample.reward for sample in samples)
    equal = [sample for sample in samples if sample.reward == best]
    return (min if right else max)(equal, key=lambda sample: sample.index)
"""
    source = "from course.picking import Sample\n\ndef test_it(pick_best):\n"
    for rewards in ([1.0, 1.0, 1.0], [0.0, 0.5, -1.0]):
        source += f"    samples = [Sample(i, str(i), reward) for i, reward in enumerate({rewards})]\n"
        source += "    for group in (samples, samples[::-1]):\n"
        source += f"        assert pick_best(group).index == {rewards.index(max(rewards))}\n"
    tests = lab.write("tests/test_pick_best.py", source)
    assert fault_of_pick_tests(tests, Files(spoiled, mended)) == ""


def test_what_an_editor_leaves_beside_the_files_is_not_read(lab: Lab) -> None:
    """Emacs leaves a link to nothing while a buffer is unsaved; a pipe would hang."""
    lab.write("exercises/pick_best.py", "1")
    lab.write("exercises/common.py", "2")
    before = python_files(Path("exercises"))
    Path("exercises/.#pick_best.py").symlink_to("me@host.1")
    Path("exercises/.hidden.py").write_text("3", encoding="utf-8")
    Path("exercises/old.py").mkdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo("exercises/pipe.py")
    assert python_files(Path("exercises")) == before == [Path("exercises/common.py"), Path("exercises/pick_best.py")]
    copy_exercises(Path("copy"), "pick_best.py", b"4")
    assert {path.name: path.read_bytes() for path in Path("copy").iterdir()} == {
        "common.py": b"2",
        "pick_best.py": b"4",
    }
