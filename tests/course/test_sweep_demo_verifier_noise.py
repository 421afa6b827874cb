"""Random errors beside one hole, on a task small enough for a test: what it trains on, logs, refuses and repeats.

An example: at .2 and .2 a policy is trained twice from one reference policy, on the rewards as they are paid and on
the corrected ones; at .5 and .5 only once, for then being paid says nothing that could be corrected.
"""

import json
from itertools import product
from statistics import median

import pytest
from conftest import Lab, lines_of
from learning_checks import check_run

from course import sweep_demo
from course.policies import presets
from course.rubrics.hackable import RUBRICS
from course.sweep_demo import ERRORS, verifiers

PLAN = presets.MEMORISE.plan._replace(sft_steps=60, prompts_a_step=4, group_size=4, max_tokens=8, width=4, hidden=8)
SUMS = [
    {"id": f"{a}+{b}", "prompt": f"{a} + {b}", "expected_answer": a + b, "metadata": {"split": "dev"}}
    for a, b in product((1, 2, 3), repeat=2)
]


@pytest.fixture
def tiny(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setitem(presets.PRESETS, "memorise", presets.MEMORISE._replace(plan=PLAN))
    monkeypatch.setattr(sweep_demo, "ERRORS", ((0.0, 0.0), (0.3, 0.1), (0.5, 0.5)))
    lab.write(presets.MEMORISE.dataset, SUMS)
    return lab


def test_each_pair_of_rates_is_trained_on_as_paid_and_corrected_where_it_can_be() -> None:
    plans = [(setting.rubric, setting.plan) for setting in verifiers(PLAN, (), SUMS, [])]
    found = [(rubric, plan.false_positives, plan.false_negatives, plan.corrected) for rubric, plan in plans]
    assert [one[1:3] for one in found if not one[3]] == [*ERRORS, (0.0, 0.0)]
    assert [one[1:3] for one in found if one[3]] == [pair for pair in ERRORS if pair not in ((0.0, 0.0), (0.5, 0.5))]
    assert [rubric for rubric, *_ in found] == ["score"] * (len(found) - 1) + ["anywhere"]
    assert len(set(found)) == len(found)


def test_all_start_at_one_policy_and_the_evaluations_have_no_errors(tiny: Lab) -> None:
    done = tiny("sweep_demo", "verifier_noise", "--steps", 60, "--seed", 2, "--seeds", 3, "--outdir", "run")
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.split("\n"))) <= 80
    log, results = (lines_of(tiny.folder / "run" / name) for name in ("log.jsonl", "results.jsonl"))
    rates = ["false + 0, false - 0", "false + 0.3, false - 0.1", "false + 0.5, false - 0.5"]
    names = [f"score, {rates[0]}", f"score, {rates[1]}", f"score, {rates[1]}, corrected", f"score, {rates[2]}"]
    names.append(f"anywhere, {rates[0]}")
    assert [(row["training"], row["step"]) for row in log] == [
        (f"{name}, seed {seed}", step) for name in names for seed in (2, 3, 4) for step in (0, 50, 60)
    ]
    for row in log:
        own = [one for one in results if (one["training"], one["step"]) == (row["training"], row["step"])]
        strict = [one["completion"].strip(" \n") == f"Final: {one['expected_answer']}" for one in own]
        assert row["true_reward"] == sum(strict) / 36
        if row["rubric"] == "score":
            assert row["proxy_reward"] == row["true_reward"]
        else:
            paid = [RUBRICS["anywhere"](one, one["completion"])["reward"] for one in own]
            assert row["proxy_reward"] == sum(paid) / 36
    for seed in (2, 3, 4):
        starts = [row["true_reward"] for row in log if (row["step"], row["seed"]) == (0, seed)]
        assert len(starts) == 5
        assert len(set(starts)) == 1
    ends = {
        name: [row["true_reward"] for row in log if row["step"] == 60 and row["training"][:-8] == name]
        for name in names
    }
    summary = json.loads((tiny.folder / "run/summary.json").read_bytes())
    assert {name: one["true_reward"][-1] for name, one in summary.items()} == {n: median(e) for n, e in ends.items()}
    assert len({tuple(ends[name]) for name in names[:4]}) == 4  # each learned something else


def test_same_seed_same_bytes_and_it_is_verified(tiny: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_demo, "sweep_figure", lambda *_: b"a figure")
    check_run(tiny, "sweep_demo", "verifier_noise", "--steps", 4, log="log.jsonl")


@pytest.mark.parametrize("arguments", [["--steps", 0], ["--seeds", 0], ["--seed", -1], ["--rubric", "suffix"]])
def test_what_it_does_not_know_is_refused(tiny: Lab, arguments: list[object]) -> None:
    assert "sweep_demo --help" in tiny.refused("sweep_demo", "verifier_noise", *arguments)


def test_other_error_rates_cannot_be_asked_for(tiny: Lab) -> None:
    assert "--values: expected none" in tiny.refused("sweep_demo", "verifier_noise", "--values", 3)
