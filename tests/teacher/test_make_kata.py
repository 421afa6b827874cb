"""Key, file and sheet of each kata are in step, and every recorded reward is what its verifier gives.

What a label means is checked against the scorer: where the label is model or ambiguous the recorded reward is the
spec's, where it is verifier or hacked it is not. Example 6 worked out: ``Final: 4`` for 2 + 2 is right, format_bonus
gave it a third, so its label cannot be model.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, lines_of
from near_misses import near_misses

from check.kata import FIELDS, verifier_of
from check.sheets import KEYS, read_fields, read_sheet
from course.datasets.jsonl import read_records
from course.datasets.records import KataExample, task_of
from course.rubrics.hackable import GAPS, in_words
from course.score import measure
from teacher.make_kata import files_of

COUNTS = {
    "kata_1": {"model": 4, "verifier": 2, "ambiguous": 2, "hacked": 2},
    "kata_2": {"model": 2, "verifier": 3, "ambiguous": 1, "hacked": 2},
    "kata_3": {"model": 1, "verifier": 2, "ambiguous": 2, "hacked": 3},
}
EXAMPLES = {name: list(read_records(ROOT / "data" / "kata" / f"{name}.jsonl", KataExample)) for name in COUNTS}
DIAGNOSES = {
    name: {id_: read_fields(section, FIELDS) for id_, section in read_sheet(KEYS / "exercises" / f"{name}.md").items()}
    for name in COUNTS
}
LABELS = {name: {id_: key["label"] for id_, key in keys.items()} for name, keys in DIAGNOSES.items()}
WITH_TEST = ("kata_2", "kata_3")
katas = pytest.mark.parametrize("name", COUNTS)


@katas
def test_what_is_made_is_what_is_shipped(name: str) -> None:
    made = files_of(name)
    data, sheet = (Path("data/kata", f"{name}.jsonl"), Path("exercises", f"{name}.md"))
    assert made[data] == (ROOT / data).read_text(encoding="utf-8")
    assert ours(made[sheet]) == ours((ROOT / sheet).read_text(encoding="utf-8"))


def ours(sheet: str) -> list[str]:
    """The course's lines: a sheet that a student has filled in still has them."""
    return [line for line in sheet.split("\n") if line.startswith(("#", ">"))]


@katas
def test_a_kata_has_the_four_kinds_in_their_numbers(name: str) -> None:
    assert Counter(LABELS[name].values()) == COUNTS[name]
    ids = [str(n) for n in range(1, len(EXAMPLES[name]) + 1)]
    assert [*LABELS[name]] == [example.id for example in EXAMPLES[name]] == ids
    assert len({*map(str, COUNTS.values())}) == 3  # who counts on the numbers of another kata is wrong


@katas
def test_each_recorded_reward_is_what_the_named_verifier_gives(name: str) -> None:
    for example in EXAMPLES[name]:
        result = verifier_of(example)(task_of(example), example.completion)
        if example.verifier in GAPS and not example.source:
            result = in_words(result, example.completion)
        assert result == {"reward": example.reward, "details": example.details}, example.id


@katas
def test_a_label_agrees_with_the_spec(name: str) -> None:
    for example in EXAMPLES[name]:
        by_the_spec = measure(example.expected_answer, example.completion).reward
        assert (example.reward == by_the_spec) == (LABELS[name][example.id] in ("model", "ambiguous")), example.id
        if LABELS[name][example.id] == "hacked":  # by a writer that this verifier rewarded
            assert re.fullmatch(f"a token policy, after [0-9]+ updates by .* {example.verifier}", example.policy)
        if LABELS[name][example.id] == "verifier":
            assert "never trained" in example.policy or "before its first update" in example.policy


@katas
def test_no_hint_says_a_label(name: str) -> None:
    said = [word for key in DIAGNOSES[name].values() for word in re.findall(r"\w+", key["hint"].lower())]
    assert {"model", "ambiguous", "ambiguity", "hacked", "hack"} & set(said) == set()


@pytest.mark.parametrize("name", WITH_TEST)
def test_where_code_is_at_fault_the_key_has_a_text_that_shows_it(name: str) -> None:
    """The spec and the faulty verifier are asked here once more, each by itself."""
    for example in EXAMPLES[name]:
        if LABELS[name][example.id] in ("verifier", "hacked"):
            text = DIAGNOSES[name][example.id]["test"].strip("`")
            given = verifier_of(example)(task_of(example), text)["reward"]
            assert given != measure(example.expected_answer, text).reward
            assert text.strip() != example.completion.strip()


@pytest.mark.parametrize("name", WITH_TEST)
def test_a_verifier_of_a_kata_gives_0_or_1_to_every_text(name: str) -> None:
    """A student's test is any text at all, so none of them may raise."""
    for example in (one for one in EXAMPLES[name] if one.source):
        texts = ["", "\x00", "nan", "inf", "-inf", "1e999", "Final: " + "9" * 5_000, "\ud800", "<answer></answer>"]
        for text in [*texts, *(text for _, text in near_misses(1, 2_000))]:
            assert verifier_of(example)(task_of(example), text)["reward"] in (0.0, 1.0)


def test_the_completions_that_are_said_to_be_of_the_shipped_files_are() -> None:
    frozen = {
        row["id"]: row["completion"] for row in lines_of(ROOT / "data" / "rollouts" / "frozen_rollouts_dev.jsonl")
    }
    pack = {row["id"]: row["samples"] for row in lines_of(ROOT / "data" / "rollouts" / "selection_pack_dev.jsonl")}
    texts = {example.id: example.completion for example in EXAMPLES["kata_1"]}
    sources = {"1": "dev-011", "2": "dev-007", "3": "dev-025", "5": "dev-073", "9": "dev-034"}
    assert {id_: frozen[source] for id_, source in sources.items()} == {id_: texts[id_] for id_ in sources}
    assert (pack["dev-052"][5], pack["dev-070"][0]) == (texts["7"], texts["8"])
    later = {
        ("kata_2", "1"): frozen["dev-067"],
        ("kata_2", "2"): frozen["dev-064"],
        ("kata_2", "4"): frozen["dev-062"],
        ("kata_2", "5"): pack["dev-049"][1],
        ("kata_2", "8"): frozen["dev-014"],
        ("kata_3", "2"): frozen["dev-059"],
        ("kata_3", "5"): pack["dev-028"][5],
        ("kata_3", "6"): pack["dev-019"][2],
        ("kata_3", "7"): frozen["dev-031"],
    }
    simulated = {
        (name, one.id): one.completion for name in WITH_TEST for one in EXAMPLES[name] if "simulated" in one.policy
    }
    assert simulated == later
