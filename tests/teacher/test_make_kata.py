"""Key, locked file and sheet of a kata are in step, and every recorded reward is what its verifier gives.

What a label means is checked against the scorer: where the label is model or ambiguous the recorded reward is the
spec's, where it is verifier or hacked it is not. Example 6 worked out: ``Final: 4`` for 2 + 2 is right, format_bonus
gave it a third, so its label cannot be model.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, Lab, lines_of

from course.exercises.kata import check_kata
from course.rubrics.hackable import RUBRICS
from course.score import measure
from teacher.make_kata import files_of

EXAMPLES = lines_of(ROOT / "data" / "kata" / "kata_1.jsonl")
KEY = (ROOT / "teacher" / "kata" / "kata_1.md").read_text(encoding="utf-8")
LABELS = dict(re.findall(r"^## (\d+)\n\nlabel: (\w+)$", KEY, re.MULTILINE))


def test_what_is_made_is_what_is_shipped() -> None:
    made = files_of("kata_1")
    assert made[Path("data/kata/kata_1.jsonl")] == (ROOT / "data" / "kata" / "kata_1.jsonl").read_text(encoding="utf-8")
    shipped = (ROOT / "exercises" / "kata_1.md").read_text(encoding="utf-8")
    assert ours(made[Path("exercises/kata_1.md")]) == ours(shipped)


def ours(sheet: str) -> list[str]:
    """The course's lines: a sheet that a student has filled in still has them."""
    return [line for line in sheet.split("\n") if line.startswith(("#", ">"))]


def test_the_kata_has_the_four_kinds_in_their_numbers() -> None:
    assert Counter(LABELS.values()) == {"model": 4, "verifier": 2, "ambiguous": 2, "hacked": 2}
    assert list(LABELS) == [example["id"] for example in EXAMPLES] == [str(n) for n in range(1, 11)]


def test_each_recorded_reward_is_what_the_named_verifier_gives() -> None:
    for example in EXAMPLES:
        task = {"prompt": example["prompt"], "expected_answer": example["expected_answer"]}
        result = RUBRICS[example["verifier"]](task, example["completion"])
        assert result == {"reward": example["reward"], "details": example["details"]}, example["id"]


def test_a_label_agrees_with_the_spec() -> None:
    for example in EXAMPLES:
        by_the_spec = measure(example["expected_answer"], example["completion"]).reward
        assert (example["reward"] == by_the_spec) == (LABELS[example["id"]] in ("model", "ambiguous")), example["id"]


def test_no_verifier_has_its_label_written_on_it() -> None:
    """Whoever guesses from the name: score is right in most cases, and yet has two labels; so has format_bonus."""
    labels = {name: {LABELS[one["id"]] for one in EXAMPLES if one["verifier"] == name} for name in RUBRICS}
    assert labels["score"] == {"model", "ambiguous"}
    assert labels["format_bonus"] == {"verifier", "hacked"}
    assert labels["last_number"] == {"model"}


def test_no_hint_says_a_label() -> None:
    assert max(len(example["hint"]) for example in EXAMPLES) <= 64  # a line each: the check of ten fits a screen
    said = [word for example in EXAMPLES for word in re.findall(r"\w+", example["hint"].lower())]
    assert {"model", "ambiguous", "ambiguity", "hacked", "hack"} & set(said) == set()


@pytest.mark.medium
def test_the_key_opens_all_of_it(lab: Lab) -> None:
    words = f"evidence: {'word ' * 12}\nfix: {'word ' * 4}\n"
    lab.write("exercises/kata_1.md", "".join(f"## {id_}\nlabel: {label}\n{words}" for id_, label in LABELS.items()))
    checked = check_kata("kata_1")
    assert checked[:2] == ("done", "10 of 10 finished and right")
    for id_, text in checked.parts.items():
        said = " ".join(text.split())
        assert said.startswith("right: "), id_
        assert said.removeprefix("right: ").partition(" Fix: ")[0] in " ".join(KEY.split())
        assert " Source: " in said
        assert max(map(len, text.split("\n"))) <= 80


def test_the_completions_that_are_said_to_be_of_the_shipped_files_are() -> None:
    frozen = {
        row["id"]: row["completion"] for row in lines_of(ROOT / "data" / "rollouts" / "frozen_rollouts_dev.jsonl")
    }
    pack = {row["id"]: row["samples"] for row in lines_of(ROOT / "data" / "rollouts" / "selection_pack_dev.jsonl")}
    texts = {example["id"]: example["completion"] for example in EXAMPLES}
    sources = {"1": "dev-011", "2": "dev-007", "3": "dev-025", "5": "dev-073", "9": "dev-034"}
    assert {id_: frozen[source] for id_, source in sources.items()} == {id_: texts[id_] for id_ in sources}
    assert (pack["dev-052"][5], pack["dev-070"][0]) == (texts["7"], texts["8"])
