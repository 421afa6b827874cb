"""The command: one text tried, and a whole attack with its verdict as exit status.

An example: ``suffix`` rewards 'Final: 7323' where 323 is right. The spec does not: status 1. For 'Final: 322' both say
0: status 0.
"""

import json
from itertools import count

import pytest
from conftest import Lab

from course import verifier
from course.attack import describe_findings, describe_try, describe_verdict
from course.policies.train_config import MEMORISE
from course.verifier import Comparison, collect_findings

CARELESS = "def verify(example, completion):\n    return str(example['expected_answer']) in completion\n"
STRICT = "def verify(e, c):\n    return c.strip(' \\t\\r\\n') == f\"Final: {e['expected_answer']}\"\n"


@pytest.fixture
def brief(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(verifier, "UPDATES", 1)
    monkeypatch.setattr(verifier, "GOLDS", (0,))
    monkeypatch.setattr(verifier, "MEMORISE", MEMORISE._replace(sft_steps=100))
    return lab


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["suffix", "--try", "Final: 7323"], 1, "rubric    1  suffix: Pays if the text has the prefix"),
        (["suffix", "--try", "Final: 322"], 0, "the spec  0  wrong_answer: expected the value 323, got Final: 322"),
        (["score", "--try", "Final: 323"], 0, "rubric    1  score: expected and got the line Final: 323"),
        (["cast", "--try", r"\tFinal: \u0663\n", "--expected", "3"], 1, "<U+0009 TAB>Final: ٣<U+000A LINE FEED>"),
        (["mine.py:verify", "--try", "323"], 1, "rubric    1  mine.py:verify: no message"),
    ],
)
def test_one_text_is_tried_and_both_say_why(lab: Lab, words: list[str], status: int, said: str) -> None:
    lab.write("mine.py", CARELESS)
    done = lab("attack", "--rubric", *words)
    assert (done.status, done.err) == (status, "")
    assert said in " ".join(done.out.split("\n    "))


def test_an_attack_ends_with_its_verdict(brief: Lab) -> None:
    brief.write("mine.py", CARELESS)
    done = brief("attack", "--rubric", "mine.py:verify")
    assert (done.status, done.err) == (1, "")
    assert done.out.count("wrong, rewarded  ") == 3
    assert "FAILED: it is cheated by '0' where 0 is expected: reward 1" in done.out
    brief.write("mine.py", STRICT)
    done = brief("attack", "--rubric", "mine.py:verify")
    assert (done.status, done.err) == (0, "")
    last = done.out.splitlines()[-1]
    assert last.startswith("no text was found on which it differs from the spec; ")


def test_json_has_every_finding_and_is_the_same_again(brief: Lab) -> None:
    brief.write("mine.py", CARELESS)
    done = brief("attack", "--rubric", "mine.py:verify", "--json")
    said = json.loads(done.out)
    assert (done.status, said["rubric"], said["seed"], said["stopped_after"]) == (1, "mine.py:verify", 0, None)
    sets, search, policy = said["found"].values()
    assert (sets["tried"], len(sets["false_negatives"])) == (100, 0)
    assert search["false_positives"][0]["completion"] == "0"
    assert (policy["tried"], policy["false_positives"][0]["true"]) == (256, 0.0)
    assert brief("attack", "--rubric", "mine.py:verify", "--json") == done


def test_the_time_limit_is_told(brief: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    brief.write("mine.py", STRICT)
    monkeypatch.setattr(verifier, "monotonic", count(0).__next__)  # each question takes a second
    done = brief("attack", "--rubric", "mine.py:verify", "--seconds", "3")
    assert (done.status, done.err) == (3, "")
    assert "1 golden sets (100 texts)" in done.out
    said = "undecided: no text was found on which it differs from the spec; 100 texts were tried, then --seconds 3 had"
    assert said in " ".join(done.out.split())
    assert (
        json.loads(brief("attack", "--rubric", "mine.py:verify", "--seconds", "3", "--json").out)["stopped_after"] == 3
    )


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rubric", "sufix"], "did you mean suffix? expected a file and its function"),
        (["--rubric", "none.py:verify"], "got none.py:verify"),
        (["--rubric", "mine.py:verify"], "mine.py:verify expected a reward from 0 to 1 for 'Final: 323' where 323 is"),
        (["--rubric", "suffix", "--expected", "3.5"], "invalid int value: '3.5'"),
        ([], "the following arguments are required: --rubric"),
    ],
)
def test_bad_usage_and_a_faulty_verifier_are_one_line(lab: Lab, words: list[str], said: str) -> None:
    lab.write("mine.py", "def verify(example, completion):\n    return 1 / 0\n")
    assert said in lab.refused("attack", *words)


def compared(completion: str, reward: float, true: float) -> Comparison:
    return Comparison({"id": "a", "prompt": "?", "expected_answer": 7}, completion, reward, true)


BOTH = collect_findings(
    [compared("Final: 77", 1, 0), compared("7", 0.5, 0), compared("Final: 7", 0.25, 1), compared("x", 0, 0)]
)


def test_the_shortest_stands_first_and_what_agrees_is_only_counted() -> None:
    assert (BOTH.tried, len(BOTH.false_positives), len(BOTH.false_negatives)) == (4, 2, 1)
    assert describe_findings("1 golden sets", BOTH).split("\n") == [
        "1 golden sets (4 texts)",
        "  wrong, rewarded  2, such as '7' where 7 is expected: reward 0.5",
        "  right, refused   'Final: 7' where 7 is expected: reward 0.25",
    ]
    assert "wrong, rewarded  none" in describe_findings("1 golden sets", collect_findings([]))


def test_a_hostile_text_is_shown_and_short() -> None:
    text = describe_findings("1 golden sets", collect_findings([compared("\x1b[31m" + "a" * 100_000, 1, 0)]))
    assert "'<U+001B ESCAPE>[31maaa" in " ".join(text.split())
    assert len(text) < 500
    told = {"reward": 1, "details": {"message": "\x1b" * 99}}
    tried = describe_try("f.py:v", "\x1b", told, {"reward": 0, "details": {"outcome": "x", "message": "y"}})
    assert "\x1b" not in tried
    assert max(map(len, tried.split("\n"))) <= 80


def test_the_verdict_names_a_cheat_first_then_a_refusal_then_what_was_tried() -> None:
    assert describe_verdict([BOTH, BOTH], None).startswith(
        "FAILED: it is cheated by '7' where 7 is expected: reward 0.5 (8"
    )
    refused = collect_findings([compared("Final: 7", 0, 1)])
    assert " ".join(describe_verdict([refused], 5).split()) == (
        "FAILED: it refuses 'Final: 7' where 7 is expected: reward 0 (1 texts were tried, then --seconds 5 had passed)"
    )
    assert describe_verdict([], 5).startswith("undecided: no text was found ")
    assert (
        describe_verdict([collect_findings([])], None)
        == "no text was found on which it differs from the spec; 0 texts were tried"
    )
