"""The bandit, kept: a run side by side with another worked by hand, logs, the baseline's effect, the example runs.

The worked example. Two runs of two arms with rewards 0 and 1, even probabilities, learning rate 2. The draws 0.25 and
0.75 sample arm 0 in the first run and arm 1 in the second. The first has reward 0 against a baseline of 0: nothing
changes. The second has advantage 1, ∂ log p / ∂ theta is [−½, ½], and theta becomes [−1, 1].
"""

import hashlib
import json

import numpy as np
import pytest
from conftest import ROOT, Lab, lines_of
from learning_checks import check_run, check_update_rows, summary

from course.bandit_train import draws_of, learn
from course.policies.bandit import ARMS, arm_rewards
from course.policy_gradient_demo import learn as learn_in_slow_motion

EXAMPLE_RUNS = ROOT / "data" / "example_runs"


@pytest.fixture
def quick(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab whose figures take no time, for tests of something else; test_bandit_train_figure.py has theirs."""
    for figure in ("learning_curve", "ablation_bands"):
        monkeypatch.setattr(f"course.bandit_train.{figure}", lambda *_: b"\x89PNG")
    return lab


def test_two_runs_side_by_side_are_those_worked_by_hand() -> None:
    (update,) = learn(np.array([0.0, 1.0]), np.array([[0.25], [0.75]]), 2.0, with_baseline=True)
    assert update.action.tolist() == [0, 1]
    assert update.advantage.tolist() == [0.0, 1.0]
    assert update.direction.tolist() == [[0.0, 0.0], [-0.5, 0.5]]
    assert update.new_theta.tolist() == [[0.0, 0.0], [-1.0, 1.0]]


@pytest.mark.parametrize("with_baseline", [False, True])
def test_the_loop_is_that_of_slow_motion(with_baseline: bool) -> None:
    kept = learn(arm_rewards(), draws_of(5, 30), -0.7, with_baseline)
    slow = learn_in_slow_motion(draws_of(5, 30)[0], -0.7, with_baseline)
    for one, other in zip(kept, slow, strict=True):
        for ours, theirs in zip(one, other, strict=True):
            assert np.asarray(ours)[0].tolist() == np.asarray(theirs).tolist()


def test_run_i_of_many_is_the_single_run_with_seed_plus_i() -> None:
    many = list(learn(arm_rewards(), draws_of(7, 25, runs=4), 0.5, with_baseline=True))
    alone = list(learn(arm_rewards(), draws_of(9, 25), 0.5, with_baseline=True))
    assert [update.new_theta[2].tolist() for update in many] == [update.new_theta[0].tolist() for update in alone]


@pytest.mark.parametrize("more", [[], ["--no-baseline"], ["--lr", "-0.5"]])
def test_the_identities_hold_exactly_in_every_row(quick: Lab, more: list[str]) -> None:
    quick("bandit_train", "--steps", "40", *more, "--outdir", "run")
    rows = lines_of(quick.folder / "run" / "bandit_train_log.jsonl")
    check_update_rows(rows, with_baseline="--no-baseline" not in more)
    results = lines_of(quick.folder / "run" / "results.jsonl")
    assert [(row["step"], row["completion"], row["reward"]) for row in results] == [
        (row["step"] - 1, ARMS[row["action"]], row["reward"]) for row in rows
    ]


def test_a_run_is_reproducible_and_whole(quick: Lab) -> None:
    check_run(quick, "bandit_train", "--steps", "40", "--ablation", "5", log="bandit_train_log.jsonl")


def test_the_identities_hold_exactly_in_the_example_runs() -> None:
    for name in ("bandit", "bandit_backwards"):
        check_update_rows(lines_of(EXAMPLE_RUNS / name / "bandit_train_log.jsonl"), with_baseline=True)
    assert sorted(path.name for path in EXAMPLE_RUNS.iterdir()) == [
        "bandit",
        "bandit_backwards",
        "log.jsonl",
        "two_steps",
    ]


@pytest.mark.parametrize("name", ["bandit", "bandit_backwards", "two_steps"])
def test_an_example_run_is_as_its_manifest_says(name: str) -> None:
    outputs = json.loads((EXAMPLE_RUNS / name / "manifest.json").read_text(encoding="utf-8"))["outputs"]
    assert "results.jsonl" in outputs
    for file, digest in outputs.items():
        assert hashlib.sha256((EXAMPLE_RUNS / name / file).read_bytes()).hexdigest() == digest


def test_a_negative_learning_rate_learns_the_opposite(quick: Lab) -> None:
    quick("bandit_train", "--lr", "0.5", "--outdir", "up")
    quick("bandit_train", "--lr", "-0.5", "--outdir", "down")
    up, down = summary(quick.folder / "up"), summary(quick.folder / "down")
    assert up["expected_reward_after"] > 0.9 > 0.5 > 0.1 > down["expected_reward_after"]


def test_the_baseline_lowers_the_variance_of_the_gradient_and_not_what_is_learned(lab: Lab) -> None:
    done = lab("bandit_train", "--ablation", "300", "--outdir", "run")
    ablation = summary(lab.folder / "run")["ablation"]
    with_, without = ablation["with baseline"], ablation["without baseline"]
    assert with_["gradient_variance"] < 0.6 * without["gradient_variance"]
    assert with_["last_expected_reward"] == pytest.approx(without["last_expected_reward"], abs=0.02)
    assert f"{with_['gradient_variance']:.4f}" in done.out
    for columns in json.loads((lab.folder / "run" / "ablation.json").read_bytes()).values():
        assert columns["mean"][0] == columns["low"][0] == columns["high"][0] == 0.5
        assert all(low <= high for low, high in zip(columns["low"], columns["high"], strict=True))
        assert columns["low"][50] < columns["mean"][50] < columns["high"][50]
    assert (lab.folder / "run" / "ablation.png").read_bytes().startswith(b"\x89PNG")
