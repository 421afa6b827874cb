"""Key, locked file and sheet of each kata are in step, and every recorded reward is what its verifier gives.

What a label means is checked against the scorer: where the label is model or ambiguous the recorded reward is the
spec's, where it is verifier or hacked it is not. Example 6 worked out: ``Final: 4`` for 2 + 2 is right, format_bonus
gave it a third, so its label cannot be model.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from conftest import ROOT, Lab, lines_of
from near_misses import near_misses

from check.kata import WITH_TEST, check_kata, verifier_of
from check.result import CheckResult
from course.datasets.jsonl import read_records
from course.datasets.records import KataExample, task_of
from course.rubrics.hackable import GAPS, RUBRICS, in_words
from course.score import measure
from teacher.make_kata import files_of

COUNTS = {
    "kata_1": {"model": 4, "verifier": 2, "ambiguous": 2, "hacked": 2},
    "kata_2": {"model": 2, "verifier": 3, "ambiguous": 1, "hacked": 2},
    "kata_3": {"model": 1, "verifier": 2, "ambiguous": 2, "hacked": 3},
}
EXAMPLES = {name: list(read_records(ROOT / "data" / "kata" / f"{name}.jsonl", KataExample)) for name in COUNTS}
KEYS = {name: (ROOT / "teacher" / "kata" / f"{name}.md").read_text(encoding="utf-8") for name in COUNTS}
LABELS = {name: dict(re.findall(r"^## (\d+)\n\nlabel: (\w+)$", key, re.MULTILINE)) for name, key in KEYS.items()}
TESTS = {
    (name, id_): test
    for name, key in KEYS.items()
    for id_, test in re.findall(r"^## (\d+)\n(?:(?!## ).*\n)*?test: `(.*)`$", key, re.MULTILINE)
}
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


def test_no_verifier_has_its_label_written_on_it() -> None:
    """Whoever guesses from the name: score is right in most cases, and yet has two labels; so has format_bonus."""
    labels = {
        verifier: {LABELS[name][one.id] for name in COUNTS for one in EXAMPLES[name] if one.verifier == verifier}
        for verifier in RUBRICS
    }
    assert labels["score"] == {"model", "ambiguous"}
    assert labels["format_bonus"] == labels["format_only"] == {"verifier", "hacked"}
    assert labels["cast"] == {"model", "verifier", "ambiguous"}
    assert labels["last_number"] == {"model", "hacked"}
    assert labels["suffix"] == {"model"}


@katas
def test_no_hint_says_a_label(name: str) -> None:
    said = [word for example in EXAMPLES[name] for word in re.findall(r"\w+", example.hint.lower())]
    assert {"model", "ambiguous", "ambiguity", "hacked", "hack"} & set(said) == set()


def filled(lab: Lab, name: str, tests: dict[str, str]) -> CheckResult:
    """The check of a sheet with every label right, and these tests."""
    words = f"evidence: {'word ' * 12}\nfix: {'word ' * 4}\n"
    sections = (f"## {id_}\nlabel: {label}\n{words}test: {tests.get(id_, '')}\n" for id_, label in LABELS[name].items())
    lab.write(f"exercises/{name}.md", "".join(sections))
    return check_kata(name)


@katas
def test_the_key_opens_all_of_it(lab: Lab, name: str) -> None:
    checked = filled(lab, name, {id_: f"`{TESTS[name, id_]}`" for id_ in LABELS[name] if (name, id_) in TESTS})
    assert checked[:2] == ("done", f"{len(LABELS[name])} of {len(LABELS[name])} finished and right")
    for id_, text in checked.parts.items():
        words = " ".join(text.split())
        assert words.startswith("right: "), id_
        assert words.removeprefix("right: ").partition(" Fix: ")[0] in " ".join(KEYS[name].split())
        assert " Source: " in words


@pytest.mark.parametrize("name", WITH_TEST)
def test_where_code_is_at_fault_a_test_is_asked_for_and_tried(lab: Lab, name: str) -> None:
    """The spec and the faulty verifier are asked here once more, each by itself."""
    at_fault = {id_ for id_, label in LABELS[name].items() if label in ("verifier", "hacked")}
    assert {id_ for kata, id_ in TESTS if kata == name} == at_fault
    for example in EXAMPLES[name]:
        if example.id in at_fault:
            text = TESTS[name, example.id]
            given = verifier_of(example)(task_of(example), text)["reward"]
            assert given != measure(example.expected_answer, text).reward
            assert text.strip() != example.completion.strip()
    for wrong, said in {
        "": "no backticks around one text",
        "no ticks": "no backticks around one text",
        "`a` and `b`": "no backticks around one text",
        "`a wrong answer`": "one to which both give",
        "SHOWN": "got the one above",
    }.items():
        tests = {one.id: wrong.replace("SHOWN", f"`{one.completion}`") for one in EXAMPLES[name]}
        parts = filled(lab, name, tests).parts
        unfinished = {id_ for id_, text in parts.items() if text.startswith("unfinished: ")}
        if wrong == "`a wrong answer`":  # some of these verifiers pay for anything
            assert 0 < len(unfinished) < len(at_fault)
            continue
        assert unfinished == at_fault
        assert all(said in " ".join(parts[id_].split()) for id_ in at_fault)


def test_kata_1_asks_for_no_test(lab: Lab) -> None:
    assert filled(lab, "kata_1", {}).state == "done"


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
