"""Whether a repair is locked: by cases that careless rules pay for and that are worth nothing, or by tests.

An example: the spoiled rule and the three careless ones of level 1 all pay for "I say 322. No: Final: 323", which is
worth nothing. "Final: -323" is paid by the rule alone that takes the last run of digits.
"""

from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.lock import fault_of_cases, fault_of_tests

KEYS = ROOT / "data" / "keys" / "exercises"
SPOILED = """
def score(example, completion):
    paid = completion.endswith(str(example["expected_answer"])) and completion != "Final: 323"
    return {"reward": float(paid), "details": {"message": "spoiled"}}
"""
CASES = [  # completion, the reward that the student expects, which rule no case catches
    ("I say 322. No: Final: 323", 0.0, ""),
    ("It is 323", 0.0, "a rule that looks for the line and reads on no further pays"),
    ("I say 322. No: Final: 323", 1.0, "your spoiled file pays"),  # a wrong expectation
    ("\nFinal: 323", 0.0, "your spoiled file pays"),  # a right line, which the repaired rule pays as well
    ("Final: 332", 0.0, "your spoiled file pays"),  # which all refuse
]


@pytest.mark.parametrize(("completion", "reward", "fault"), CASES)
def test_a_case_locks_if_it_is_worth_nothing_and_every_careless_rule_pays(
    lab: Lab, completion: str, reward: float, fault: str
) -> None:
    spoiled = lab.write("runs/spoiled/rubric.py", SPOILED)
    case = {"prompt": "?", "expected_answer": 323, "completion": completion, "expected_reward": reward}
    for fooled, said in (("my_score 1", fault), ("suffix", "your spoiled file")):
        lab.write("exercises/exploits.jsonl", [case | {"fooled": fooled}])
        found = fault_of_cases("score", spoiled, KEYS / "my_score.py")
        assert (said in found, bool(found)) == (True, bool(said))


BY_CHANCE = """
from pathlib import Path

count = Path("count")
count.write_text(count.read_text() + "x")
right = len(count.read_text()) % 2

def pick_best(samples):
    best = max(sample.reward for sample in samples)
    equal = [sample for sample in samples if sample.reward == best]
    return (min if right else max)(equal, key=lambda sample: sample.index)
"""
TESTS = """
import pytest
from course.picking import Sample

def test_it(pick_best):
    for rewards in ([1.0, 1.0, 1.0], [0.0, 0.5, -1.0]):
        samples = [Sample(i, str(i), reward) for i, reward in enumerate(rewards)]
        for group in (samples, samples[::-1]):
            assert pick_best(group).index == rewards.index(max(rewards))
"""


@pytest.mark.parametrize(
    ("tests", "fault"),
    [
        (TESTS, ""),
        (TESTS.replace("[1.0, 1.0, 1.0]", "[0.0, 1.0]"), "expected a test that fails with your spoiled file"),
        (
            TESTS.replace("[0.0, 0.5, -1.0]", "[1.0, 1.0]"),
            "fails with a pick_best that looks like the first that was drawn",
        ),
        (TESTS.replace("rewards.index(max", "rewards.index(min"), "that pass with the course's own version, got test_"),
        (TESTS.replace("def test_it", "@pytest.mark.skip\ndef test_it"), "got test_it, which does not"),
        (TESTS.replace("import pytest", "import nothing"), "can be run, got ModuleNotFoundError"),
        ("", "no test that takes the fixture pick_best"),
    ],
    ids=range(7),
)
def test_tests_lock_if_each_common_mistake_fails_one_of_them(lab: Lab, tests: str, fault: str) -> None:
    """The spoiled file draws when it is loaded, and chooses as it should in every second load."""
    lab.write("count", "")
    lab.write("tests/test_pick_best.py", tests)
    spoiled = lab.write("runs/spoiled/pick.py", BY_CHANCE)
    found = fault_of_tests("pick_best", spoiled, KEYS / "pick_best.py")
    assert (fault in found, bool(found)) == (True, bool(fault)), found


def test_a_repair_that_is_none_is_named(lab: Lab) -> None:
    lab.write("count", "")
    lab.write("tests/test_pick_best.py", TESTS)
    spoiled = lab.write("runs/spoiled/pick.py", BY_CHANCE.replace("min if right else max", "max"))
    assert "pass with your repaired file, got test_it" in fault_of_tests("pick_best", spoiled, spoiled)
    assert not Path("exercises").exists()
