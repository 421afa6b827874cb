"""Learning from several starts, on a task small enough for a test: what it logs, shows, refuses and repeats.

An example: a policy that was never fine-tuned writes every token with the same probability. No completion is right, so
in each group all rewards are equal, nothing is pushed, and after the last update it still writes the same.
"""

import json
from itertools import product

import pytest
from conftest import Lab, lines_of
from learning_checks import check_run

from course import sweep_demo
from course.policies import presets

PLAN = presets.MEMORISE.plan._replace(prompts_a_step=4, max_tokens=8, width=4, hidden=8)
SUMS = [
    {"id": f"{a}+{b}", "prompt": f"{a} + {b}", "expected_answer": a + b, "metadata": {"split": "dev"}}
    for a, b in product((1, 2, 3), repeat=2)
]
TINY = ("cold_start", "--values", 60, 0, 60, "--steps", 60)


@pytest.fixture
def tiny(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setitem(presets.PRESETS, "memorise", presets.MEMORISE._replace(plan=PLAN))
    lab.write(presets.MEMORISE.dataset, SUMS)
    return lab


def test_the_log_has_each_start_and_its_shares_are_those_of_the_results(tiny: Lab) -> None:
    done = tiny("sweep_demo", *TINY, "--seed", 2, "--seeds", 2, "--outdir", "run")
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.split("\n"))) <= 80
    log, results = (lines_of(tiny.folder / "run" / name) for name in ("log.jsonl", "results.jsonl"))
    names = [f"{count} steps, seed {seed}" for count in (0, 60) for seed in (2, 3)]
    assert [(row["training"], row["step"]) for row in log] == [*product(names, (0, 50, 60))]
    for row in log:
        own = [one for one in results if (one["training"], one["step"]) == (row["training"], row["step"])]
        assert len(own) == row["n"] == 4 * len(SUMS)
        assert row["true_reward"] == sum(one["completion"] == f"Final: {one['expected_answer']}" for one in own) / 36
        assert row["holdout_n"] == 0
    assert [row["equal_groups"] for row in log if row["training"] == names[0]] == [None, 1.0, 1.0]
    first, last = (
        [one["completion"] for one in results if one["training"] == names[0] and one["step"] == n] for n in (0, 60)
    )
    assert first == last
    summary = json.loads((tiny.folder / "run/summary.json").read_bytes())
    trained = [[row["true_reward"] for row in log if row["training"] == name] for name in names[2:]]
    assert summary["60 steps"]["true_reward"] == pytest.approx([(a + b) / 2 for a, b in zip(*trained, strict=True)])


def test_same_seed_same_bytes_and_it_is_verified(tiny: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_demo, "sweep_figure", lambda *_: b"a figure")
    check_run(tiny, "sweep_demo", "cold_start", "--values", 40, "--steps", 4, log="log.jsonl")


@pytest.mark.parametrize("arguments", [["--values"], ["--values", -1], ["--steps", 0], ["--seeds", 0], ["--lr", 1]])
def test_what_it_does_not_know_is_refused(tiny: Lab, arguments: list[object]) -> None:
    assert "sweep_demo --help" in tiny.refused("sweep_demo", "cold_start", *arguments)
