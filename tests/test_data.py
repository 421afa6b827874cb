"""The shipped data: what data/README.md promises of it, computed anew; and that its script makes the same bytes."""

import json
import math
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, files, lines_of

from course.faults import CHECKS
from course.score import measure

DATA = ROOT / "data"
DEV = lines_of(DATA / "datasets" / "math_dev.jsonl")
HOLDOUT = lines_of(DATA / "datasets" / "math_holdout.jsonl")
FROZEN = {split: lines_of(DATA / "rollouts" / f"frozen_rollouts_{split}.jsonl") for split in ("dev", "holdout")}
PACK = lines_of(DATA / "rollouts" / "selection_pack_dev.jsonl")
SPLITS = {"dev": DEV, "holdout": HOLDOUT}
GENERATED = sorted((DATA / "rollouts").glob("*.jsonl"))
splits = pytest.mark.parametrize("split", SPLITS)


def answer_to(prompt: str) -> Fraction:
    """Worked out from the words of the prompt alone."""
    match = re.fullmatch(r"Compute (.+)\. Answer with exactly one line: Final: <int>", prompt)
    assert match
    if remainder := re.fullmatch(r"the remainder when (\d+) is divided by (\d+)", match[1]):
        return Fraction(int(remainder[1]) % int(remainder[2]))
    assert re.fullmatch(r"[0-9+*/() -]+", match[1])
    value = eval(re.sub(r"(\d+)", r"Fraction(\1)", match[1]), {"Fraction": Fraction})
    assert isinstance(value, Fraction)
    return value


def passes(answer: int, completion: str) -> bool:
    """The spec, in one line."""
    return completion.strip(" \t\r\n") == f"Final: {answer}"


def right_of(split: str) -> list[bool]:
    pairs = zip(SPLITS[split], FROZEN[split], strict=True)
    return [passes(example["expected_answer"], rollout["completion"]) for example, rollout in pairs]


def right_in_pack() -> list[int]:
    pairs = zip(DEV, PACK, strict=True)
    return [sum(passes(example["expected_answer"], text) for text in group["samples"]) for example, group in pairs]


def test_the_splits_are_large_enough() -> None:
    assert len(DEV) == 80 >= 60
    assert len(HOLDOUT) == 60 >= 40


def test_no_prompt_stands_twice_or_in_both_splits() -> None:
    prompts = [example["prompt"] for example in DEV + HOLDOUT]
    assert len(set(prompts)) == len(prompts)


@splits
def test_ids_are_numbered_and_records_say_their_split(split: str) -> None:
    examples = SPLITS[split]
    assert [example["id"] for example in examples] == [f"{split}-{i:03}" for i in range(1, len(examples) + 1)]
    assert {example["metadata"]["split"] for example in examples} == {split}
    assert {tuple(example) for example in examples} == {("id", "prompt", "expected_answer", "metadata")}
    kinds = [example["metadata"]["kind"] for example in examples]
    assert {kinds.count(kind) for kind in kinds} == {len(examples) // 10}


@splits
def test_every_answer_is_the_answer_to_its_prompt(split: str) -> None:
    for example in SPLITS[split]:
        assert type(example["expected_answer"]) is int
        assert answer_to(example["prompt"]) == example["expected_answer"], example["id"]


@splits
def test_each_split_has_negative_answers_and_zeros(split: str) -> None:
    answers = [example["expected_answer"] for example in SPLITS[split]]
    assert sum(answer < 0 for answer in answers) >= 5
    assert answers.count(0) >= 1


@splits
def test_each_example_has_one_completion_in_its_order(split: str) -> None:
    assert [rollout["id"] for rollout in FROZEN[split]] == [example["id"] for example in SPLITS[split]]
    assert {tuple(rollout) for rollout in FROZEN[split]} == {("id", "completion")}


@splits
def test_the_frozen_rollouts_pass_between_40_and_50_percent(split: str) -> None:
    right = right_of(split)
    assert 0.40 <= sum(right) / len(right) <= 0.50


@splits
def test_each_way_to_fail_that_a_completion_can_have_occurs(split: str) -> None:
    pairs = zip(SPLITS[split], FROZEN[split], strict=True)
    outcomes = {measure(example["expected_answer"], rollout["completion"]).outcome for example, rollout in pairs}
    absent = {"dev": set[str](), "holdout": {"extra_whitespace"}}[split]
    assert outcomes == {name for name, check in CHECKS.items() if check.family != "data"} - absent | {"ok"}


def test_the_pack_has_eight_samples_of_each_dev_prompt() -> None:
    assert [group["id"] for group in PACK] == [example["id"] for example in DEV]
    assert {len(group["samples"]) for group in PACK} == {8}


def test_the_pack_leaves_something_to_choose() -> None:
    right = right_in_pack()
    first = [passes(example["expected_answer"], group["samples"][0]) for example, group in zip(DEV, PACK, strict=True)]
    assert 0.2 <= sum(first) / 80 <= 0.5
    assert 0.2 <= sum(right) / (8 * 80) <= 0.5  # pass@1, unbiased
    assert 0.8 < sum(c > 0 for c in right) / 80 < 1  # pass@8
    four = [1 - math.comb(8 - c, 4) / math.comb(8, 4) for c in right]
    assert sum(right) / 640 < sum(four) / 80 < sum(c > 0 for c in right) / 80
    assert sum(1 <= c <= 3 for c in right) >= 20
    assert sum(c >= 6 for c in right) >= 8


def test_some_prompts_of_the_pack_fail_for_their_values_and_some_for_their_form_alone() -> None:
    causes = set()
    for example, group, c in zip(DEV, PACK, right_in_pack(), strict=True):
        if c == 0:
            value = re.compile(rf"(?<![0-9-]){example['expected_answer']}(?![0-9])")
            causes.add(any(value.search(sample) for sample in group["samples"]))
    assert causes == {True, False}


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_each_file_of_completions_says_who_wrote_it(path: Path) -> None:
    meta: dict[str, Any] = json.loads(path.with_suffix(".meta.json").read_bytes())
    assert set(meta) == {"policy", "created", "sampling", "note"}
    assert meta["policy"] == "simulated-writer-1"
    assert "No language model was run" in meta["note"]
    sampling = meta["sampling"]
    assert (sampling["temperature"], sampling["top_p"]) == (1.0, 1.0)
    assert sampling["n"] == (8 if "pack" in path.name else 1)
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{sampling['seed']}\b", readme.partition("| seed | of |")[2])


def test_there_are_three_files_of_completions_and_no_meta_without_one() -> None:
    assert len(GENERATED) == 3
    metas = {path.name.removesuffix(".meta.json") for path in (DATA / "rollouts").glob("*.meta.json")}
    assert metas == {path.stem for path in GENERATED}


@pytest.mark.parametrize("path", sorted(DATA.rglob("*.json*")), ids=lambda path: path.name)
def test_files_are_utf_8_with_lf_at_each_end_and_no_line_empty(path: Path) -> None:
    data = path.read_bytes()
    data.decode("utf-8")
    assert b"\r" not in data
    assert data.endswith(b"\n")
    assert b"\n\n" not in data


def test_the_script_makes_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_data.py", "--out", tmp_path], check=True, cwd=tmp_path)
    made = files(tmp_path)
    assert len([name for name, data in made.items() if data is not None]) == 8
    for name, data in made.items():
        if data is not None:
            assert data == (DATA / name).read_bytes(), name
