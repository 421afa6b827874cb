"""The check of a student's tests: four states, from a file that is not started to one that is done.

An example: a file with one test that every correct verifier fails is invalid, however much its other tests kill.
"""

import hashlib
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab

from check import judging, report
from check.judging import VERIFIERS, check_tests
from check.kills import ENOUGH
from check.milestones import EXERCISES
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


def test_a_strong_file_kills_all_and_a_weak_one_little(tmp_path: Path) -> None:
    numbers = []
    for name, source in (("strong", STRONG), ("weak", WEAK)):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8", newline="\n")
        checked = check_tests(tmp_path / f"{name}.py")
        numbers.append(checked.numbers)
        assert max(map(len, report.lines_of(checked))) < 600
    strong, weak = numbers
    for name in ("shown", "held out"):
        assert strong[f"{name} killed"] == strong[f"{name} of"]
    assert strong["survived"] == []
    assert {"white_space", "slow"} <= set(cast(list[str], weak["survived"]))
    assert strong["state"] == "done"
    assert weak["state"] == "weak"
    rates = [float(str(each["held out killed"])) / float(str(each["held out of"])) for each in numbers]
    assert rates[0] - rates[1] >= 0.4


def test_what_was_not_touched_is_not_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_bytes(b"def test_it():\r\n    pass\r\n")
    monkeypatch.setattr(judging, "_AS_SHIPPED", hashlib.sha256(b"def test_it():\n    pass\n").hexdigest())
    checked = check_tests(tmp_path / "mine.py")
    assert (checked.state, checked.numbers) == ("not started", {"state": "not started"})
    assert "are a start" in checked.lines[0]


STATES = {  # what is in the file -> state, the beginning of the words for it, and what is said
    WEAK: ("started", "weak: ", "hint: no verifier of the class "),
    WEAK + "\ndef test_dot(rubric):\n    assert rubric(E, 'Final: 323.')['reward'] == 1.0": (
        "wrong",
        "invalid: 1 of 4 tests",
        "dot: misreads the spec: it agrees with a verifier that allows a full stop at the end",
    ),
    WEAK + "\ndef test_words(rubric):\n    assert 'got' in rubric(E, 'x')['details']['message']": (
        "wrong",
        "invalid: 1 of 4 tests",
        "words: asks for more than the spec: it fails a correct verifier that words its message otherwise",
    ),
    WEAK + "\ndef test_typo(rubric):\n    assert rubric(E, 'x')['detials']": (
        "wrong",
        "invalid: 1 of 4 tests",
        "typo: ends in an exception with every verifier: KeyError: 'detials'",
    ),
    "import nothing_of_this_name": ("wrong", "error: ", "expected tests that can be run, got ModuleNotFoundError: "),
    WEAK + "\ndef test_alone():\n    pass": (
        "started",
        "weak: ",
        "tests without the fixture rubric, which are not counted: 1",
    ),
    WEAK + "\ndef test_late(rubric):\n    rubric(E, 'x')\n    while True: pass": (
        "wrong",
        "error: the tests cannot be judged",
        "expected tests that can be run, got no end of test_late within",
    ),
    "x = 1": ("wrong", "error: ", "no test that takes the fixture rubric"),
}


def test_the_page_names_the_shares_that_are_enough() -> None:
    what = EXERCISES["tests"].what
    assert all(f"{share:.0%}".replace("%", " %") in what for share in ENOUGH.values())


@pytest.mark.parametrize("source", STATES, ids=range(len(STATES)))
def test_invalid_weak_and_error_are_three_things(tmp_path: Path, source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("check.judge._TEST_SECONDS", 0.5)
    (tmp_path / "mine.py").write_text(source, encoding="utf-8", newline="\n")
    state, short, said = STATES[source]
    checked = check_tests(tmp_path / "mine.py")
    assert checked.state == state
    assert checked.short.startswith(short)
    lines = report.lines_of(checked)
    assert any(said in line for line in lines), lines
    assert checked.numbers["state"] == short.partition(":")[0]
    held_out = read_versions(VERIFIERS / "held_out.py")
    assert not any(one.id in line or one.believes in line for one in held_out for line in lines)


def test_a_lost_file_is_an_error_and_the_command_says_what_to_do(lab: Lab) -> None:
    assert check_tests(Path("gone.py")).numbers["state"] == "error"
    done = lab("check", "tests")
    assert (done.status, done.err) == (1, "")
    assert "expected your tests, got: no such file or directory" in " ".join(done.out.split())
    lab.write("tests/test_rubric.py", WEAK)
    done = lab("check", "tests")
    assert done.status == 1
    assert max(map(len, done.out.split("\n"))) <= 80
    assert "of 45 killed" in done.out
