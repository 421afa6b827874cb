"""pass@k before and after learning, on tasks small enough for a test: what it counts, logs, refuses and repeats.

An example: of 256 completions of a prompt 32 are right. results.jsonl has each different completion once with how often
it was sampled: the right one has count 32, all of this prompt add up to 256, and pass@1 is 1/8.
"""

import json
import math
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import Lab, lines_of
from learning_checks import check_run
from tiny_policies import contexts, next_p, seen_of
from tiny_policies import tiny as tiny_policy

from course import pass_at_k_demo
from course.datasets import sources
from course.policies import presets
from course.policies.sampling import sample_texts

PLAN = presets.MEMORISE.plan._replace(sft_steps=60, prompts_a_step=4, group_size=4, max_tokens=8, width=4, hidden=8)
SUMS = [
    {"id": f"{a}+{b}", "prompt": f"{a} + {b}", "expected_answer": a + b, "metadata": {"split": "dev"}}
    for a, b in product((1, 2, 3), repeat=2)
]
SPLITS = {"dev": SUMS[:6], "holdout": [one | {"metadata": {"split": "holdout"}} for one in SUMS[6:]]}


@pytest.fixture
def tiny(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    files = {name: [f"{name}_{split}.jsonl" for split in SPLITS] for name in ("one", "other")}
    for name, split in product(files, SPLITS):
        extra = (
            []
            if name == "one"
            else [{"id": "x", "prompt": f"{split} 9", "expected_answer": 9, "metadata": {"split": split}}]
        )
        lab.write(f"{name}_{split}.jsonl", [*SPLITS[split], *extra])
    monkeypatch.setattr(
        pass_at_k_demo, "PRESETS", {name: presets.Preset(two[0], two[1], PLAN) for name, two in files.items()}
    )
    monkeypatch.setattr(sources, "shipped_holdouts", dict)
    return lab


@pytest.mark.parametrize("presets_given", [["one"], ["one", "other"]])
def test_each_pass_at_k_follows_from_the_results(tiny: Lab, presets_given: list[str]) -> None:
    asked = ("--steps", 30, "--prompts", 4, "--seed", 2, "--seeds", 2, "--presets", *presets_given)
    done = tiny("pass_at_k_demo", *asked, "--outdir", "run")
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.split("\n"))) <= 80
    log, results = (lines_of(tiny.folder / "run" / name) for name in ("log.jsonl", "results.jsonl"))
    found: Counter[Any] = Counter()
    for one in results:
        count, right = one.get("count", 1), one["completion"].strip(" \n") == f"Final: {one['expected_answer']}"
        key = (one["training"], one["step"], one["split"], one["id"])
        found.update({(*key, "n"): count, (*key, "right"): right * count})
    for row in log:
        key = (f"{row['preset']}, seed {row['seed']}", row["step"], row["split"], row["id"])
        assert (row["n"], row["correct"]) == (found[*key, "n"], found[*key, "right"]) == (256, row["correct"])
    keys = [(row["preset"], row["seed"], row["step"], row["split"]) for row in log]
    assert {*Counter(keys).items()} == {
        ((*key, split), min(4, len(SPLITS[name]) + (key[0] == "other")))
        for key in product(presets_given, (2, 3), (0, 30))
        for split, name in (("train", "dev"), ("holdout", "holdout"))
    }
    summary = json.loads((tiny.folder / "run/summary.json").read_bytes())
    assert [*summary] == [f"{name}, {split}" for name in presets_given for split in ("train", "holdout")]
    for name, one in summary.items():
        for when, step in (("before", 0), ("after", 30)):
            rows = [row for row in log if f"{row['preset']}, {row['split']}" == name and row["step"] == step]
            for k in (1, 2, 128):
                missed = [math.comb(256 - row["correct"], k) / math.comb(256, k) for row in rows]
                assert one[when][k - 1] == pytest.approx(1 - sum(missed) / len(missed))
            assert one["entropy_before"] != one["entropy_after"]
            assert one[f"entropy_{when}"] == pytest.approx(sum(row["entropy"] for row in rows) / len(rows))
    opened = [line["holdouts"] for line in lines_of(tiny.log)]
    assert [len(one) for one in opened] == [len(presets_given)]
    assert "look number 1 at it" in done.out


def test_the_completions_are_the_policys_and_the_entropy_is_that_of_their_next_tokens() -> None:
    policy, example = tiny_policy(max_tokens=3), {"id": "q", "prompt": "bab", "expected_answer": 1}
    found, entropy = pass_at_k_demo.sample_and_count(policy, example, np.random.default_rng(5))
    texts = sample_texts(policy, ["bab"] * 256, np.random.default_rng(5))
    assert found == Counter(texts)
    rows = [[*(" ab".index(char) for char in text), 0][:3] for text in texts]
    read = [context for row in rows for context in contexts(policy, seen_of(policy, "bab"), row)]
    entropies = [-sum(p * math.log(p) for p in next_p(policy, context)) for context in read]
    assert entropy == pytest.approx(sum(entropies) / len(entropies))


def test_same_seed_same_bytes_and_it_is_verified(tiny: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pass_at_k_demo, "pass_at_k_figure", lambda _: b"a figure")
    check_run(tiny, "pass_at_k_demo", "--presets", "one", "--steps", 4, log="log.jsonl")


@pytest.mark.parametrize(
    "arguments", [["--presets", "none"], ["--steps", 0], ["--prompts", 0], ["--seeds", 0], ["--k", 1]]
)
def test_what_it_does_not_know_is_refused(tiny: Lab, arguments: list[object]) -> None:
    assert "pass_at_k_demo --help" in tiny.refused("pass_at_k_demo", *arguments)


def test_without_a_holdout_it_does_nothing(tiny: Lab) -> None:
    Path("other_holdout.jsonl").unlink()
    assert "other_holdout.jsonl" in tiny.refused("pass_at_k_demo", "--presets", "other")
