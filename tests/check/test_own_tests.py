"""The check of a student's tests: a file is done if its tests are right, and kill enough.

An example: a file with one test that every right verifier fails is wrong, however much its other tests kill.
"""

from pathlib import Path

import pytest
from conftest import ROOT, Lab

from check.milestones import EXERCISES
from check.own_tests import ENOUGH, VERIFIERS, check_tests
from check.result import CheckResult
from check.versions import read_versions

STRONG = (ROOT / "data" / "keys" / "tests" / "test_rubric.py").read_text(encoding="utf-8")
WEAK = """
E = {"prompt": "p", "expected_answer": 323}

def test_right(rubric):
    assert rubric(E, "Final: 323")["reward"] == 1.0

def test_wrong(rubric):
    assert rubric(E, "Final: 324")["reward"] == 0.0

def test_no_prefix(rubric):
    assert rubric(E, "323")["reward"] == 0.0
"""


def judge(lab: Lab, source: str) -> CheckResult:
    return check_tests(lab.write("tests/test_rubric.py", source))


def test_a_strong_file_kills_every_wrong_verifier_and_no_right_one(lab: Lab) -> None:
    result = judge(lab, STRONG)
    assert (result.state, result.short) == ("done", "45 of 45 shown, 65 of 65 held out")
    assert result.lines == [
        "shown: 45 of 45 killed, 100 % of them; 80 % is enough",
        "held out: 65 of 65 killed, 100 % of them; 60 % is enough",
    ]


def test_a_weak_file_gets_a_hint_and_is_told_what_is_shown_and_left(lab: Lab) -> None:
    result = judge(lab, WEAK)
    assert result.state == "started"
    killed = int(result.short.partition(" ")[0])
    hint, *left = result.lines[2:]
    assert hint == "hint: your tests let a verifier of the class white space through"
    assert len(left) == 45 - killed
    assert "not killed: a verifier that trims no-break spaces too" in left
    held_out = {version.believes for version in read_versions(VERIFIERS / "held_out.py")}
    assert not any(believed in line for believed in held_out for line in result.lines)


FAULTS = {  # what is added to the weak file -> what is said
    "def test_dot(rubric):\n    assert rubric(E, '323.')['reward'] == 1.0": "test_dot: every right verifier fails it",
    "def test_typo(rubric):\n    assert rubric(E, 'x')['detials']": "fails it, the scorer too: KeyError: 'detials'",
    "def test_words(rubric):\n    assert 'got' in rubric(E, 'x')['details']['message']": (
        "test_words: asks for more than the spec: it fails a right verifier that gives no message, and adds a note"
    ),
    "import pytest\n@pytest.mark.skip\ndef test_it(rubric): pass": "test_it: did not run",
}


@pytest.mark.parametrize("added", FAULTS)
def test_a_test_that_a_right_verifier_fails_kills_nothing(lab: Lab, added: str) -> None:
    killed = judge(lab, WEAK).lines[:2]
    result = judge(lab, f"{WEAK}\n{added}")
    assert (result.state, result.short) == ("wrong", "1 of 4 tests misjudge a right verifier")
    assert result.lines[:2] == killed
    assert FAULTS[added] in result.lines[2]


def test_what_ships_is_not_started_and_what_takes_no_rubric_is_not_counted(lab: Lab) -> None:
    assert judge(lab, (ROOT / "tests" / "test_rubric.py").read_text(encoding="utf-8")).state == "not started"
    assert "not counted: 1" in judge(lab, f"{WEAK}\ndef test_alone():\n    pass").lines[-1]
    assert "got no such file" in check_tests(Path("gone.py")).lines[0]
    result = judge(lab, "x = 1")
    assert (result.state, "no test that takes the fixture rubric" in result.lines[0]) == ("wrong", True)


def test_the_page_names_the_shares_that_are_enough() -> None:
    assert all(f"{share:.0%}".replace("%", " %") in EXERCISES["tests"].what for share in ENOUGH.values())
