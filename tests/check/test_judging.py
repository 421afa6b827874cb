"""What a student is told of his tests: four states, what a wrong test believes, what is padding, which few are enough.

An example: a test that wants the reward for ``Final: 323.`` misreads the spec, and agrees with the verifier that allows
a full stop at the end.
"""

import hashlib
import json
from itertools import combinations
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab, lines_of
from hypothesis import given, settings
from hypothesis import strategies as st

from check import judging
from check.judging import SETS, check_tests, judge, padding, smallest
from check.milestones import EXERCISES
from check.mutation import CORRECT_CLASS, run_tests
from check.report_tests import ENOUGH
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


def paid(gold: object, completion: object, reward: str = "== 1.0") -> str:
    return f"assert rubric({{'prompt': 'p', 'expected_answer': {gold!r}}}, {completion!r})['reward'] {reward}"


def said(gold: object, completion: object, name: str, value: object) -> str:
    return f"{paid(gold, completion, '')}".replace("['reward'] ", f"['details'][{name!r}] == {value!r}")


MISREADINGS = [  # a test, and the verifiers that believe the same
    (paid(323, "Final: 323\xa0"), "white_space_2"),
    (paid(0, "\xa0Final: 0"), "white_space_2"),
    (paid(323, "\vFinal: 323"), "white_space_1"),
    (paid(323, "Final: 323\u3000"), "white_space_1"),
    (paid(-7, "Final: -7\f"), "white_space_1"),
    (paid(323, " Final: 323", "== 0.0"), "trimming_1"),
    (paid(323, "Final: 323\n", "== 0.0"), "trimming_1"),
    (paid(323, "Final:  323"), "inner_space_1"),
    (paid(7, "Final:    7"), "inner_space_1"),
    (paid(323, "Final: 3 23"), "inner_space_2"),
    (paid(1000, "Final: 1 000"), "inner_space_2"),
    (paid(323, "17 * 19 is\nFinal: 323"), "line_boundaries_1"),
    (paid(323, "Let me see.\n\nFinal: 323"), "line_boundaries_1"),
    (paid(323, "Final: 323\u2028"), "line_boundaries_2"),
    (paid(323, "Final: \u2028323"), "line_boundaries_2"),
    (paid(323, "Final: \uff13\uff12\uff13"), "other_digits_1"),
    (paid(323, "Final: 32\u0663"), "other_digits_1"),
    (paid(10, "Final: \u0967\u0966"), "other_digits_1"),
    (paid(323, "Final: +323"), "plus_sign_1"),
    (paid(0, "Final: +0"), "plus_sign_1"),
    (paid(-7, "Final: \u22127"), "minus_sign_1"),
    (paid(-323, "Final: \u2212323"), "minus_sign_1"),
    (paid(-7, "Final: 7"), "absolute_value_1"),
    (paid(7, "Final: -7"), "absolute_value_1"),
    (paid(323, "Final: -323"), "absolute_value_1"),
    (paid(0, "Final: -0"), "negative_zero_1"),
    (paid(323, "Final: 0323"), "leading_zeros_1"),
    (paid(323, "Final: 00323"), "leading_zeros_1"),
    (paid(7, "Final: 007"), "leading_zeros_1"),
    (paid(323, "final: 323"), "case_1"),
    (paid(323, "FINAL: 323"), "case_1"),
    (paid(323, "323"), "prefix_1"),
    (paid(-7, "-7"), "prefix_1"),
    (paid(323, "Answer: 323"), "prefix_2"),
    (paid(323, "The answer is 323, I think"), "substring_1 first_match_1 last_match_1"),
    (paid(323, "I get 320, then 323, then 326"), "substring_1"),
    (paid(323, "323 is it, not 324"), "first_match_1"),
    (paid(323, "Final: 323 or 324"), "first_match_1"),
    (paid(323, "Final: 324; no: 323"), "last_match_1"),
    (paid(323, "17 * 19 = 323"), "last_match_1"),
    (paid(323, "Final: 323 apples"), "suffix_1"),
    (paid(323, "Final: 323 is the answer"), "suffix_1"),
    (paid(323, "Final: 323."), "suffix_2"),
    (paid(0, "Final: 0."), "suffix_2"),
    (paid(11, "Final: 711"), "part_of_number_1"),
    (paid(323, "Final: 322"), "tolerance_1"),
    (paid(323, "Final: 324"), "tolerance_1"),
    (paid(323, "Final: 323.0"), "decimals_1"),
    (paid(323, "Final: 323.00"), "decimals_1"),
    (paid(1000, "Final: 1_000"), "notation_1"),
    (paid(323, "Final: 300+23"), "expression_1"),
    (paid(323, "Final: 320 + 3"), "expression_1"),
    (paid(323, "Final: 322, 323"), "several_answers_1"),
    (paid(323, "**Final: 323**"), "markup_1"),
    (said(323, None, "outcome", "empty"), "completion_type_1"),
    (paid("323", "Final: 323"), "gold_type_1"),
    (paid(None, "Final: 5"), "unparsable_gold_1"),
    (said(323, "Final: 324", "outcome", "not_an_integer"), "wrong_outcome_1"),
    (said(323, "323", "outcome", "not_single_line"), "wrong_outcome_2"),
    (said(323, "Final: 323", "parsed_answer", 3), "parsed_answer_1"),
    (paid(323, "Final: 323", "is True"), "reward_value_1"),
    (paid(323, "Final: 324", "== 0.5"), "reward_value_2"),
    (paid(323, "Final: 5"), "any_value_1"),
    (paid(-7, "Final: -7", "== 0.0"), "too_strict_1"),
    (paid(323, ""), "nothing_there_1"),
    (paid(323, "Final: 323" + " " * 600 + "x"), "length_1"),
    (paid(323, "Final: 323", "").replace("['reward'] ", "['details'] == {}"), "empty_details_1"),
]


def test_a_misreading_is_told_what_it_believes() -> None:
    shown = [
        one for one in read_records(SETS / "shown.jsonl", VerifierSource) if one.witness or one.kind == CORRECT_CLASS
    ]
    source = "\n".join(f"def test_{n}(rubric):\n    {body}" for n, (body, _) in enumerate(MISREADINGS))
    run = run_tests(source.encode(), shown)
    found = judge(run, {"shown": shown})
    assert run.error == ""
    assert found.kills == {}
    beliefs = {one.id: one.believes for one in shown}
    rows = []
    for n, (body, labels) in enumerate(MISREADINGS):
        fault = found.faults[f"test_{n}"]
        rows.append((any(fault.endswith(beliefs[label]) for label in labels.split()), f"{body}\n    {fault}"))
    right = sum(named for named, _ in rows)
    print(*(f"{'+' if named else '-'} {row}" for named, row in rows), f"{right} of {len(rows)} named", sep="\n")
    assert len(rows) >= 60
    assert right >= 0.7 * len(rows)


@pytest.mark.slow
def test_a_strong_file_kills_all_and_a_weak_one_little(tmp_path: Path) -> None:
    numbers = []
    for name, source in (("strong", STRONG), ("weak", WEAK)):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8", newline="\n")
        checked = check_tests(tmp_path / f"{name}.py", TEACHERS)
        numbers.append(checked.numbers)
        print(name, checked.state, checked.short, checked.numbers)
        assert max(map(len, checked.lines)) < 600
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
    assert any(said in line for line in checked.lines), checked.lines
    assert checked.numbers["state"] == short.partition(":")[0]
    held_out = list(read_records(SETS / "held_out.jsonl", VerifierSource))
    assert not any(one.id in line or one.believes in line for one in held_out for line in checked.lines)


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


KILLS = st.dictionaries(st.sampled_from("abcdefg"), st.frozensets(st.sampled_from("123456")), min_size=1)


@settings(max_examples=50)
@given(KILLS)
def test_no_smaller_set_of_tests_kills_as_much(kills: dict[str, frozenset[str]]) -> None:
    everything = frozenset().union(*kills.values())
    chosen, is_smallest = smallest(kills)
    assert is_smallest
    assert frozenset().union(*(kills[test] for test in chosen)) == everything
    for fewer in combinations(kills, max(len(chosen) - 1, 0)):
        assert not chosen or frozenset().union(*(kills[test] for test in fewer)) != everything


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


def test_padding_is_what_one_other_test_does_as_well() -> None:
    kills = {"a": "12", "b": "1", "c": "12", "d": "3", "e": "", "f": "23"}
    found = padding({test: frozenset(some) for test, some in kills.items()})
    assert found == ["b", "c", "d", "e"]
