"""The shipped data: what data/README.md promises of it, computed anew; and that its script makes the same bytes.

An example: dev-001 tells of a library that has 983 books and buys 92 more. Its answer, 1075, is worked out from
those words and compared with ``expected_answer``.
"""

import json
import math
import random
import re
import subprocess
import sys
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, files, lines_of

from course.faults import CHECKS
from course.score import measure

DATA = ROOT / "data"
DEV = lines_of(DATA / "datasets" / "math_dev.jsonl")
HOLDOUT = lines_of(DATA / "datasets" / "math_holdout.jsonl")
FROZEN = {split: lines_of(DATA / "rollouts" / f"frozen_rollouts_{split}.jsonl") for split in ("dev", "holdout")}
PACK = lines_of(DATA / "rollouts" / "selection_pack_dev.jsonl")
SPLITS = {"dev": DEV, "holdout": HOLDOUT}
SIMULATED = [*sorted((DATA / "rollouts").glob("frozen_*.jsonl")), DATA / "rollouts" / "selection_pack_dev.jsonl"]
splits = pytest.mark.parametrize("split", SPLITS)


INSTRUCTION = "Answer with exactly one line: Final: <int>"
WORD_PROBLEMS = {"dev": 27, "holdout": 20}
READINGS = [  # what a word problem asks -> the expression for it; every number has its group
    (r"library has (\d+) books and buys (\d+) more\. How many books", "{} + {}"),
    (r"(\d+) rolls on Monday, (\d+) on Tuesday and (\d+) on Wednesday\. How many .* in all", "{} + {} + {}"),
    (r"account holds (\d+) dollars, and (\d+) .* taken out\. What is the balance .*negative", "{} - {}"),
    (r"prints (\d+) pages a minute\. How many pages .* in (\d+) minutes", "{} * {}"),
    (r"(\d+) eggs into boxes of (\d+) .*How many boxes", "{} / {}"),
    (r"(\d+) pencils equally among (\d+) .*left over", "the remainder when {} is divided by {}"),
    (r"starts with (\d+) points, then plays (\d+) rounds and gains (\d+) .*in each\. .*score", "{} + {} * {}"),
    (r"starts with (\d+) points, then plays (\d+) rounds and loses (\d+) .*in each\. .*below zero", "{} - {} * {}"),
    (r"box holds (\d+) red pens and (\d+) blue pens\. How many pens .*in (\d+) such boxes", "({} + {}) * {}"),
    (r"takes in (\d+) dollars and spends (\d+) .*profit over (\d+) days .*negative if .*loss", "({} - {}) * {}"),
    (r"at (-\d+) degrees and warms up by (\d+) degrees\. What is its temperature", "({}) + {}"),
    (r"at (-\d+) degrees and is cooled by another (\d+) degrees\. What is its temperature", "({}) - {}"),
    (r"(\d+) metres above sea level, .* (\d+) metres below .*higher is the hilltop", "{} - (-{})"),
    (r"mistake counts (-\d+) points\. How many points do (\d+) mistakes count", "({}) * {}"),
    (r"mistake counts (-\d+) points, and a referee cancels (\d+) .*score change .*negative if", "({}) * (-{})"),
    (r"has (-\d+) points after (\d+) rounds .*same\. How many points did each", "({}) / {}"),
    (r"(\d+) rows of (\d+) chairs, and (\d+) guests .*more chairs than guests .*fewer", "{} * {} - {}"),
]
# SHA-256. Of the datasets: as they were in 0.1.0, before any prompt was reworded.
DATASETS_BEFORE = {
    "dev": "83a66a5ad1e602794b1c4e205ba2e9164ff1d5290e62aae40d6ce561a831f842",
    "holdout": "e2634d278d766a96a3d2af6f5513b8b1b9cb664578a88a96a01cd4d579619fbf",
}
ROLLOUTS_SINCE_0_1_0 = {
    "frozen_rollouts_dev.jsonl": "44bcacb2163003b6411833cc8011e1f148573f0be23de6345a5d76ad7c104422",
    "frozen_rollouts_dev.meta.json": "2de2a476a4b14a93816c9e1743c55c090ab1f389c11d3e83f5d2368834f10703",
    "frozen_rollouts_holdout.jsonl": "daab281fd045c375734e343f1b07fce07c083be5d813fa42c0c24a5de7e32312",
    "frozen_rollouts_holdout.meta.json": "1ab9f8003f413188ca2e0a164a88c5565a09667b14de1df18c47882aa9a21045",
    "selection_pack_dev.jsonl": "9d0e86e0f72faf4b99d2d323cca7db5a3f43f5ec293907dfbf8804044922ee41",
    "selection_pack_dev.meta.json": "78daa4706b3e32faac797cf70e0b7bb829a4e525b10a730a796df4871efa366a",
}


def expression_in(prompt: str) -> str:
    """The expression that a prompt asks for, read from its words alone: "Compute ..." or one of the stories."""
    question = prompt.removesuffix(f" {INSTRUCTION}")
    assert question != prompt
    if question.startswith("Compute "):
        return question.removeprefix("Compute ").removesuffix(".")
    matches = [(match, form) for pattern, form in READINGS if (match := re.search(pattern, question))]
    assert len(matches) == 1, question
    [(match, form)] = matches
    assert list(match.groups()) == re.findall(r"-?\d+", question), "every number is read"
    assert question.endswith("?")
    return form.format(*match.groups())


def answer_to(prompt: str) -> Fraction:
    """Worked out from the words of the prompt alone."""
    expression = expression_in(prompt)
    if remainder := re.fullmatch(r"the remainder when (\d+) is divided by (\d+)", expression):
        return Fraction(int(remainder[1]) % int(remainder[2]))
    assert re.fullmatch(r"[0-9+*/() -]+", expression)
    value = eval(re.sub(r"(\d+)", r"Fraction(\1)", expression), {"Fraction": Fraction})
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
def test_every_third_prompt_is_a_word_problem_and_no_other_is(split: str) -> None:
    in_words = [not example["prompt"].startswith("Compute ") for example in SPLITS[split]]
    assert in_words == [position % 3 == 1 for position in range(1, len(in_words) + 1)]
    assert sum(in_words) == WORD_PROBLEMS[split]


@splits
def test_with_each_word_problem_put_back_as_its_expression_the_dataset_is_that_of_0_1_0(split: str) -> None:
    """Byte for byte: so ids, answers, kinds, the order and all other prompts are as they were."""
    before = [row | {"prompt": f"Compute {expression_in(row['prompt'])}. {INSTRUCTION}"} for row in SPLITS[split]]
    lines = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n" for row in before]
    assert sha256("".join(lines).encode()).hexdigest() == DATASETS_BEFORE[split]


@splits
def test_the_changelog_names_both_versions_of_the_dataset(split: str) -> None:
    now = sha256((DATA / "datasets" / f"math_{split}.jsonl").read_bytes()).hexdigest()
    assert f"`{DATASETS_BEFORE[split]}` | `{now}`" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def as_in_0_1_0(path: Path) -> bytes:
    """A file as it is; a meta file without the keys that it did not have then."""
    if path.suffix == ".jsonl":
        return path.read_bytes()
    meta = json.loads(path.read_bytes())
    del meta["template"], meta["completions_sha256"], meta["training"]
    return f"{json.dumps(meta, indent=2)}\n".encode()


def test_completions_and_packs_are_those_of_0_1_0_and_meta_files_but_for_newer_keys() -> None:
    assert {
        name: sha256(as_in_0_1_0(DATA / "rollouts" / name)).hexdigest() for name in ROLLOUTS_SINCE_0_1_0
    } == ROLLOUTS_SINCE_0_1_0


def test_the_policy_passes_as_often_as_in_0_1_0() -> None:
    assert {split: sum(right_of(split)) for split in SPLITS} == {"dev": 34, "holdout": 27}
    in_pack = right_in_pack()
    assert [in_pack.count(passed) for passed in range(9)] == [6, 13, 15, 10, 11, 16, 4, 3, 2]


def test_the_stories_are_true_of_every_number_the_script_can_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 fresh problems: the story asks for what the expression says, in every shape that an expression has."""
    monkeypatch.syspath_prepend(DATA)
    import make_data
    from word_problems import STORIES, word_problem

    shapes = set()
    for problem in make_data.draw_problems(random.Random(0), 100):
        shapes.add(re.sub(r"\d+", "#", problem.expression))
        assert expression_in(word_problem(problem.prompt)) == problem.expression
    assert shapes == set(STORIES)


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
    absent = {"extra_whitespace"}  # the white space that they hold after the prefix is not ASCII
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


@pytest.mark.parametrize("path", SIMULATED, ids=lambda path: path.name)
def test_each_file_of_completions_says_who_wrote_it(path: Path) -> None:
    meta: dict[str, Any] = json.loads(path.with_suffix(".meta.json").read_bytes())
    assert list(meta) == ["policy", "created", "sampling", "template", "completions_sha256", "training", "note"]
    assert meta["template"] == "{prompt}"
    assert meta["completions_sha256"] == sha256(path.read_bytes()).hexdigest()
    assert meta["training"] is None
    assert meta["policy"] == "simulated-writer-1"
    assert "No language model was run" in meta["note"]
    sampling = meta["sampling"]
    assert (sampling["temperature"], sampling["top_p"]) == (1.0, 1.0)
    assert sampling["n"] == (8 if "pack" in path.name else 1)
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"\b{sampling['seed']}\b", readme.partition("| seed | of |")[2])


def test_there_are_three_simulated_and_three_sampled_files_of_completions_each_with_its_meta() -> None:
    generated = {path.stem for path in (DATA / "rollouts").glob("*.jsonl")}
    assert len(SIMULATED) == 3
    assert generated - {path.stem for path in SIMULATED} == {
        "smollm2_pack_dev",
        "smollm2_rollouts_dev",
        "smollm2_zero_shot_dev",
    }
    assert {path.name.removesuffix(".meta.json") for path in (DATA / "rollouts").glob("*.meta.json")} == generated


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


@pytest.mark.parametrize("name", ["bandit", "bandit_backwards", "two_steps"])
def test_an_example_run_is_whole_under_the_installed_scorer(lab: Lab, name: str) -> None:
    runs = DATA / "example_runs"
    done = lab("inspect_run", "--run", runs / name, "--verify", "--log", runs / "log.jsonl")
    assert (done.status, done.err) == (0, ""), done.out


def test_the_log_of_the_example_runs_shows_the_last_expectation_of_each() -> None:
    last = {}
    for line in lines_of(DATA / "example_runs" / "log.jsonl"):
        (name,) = line["number"]
        last[line["run"]] = name
        assert line["number"] == {name: json.loads((ROOT / line["run"] / "summary.json").read_bytes())[name]}
    runs = [f"data/example_runs/{name}" for name in ("bandit", "bandit_backwards", "two_steps")]
    assert last == dict(zip(runs, ["expected_reward_after"] * 2 + ["expected_return_after"], strict=True))
