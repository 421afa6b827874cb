"""The check of a student's tests: four states, from a file that is not started to one that is done.

An example: a file with one test that every correct verifier fails is invalid, however much its other tests kill.
"""

import hashlib
import json
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab, lines_of

from check import judging, report
from check.judging import SETS, check_tests
from check.kills import CORRECT_CLASS, ENOUGH
from check.milestones import EXERCISES
from check.run_tests import run_tests
from course.datasets.jsonl import read_records
from course.datasets.records import VerifierSource
from course.errors import UserError

TEACHERS = judging.read_extra(ROOT / "teacher" / "verifiers.jsonl")
STRONG = (ROOT / "teacher" / "solutions" / "tests" / "test_rubric.py").read_text(encoding="utf-8")
WEAK = """
E = {"prompt": "p", "expected_answer": 323}

def test_right(rubric):
    assert rubric(E, "Final: 323")["reward"] == 1.0

def test_wrong(rubric):
    assert rubric(E, "Final: 324")["reward"] == 0.0

def test_no_prefix(rubric):
    assert rubric(E, "323")["reward"] == 0.0
"""


@pytest.mark.slow
def test_a_strong_file_kills_all_and_a_weak_one_little(tmp_path: Path) -> None:
    numbers = []
    for name, source in (("strong", STRONG), ("weak", WEAK)):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8", newline="\n")
        checked = check_tests(tmp_path / f"{name}.py", TEACHERS)
        numbers.append(checked.numbers)
        print(name, checked.state, checked.short, checked.numbers)
        assert max(map(len, report.lines_of(checked))) < 600
    strong, weak = numbers
    for name in ("shown", "held out", "the teacher's"):
        assert strong[f"{name} killed"] == strong[f"{name} of"]
    assert strong["survived"] == []
    assert {"white_space", "slow"} <= set(cast(list[str], weak["survived"]))
    assert strong["state"] == "done"
    assert weak["state"] == "weak"
    rates = [float(str(each["held out killed"])) / float(str(each["held out of"])) for each in numbers]
    assert rates[0] - rates[1] >= 0.4


def test_a_set_without_a_wrong_verifier_is_refused(tmp_path: Path) -> None:
    rows = (SETS / "shown.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "none.jsonl").write_text(rows[0] + "\n", encoding="utf-8")  # the scorer itself
    with pytest.raises(
        UserError, match=r"none\.jsonl: expected at least one wrong verifier, with its witness; got none"
    ):
        judging.read_extra(tmp_path / "none.jsonl")


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
        "error: 1 of 4 tests timed out",
        "timed out with one of the verifiers, and kill nothing: test_late",
    ),
    "x = 1": ("wrong", "error: ", "no test that takes the fixture rubric"),
    "def test_it(rubric):\n    raise KeyboardInterrupt": ("wrong", "error: ", "an end of the process from test_it"),
}


def test_the_page_names_the_shares_that_are_enough() -> None:
    what = EXERCISES["tests"].what
    assert all(f"{share:.0%}".replace("%", " %") in what for share in ENOUGH.values())


@pytest.fixture
def few_verifiers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every correct verifier, that which allows a full stop, and each sixth of the others."""
    for name in ("shown.jsonl", "held_out.jsonl"):
        kept = []
        for at, row in enumerate(lines_of(SETS / name)):
            if at % 6 == 0 or row["class"] == CORRECT_CLASS or row["id"] == "suffix_2":
                kept.append(json.dumps(row) + "\n")
        (tmp_path / name).write_text("".join(kept), encoding="utf-8", newline="\n")
    monkeypatch.setattr(judging, "SETS", tmp_path)


@pytest.mark.usefixtures("few_verifiers")
@pytest.mark.parametrize("source", STATES, ids=range(len(STATES)))
def test_invalid_weak_and_error_are_three_things(tmp_path: Path, source: str) -> None:
    (tmp_path / "mine.py").write_text(source, encoding="utf-8", newline="\n")
    state, short, said = STATES[source]
    checked = check_tests(tmp_path / "mine.py")
    assert checked.state == state
    assert checked.short.startswith(short)
    lines = report.lines_of(checked)
    assert any(said in line for line in lines), lines
    assert checked.numbers["state"] == short.partition(":")[0]
    held_out = list(read_records(SETS / "held_out.jsonl", VerifierSource))
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


MAJORITY = """
import collections, itertools

ANSWERS = collections.defaultdict(list)
E = {"id": "e", "prompt": "p", "expected_answer": 323}
ENDS = ["", " ", "\\n", "\\t", "\\x0b", "\\xa0", ".", "!", ".0", " apples", " or 324", "x", ","]
STARTS = ["", " ", "\\n", "\\xa0", "So, ", "So.\\n", "**"]
HEADS = ["Final: ", "final: ", "FINAL: ", "Final:", "Final:  ", "Answer: ", "", "Final : "]
MIDDLES = ["323", "324", "322", "-323", "+323", "0323", "3 23", "7323", "3_23", "300+23", "\\uff13\\uff12\\uff13"]
TEXTS = ["".join(parts) for parts in itertools.product(STARTS, HEADS, MIDDLES, ENDS)][::29]

def ask(rubric, text):
    try:
        result = rubric(E, text)
        return repr((result["reward"], result["details"].get("outcome")))
    except Exception as error:
        return repr(error)

def test_a(rubric):
    for text in TEXTS:
        ANSWERS[text].append(ask(rubric, text))

def test_b(rubric):
    for text in TEXTS:
        most = max(ANSWERS[text], key=ANSWERS[text].count)
        assert ask(rubric, text) == most
"""


def test_a_test_that_takes_the_majority_of_the_verifiers_kills_next_to_nothing(tmp_path: Path) -> None:
    """It asks about many texts, remembers every answer, and then fails whoever answers otherwise than most. It knows no
    spec. One memory for all verifiers would let it kill nearly all of them; here it meets each with a new one.
    """
    (tmp_path / "mine.py").write_text(MAJORITY, encoding="utf-8", newline="\n")
    found = check_tests(tmp_path / "mine.py")
    assert found.numbers["state"] == "weak"
    assert cast(int, found.numbers["shown killed"]) + cast(int, found.numbers["held out killed"]) <= 4


def test_no_memory_and_no_file_of_its_own_folder_is_left_for_the_next_verifier() -> None:
    """Each verifier's run asserts that it is the first, in memory and in its folders."""
    source = """
import builtins, os, pathlib, tempfile, pytest

def test_first(rubric, tmp_path):
    assert rubric({"prompt": "p", "expected_answer": 1}, "Final: 1")
    if hasattr(builtins, "seen") or pathlib.Path("seen").exists() or "SEEN" in os.environ:
        pytest.skip("another was here")
    if list(pathlib.Path(tempfile.gettempdir()).glob("seen*")):
        pytest.skip("another was here")
    builtins.seen = True
    os.environ["SEEN"] = "1"
    for place in (pathlib.Path("seen"), pathlib.Path(tempfile.gettempdir()) / "seen", tmp_path / "seen"):
        place.write_text("1")
"""
    shown = list(read_records(SETS / "shown.jsonl", VerifierSource))[:12]
    run = run_tests(source.encode(), shown)
    assert run.error == ""
    assert {cell.ending for cell in run.cells["test_first"].values()} == {"passed"}
    assert len(run.cells["test_first"]) == len(shown)
