"""Numbers that a page says in its sentences, held to what makes them. What a page shows as output is compared anyway.

An example: milestone 0.5 says that 13 of the 80 prompts still fail where the best of four is taken. Here they are
counted in the pack, with the scorer alone.
"""

import re
from collections.abc import Callable, Sequence

import pytest
from conftest import ROOT, lines_of

from course.score import measure

DATA = ROOT / "data"


def page(name: str) -> str:
    return " ".join((ROOT / name).read_text(encoding="utf-8").split())


def failing(samples: int) -> int:
    """How many dev prompts have no right one among their first samples in the pack."""
    answers = {row["id"]: row["expected_answer"] for row in lines_of(DATA / "datasets" / "math_dev.jsonl")}
    pack = lines_of(DATA / "rollouts" / "selection_pack_dev.jsonl")
    return sum(all(measure(answers[row["id"]], text).reward == 0 for text in row["samples"][:samples]) for row in pack)


def always_zero() -> int:
    return sum(row["expected_answer"] == 0 for row in lines_of(DATA / "datasets" / "math_dev.jsonl"))


def stories() -> int:
    prompts = (row["prompt"] for row in lines_of(DATA / "datasets" / "math_dev.jsonl"))
    return sum(not prompt.startswith("Compute ") for prompt in prompts)


COUNTED: Sequence[tuple[str, str, Callable[[], int]]] = (
    ("docs/milestones/0.5.md", r"(\d+) of the 80 prompts still fail", lambda: failing(4)),
    ("docs/milestones/0.5.md", r"[Ff]or (\d+) prompts none of the eight", lambda: failing(8)),
    ("docs/milestones/0.md", r"earns (\d+) of 80", always_zero),
    ("teacher/guide/first_meeting.md", r"80 small integer problems, (\d+) told as a story", stories),
)


@pytest.mark.parametrize(("name", "words", "count"), COUNTED)
def test_what_a_page_counts_is_so(name: str, words: str, count: Callable[[], int]) -> None:
    [said] = re.findall(words, page(name))
    assert int(said) == count()


SAID_TWICE = (  # a sentence, and the page whose compared output has the same number
    ("docs/introduction.md", r"(\d+) of the 1,000 ended below", "docs/reference/baselines.md", r"3 no [\d.]+ (\d+)"),
    ("docs/milestones/1.md", r"(\d+) of 100 runs end below", "docs/milestones/1.md", r"3 no [\d.]+ (\d+)"),
    ("README.md", r"recorded answers pass: ([\d.]+) %", "docs/milestones/0.md", r"passed 34 of 80: ([\d.]+) %"),
    ("README.md", r"67 of 80 prompts, which is ([\d.]+) %", "docs/milestones/0.5.md", r"selected +([\d.]+) %"),
    ("README.md", r"one of these answers is right for ([\d.]+) %", "docs/milestones/0.5.md", r"on average: ([\d.]+) %"),
    *(
        ("docs/reference/glossary.md", words, "docs/reference/pass_at_k.md", rf"{row} (?:[\d.]+ % ){{3}}([\d.]+) %")
        for words, row in (
            (r"pass@128 fell from ([\d.]+) to", "memorise, holdout before"),
            (r"pass@128 fell from [\d.]+ to ([\d.]+) %", "memorise, holdout after"),
            (r"pass@128 rose from ([\d.]+) to", "generalise, holdout before"),
            (r"pass@128 rose from [\d.]+ to ([\d.]+) %", "generalise, holdout after"),
        )
    ),
)


@pytest.mark.parametrize(("name", "words", "other", "shown"), SAID_TWICE)
def test_what_is_said_twice_is_the_same(name: str, words: str, other: str, shown: str) -> None:
    [said] = re.findall(words, page(name))
    assert said in re.findall(shown, page(other))


def test_the_updates_at_which_rewards_part_are_those_of_the_figure() -> None:
    svg = (ROOT / "docs" / "figures" / "goodhart_curve.svg").read_text(encoding="utf-8")
    [(first, last)] = re.findall(r"part between update (\d+) and update (\d+)", svg)
    assert f"rise for {first} to {last} updates" in page("docs/loop_c.md")
