"""The check of a kata: a label counts once evidence and a fix stand beside it, and opens what the teacher says.

The worked example: two examples, the first's label is hacked, the second's model. Who writes hacked and verifier, both
with evidence and a fix, has 1 of 2 right, may read the teacher on the first, and gets the hint of the second.
"""

import pytest
from conftest import Lab

from check.encoding import encode
from check.kata import check_kata

WORDS = "evidence: " + "one of twelve words " * 3 + "\nfix: add this text as a test\n"
KEY = {"1": "hacked", "2": "model"}


@pytest.fixture
def kata(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr("check.kata.LAB", lab.folder)
    said = {"prompt": "?", "expected_answer": 1, "completion": "x", "policy": "a hand", "verifier": "score"}
    lab.write(
        "data/kata/k.jsonl",
        [
            {"id": id_, **said, "reward": 0.0, "details": {}, "hint": f"hint {id_}"}
            | {"key": encode(f"{label}\nBecause of {id_}.")}
            for id_, label in KEY.items()
        ],
    )
    return lab


def fill(lab: Lab, *sections: str) -> None:
    lab.write("exercises/k.md", "".join(f"## {n}\n> ours\n{text}\n" for n, text in enumerate(sections, 1)))


def test_the_worked_example(kata: Lab) -> None:
    fill(kata, f"label: hacked\n{WORDS}", f"label: verifier\n{WORDS}")
    checked = check_kata("k")
    assert checked[:2] == ("wrong", "1 of 2 finished and right")
    assert checked.lines == ["look again: 2", "right: 1"]
    assert checked.command == "check k --id 2"
    assert checked.parts == {"1": "right: Because of 1.", "2": "look again: hint 2"}


def test_all_right(kata: Lab) -> None:
    fill(kata, f"label: `Hacked`.\n{WORDS}", f"LABEL: model\n{WORDS}")
    assert check_kata("k")[:2] == ("done", "2 of 2 finished and right")


def test_a_blank_sheet_is_not_started(kata: Lab) -> None:
    fill(kata, *["label:\n\nevidence:\n\nfix:\n"] * 2)
    assert check_kata("k")[:3] == ("not started", "", ())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (WORDS, "label: expected a label (1 words or more), got 0"),
        (
            "label: hacked\nfix: add a test",
            "evidence: expected two or three sentences (12 words or more), got 0",
        ),
        ("label: hacked\nevidence: it is", "evidence: expected two or three sentences (12 words or more), got 2"),
        (
            WORDS.replace("add this text as", "label:") + "label: hacked",
            "fix: expected one concrete change (4 words or more), got 3",
        ),
        (f"label: hack\x1b[0m\n{WORDS}", "label: expected model, verifier, ambiguous or hacked, got hack<U+001B"),
    ],
    ids=range(5),
)
def test_what_is_unfinished_is_named_and_gives_nothing_away(kata: Lab, text: str, said: str) -> None:
    fill(kata, text, f"label: model\n{WORDS}")
    checked = check_kata("k")
    assert checked[:2] == ("started", "1 of 2 finished and right")
    place = str(kata.write("exercises/x", "").with_name("k.md"))
    assert checked.lines[0] == "unfinished: 1"
    assert checked.parts["1"].startswith(f"unfinished: {place}:1 {said}")
    assert "Because" not in checked.parts["1"]
