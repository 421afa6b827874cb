"""The sums: what data/README.md promises of them, computed anew; and that their script makes the same bytes.

The oracle never adds two numbers of a prompt with ``+``: it counts on, and it adds digit by digit from a table.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, files, lines_of

DATA = ROOT / "data"
SIZES = {  # file -> how many examples, and how long the number in an id is
    ("one_digit_sum", "dev"): (75, 3),
    ("one_digit_sum", "holdout"): (25, 3),
    ("two_digit_sum", "dev"): (1000, 4),
    ("two_digit_sum", "holdout"): (300, 3),
}
SUMS = {(kind, split): lines_of(DATA / "datasets" / f"{kind}s_{split}.jsonl") for kind, split in SIZES}
DIGITS = "0123456789"
TABLE = {(a, b): len("|" * int(a) + "|" * int(b)) for a in DIGITS for b in DIGITS}  # two digits, added with strokes
each_file = pytest.mark.parametrize(("kind", "split"), SIZES)
each_kind = pytest.mark.parametrize("kind", ["one_digit_sum", "two_digit_sum"])


def operands(example: Any) -> tuple[str, str]:
    """As they are written in the prompt."""
    match = re.fullmatch(
        r"Compute ([0-9]+) \+ ([0-9]+)\. Answer with exactly one line: Final: <int>", example["prompt"]
    )
    assert match, example["id"]
    return match[1], match[2]


def digit_sums(a: str, b: str) -> list[int]:
    """What the digits in each place add up to, nothing carried."""
    return [TABLE[places] for places in zip(a, b, strict=True)]


def every_pair(kind: str) -> Iterator[tuple[str, str]]:
    """Each sum that the kind allows, spelled out digit by digit."""
    ones = [(a, b) for a in DIGITS for b in DIGITS]
    if kind == "one_digit_sum":
        yield from ones
        return
    for tens_a, tens_b in ones:
        for ones_a, ones_b in ones:
            if "0" not in (tens_a, tens_b) and max(TABLE[tens_a, tens_b], TABLE[ones_a, ones_b]) < 10:
                yield tens_a + ones_a, tens_b + ones_b


def all_of(kind: str) -> list[tuple[str, str]]:
    return [operands(example) for split in ("dev", "holdout") for example in SUMS[kind, split]]


@each_file
def test_each_file_has_its_size_and_its_ids_are_numbered(kind: str, split: str) -> None:
    size, width = SIZES[kind, split]
    expected = [f"{split}-{str(number).zfill(width)}" for number in range(1, size + 1)]
    assert [example["id"] for example in SUMS[kind, split]] == expected


@each_file
def test_records_are_those_of_the_other_datasets_and_say_their_split_and_kind(kind: str, split: str) -> None:
    model = lines_of(DATA / "datasets" / "math_dev.jsonl")[0]
    for example in SUMS[kind, split]:
        assert [*example] == [*model], example["id"]
        assert [*example["metadata"]] == [*model["metadata"]], example["id"]
        assert example["metadata"] == {"split": split, "kind": kind}, example["id"]


@each_kind
def test_no_prompt_stands_twice_or_in_both_splits(kind: str) -> None:
    prompts = [example["prompt"] for split in ("dev", "holdout") for example in SUMS[kind, split]]
    assert len(set(prompts)) == len(prompts)


@each_file
def test_every_answer_is_reached_by_counting_on(kind: str, split: str) -> None:
    for example in SUMS[kind, split]:
        a, b = operands(example)
        assert type(example["expected_answer"]) is int
        assert range(int(a), 1000)[int(b)] == example["expected_answer"], example["id"]


@pytest.mark.parametrize("split", ["dev", "holdout"])
def test_no_sum_of_two_digits_needs_a_carry(split: str) -> None:
    for example in SUMS["two_digit_sum", split]:
        sums = digit_sums(*operands(example))
        assert len(sums) == 2, example["id"]
        assert max(sums) < 10, example["id"]
        assert "".join(map(str, sums)) == str(example["expected_answer"]), example["id"]


@pytest.mark.parametrize(("kind", "count", "left_over"), [("one_digit_sum", 100, 0), ("two_digit_sum", 1980, 680)])
def test_the_sums_come_from_all_there_are(kind: str, count: int, left_over: int) -> None:
    allowed = set(every_pair(kind))
    assert len(allowed) == count
    assert set(all_of(kind)) <= allowed
    assert len(allowed - set(all_of(kind))) == left_over


@pytest.mark.parametrize(("kind", "mirrored"), [("one_digit_sum", 16), ("two_digit_sum", 154)])
def test_as_many_sums_in_holdout_have_their_mirror_image_in_dev_as_the_readme_says(kind: str, mirrored: int) -> None:
    dev, holdout = ([operands(example) for example in SUMS[kind, split]] for split in ("dev", "holdout"))
    assert sum((b, a) in dev for a, b in holdout if a != b) == mirrored
    assert re.search(rf"\b{mirrored} of the {len(holdout)}\b", (DATA / "README.md").read_text(encoding="utf-8"))


@each_kind
def test_the_order_is_shuffled(kind: str) -> None:
    """Of neighbours in a fair order, half rise; in a sorted one, all do. The files are fixed, so this is no gamble."""
    pairs = [operands(example) for example in SUMS[kind, "dev"]]
    rising = [first < second for first, second in pairwise(pairs)]
    assert 0.4 < sum(rising) / len(rising) < 0.6


def test_the_readme_names_each_file_with_its_size_and_the_seeds_of_the_script() -> None:
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    for (kind, split), (size, _) in SIZES.items():
        assert f"| `datasets/{kind}s_{split}.jsonl` | {size:,} |" in readme
    script = (DATA / "make_sums.py").read_text(encoding="utf-8")
    seeds = re.search(r"^ONE_DIGIT_SEED, TWO_DIGIT_SEED = (\d+), (\d+)$", script, re.MULTILINE)
    assert seeds
    assert f"| {seeds[1]} | the order of the one-digit sums |" in readme
    assert f"| {seeds[2]} | the order of the two-digit sums |" in readme


def test_the_small_file_has_the_first_of_dev() -> None:
    assert lines_of(DATA / "datasets" / "one_digit_sums_small.jsonl") == SUMS["one_digit_sum", "dev"][:25]


def test_the_script_makes_the_same_bytes(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DATA / "make_sums.py", "--out", tmp_path], check=True, cwd=tmp_path)
    made = {name: data for name, data in files(tmp_path).items() if data is not None}
    assert set(made) == {f"datasets/{kind}s_{split}.jsonl" for kind, split in [*SIZES, ("one_digit_sum", "small")]}
    for name, data in made.items():
        assert data == (DATA / name).read_bytes(), name
