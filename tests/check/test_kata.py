"""The check of a kata: a right label with its words opens what the key says.

The worked example: two examples, the first's label is hacked, the second's model. Who writes hacked and verifier, both
with evidence and a fix, has 1 of 2 right, reads the key of the first, and gets the hint of the second.
"""

import pytest
from conftest import ROOT, Lab

from check.kata import check_kata, find_fault_of_test
from course.datasets.jsonl import read_records
from course.datasets.records import KataExample

WORDS = "evidence: " + "one of twelve words " * 3 + "\nfix: add this text as a test\n"
KATA_2 = {one.id: one for one in read_records(ROOT / "data" / "kata" / "kata_2.jsonl", KataExample)}


@pytest.fixture
def kata(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr("check.kata.LAB", lab.folder)
    monkeypatch.setattr("check.kata.KEYS", lab.folder / "keys")
    said = {"prompt": "?", "expected_answer": 1, "completion": "x", "policy": "a hand", "verifier": "score"}
    lab.write("data/kata/kata_1.jsonl", [{"id": id_, **said, "reward": 0.0, "details": {}} for id_ in ("1", "2")])
    keys = {"1": "hacked", "2": "model"}.items()
    key = "".join(f"## {id_}\nlabel: {label}\nhint: see {id_}\nevidence: it is\nfix: do\n" for id_, label in keys)
    lab.write("keys/exercises/kata_1.md", key)
    return lab


def fill(lab: Lab, *sections: str) -> None:
    lab.write("exercises/kata_1.md", "".join(f"## {n}\n> ours\n{text}\n" for n, text in enumerate(sections, 1)))


def test_the_worked_example(kata: Lab) -> None:
    fill(kata, f"label: hacked\n{WORDS}", f"label: verifier\n{WORDS}")
    checked = check_kata("kata_1")
    assert checked[:2] == ("wrong", "1 of 2 finished and right")
    assert checked.lines == ["look again: 2", "right: 1"]
    assert checked.command == "check kata_1 --id 2"
    assert checked.parts == {"1": "right: evidence: it is\nfix: do", "2": "look again: see 2"}
    fill(kata, f"label: `Hacked`.\n{WORDS}", f"LABEL: model\n{WORDS}")
    assert check_kata("kata_1")[:2] == ("done", "2 of 2 finished and right")
    fill(kata, *["label:\n\nevidence:\n\nfix:\n"] * 2)
    assert check_kata("kata_1").state == "not started"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WORDS, "label: expected one of model, verifier, ambiguous, hacked, got none"),
        (f"label: hack\x1b[0m\n{WORDS}", "label: expected one of model, verifier, ambiguous, hacked, got hack<U+001B"),
        ("label: hacked\nfix: add it as a test", "evidence: expected 12 words or more, got 0"),
        ("label: hacked\n" + WORDS.replace("as a test", ""), "fix: expected 4 words or more, got 3"),
    ],
)
def test_what_is_unfinished_is_named_and_gives_nothing_away(kata: Lab, text: str, said: str) -> None:
    fill(kata, text, f"label: model\n{WORDS}")
    checked = check_kata("kata_1")
    assert (checked.state, checked.lines[0]) == ("started", "unfinished: 1")
    assert checked.parts["1"].startswith(f"unfinished: {said}")


@pytest.mark.parametrize(
    ("id_", "label", "test", "fault"),
    [
        ("1", "verifier", "`I do not know.`", ""),  # the verifier gives 1 to any text
        ("1", "verifier", "`Final: -56`", "got one with 1 for both"),
        ("1", "verifier", "`Final: 56 `", "and not the one above"),
        ("1", "verifier", "Final: 57", "one text `in backticks`"),
        ("4", "verifier", "`Final: 0`", "got one with 0 for both"),
        ("4", "verifier", "`<answer>1112</answer>`", ""),
        ("5", "ambiguous", "`Final: -56`", ""),  # -36 - 20; the one shown is -36 + 20
        ("5", "ambiguous", "`Final: -16`", "and not the one above"),
        ("5", "ambiguous", "`Final: -57`", "got one with 0 for both"),
    ],
)
def test_a_text_is_tried_on_the_verifier(id_: str, label: str, test: str, fault: str) -> None:
    found = find_fault_of_test(KATA_2[id_], label, test)
    assert (fault in found, bool(found)) == (True, bool(fault))
