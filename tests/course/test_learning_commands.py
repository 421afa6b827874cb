"""The small demos of Loop C as their user runs them: logs whose identities hold in every row, and equal bytes."""

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab

from course.bandit_train import draws_of, learn
from course.policies.bandit import rewards

COMMANDS = {
    "policy_gradient_demo": (["--fast", "--steps", "12"], "policy_gradient_log.jsonl"),
    "bandit_train": (["--steps", "40", "--ablation", "5"], "bandit_train_log.jsonl"),
    "toy_mdp": (["--episodes", "30"], "toy_mdp_log.jsonl"),
    "policy_improvement_demo": (["--mode", "learning", "--rounds", "6"], "policy_improvement.jsonl"),
}
EXAMPLES = ROOT / "data" / "example_runs"
SEALED = {"README.md", "environment.json"}  # what is not


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def softmax(theta: list[float]) -> list[float]:
    weights = [math.exp(x) for x in theta]
    return [weight / sum(weights) for weight in weights]


def sealed(run: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in run.iterdir() if path.name not in SEALED}


@pytest.mark.parametrize("command", COMMANDS)
def test_same_seed_same_bytes_and_another_seed_other_bytes(lab: Lab, command: str) -> None:
    arguments, log = COMMANDS[command]
    for outdir, seed in (("one", 3), ("same", 3), ("other", 4)):
        assert lab(command, *arguments, "--seed", seed, "--outdir", outdir).status == 0
    one, same, other = (sealed(lab.folder / name) for name in ("one", "same", "other"))
    assert one == same
    assert one.keys() == other.keys()
    assert one[log] != other[log]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_of_loop_c_is_verified_like_any_other(lab: Lab, command: str) -> None:
    arguments, log = COMMANDS[command]
    lab(command, *arguments, "--outdir", "run")
    assert lab("inspect_run", "--run", "run", "--verify").status == 0
    lab.write(f"run/{log}", (lab.folder / "run" / log).read_bytes().replace(b"0.25", b"0.26", 1) + b"\n")
    assert lab("inspect_run", "--run", "run", "--verify").status == 1
    assert lab("gate", "--baseline", "run", "--candidate", "run", "--min-delta", "0").status == 1


def check_steps(log: list[dict[str, Any]], with_baseline: bool) -> None:
    """Each identity of a step, exactly, in every row; and that each row goes on where the one before ended."""
    earned: list[float] = []
    theta = [0.0] * 4
    for number, row in enumerate(log, 1):
        assert row["step"] == number
        assert row["theta"] == theta
        assert row["probs"] == pytest.approx(softmax(theta), abs=1e-12)
        assert row["reward"] == rewards()[row["action"]]
        expected_baseline = sum(earned) / len(earned) if with_baseline and earned else 0.0
        assert row["baseline"] == pytest.approx(expected_baseline, abs=1e-12)  # of the steps before, never this one's
        assert row["advantage"] == row["reward"] - row["baseline"]
        direction = [(arm == row["action"]) - p for arm, p in enumerate(row["probs"])]
        assert row["direction"] == direction
        assert row["gradient"] == [row["advantage"] * d for d in direction]
        assert row["new_theta"] == [t + row["lr"] * g for t, g in zip(theta, row["gradient"], strict=True)]
        assert row["new_probs"] == pytest.approx(softmax(row["new_theta"]), abs=1e-12)
        earned.append(row["reward"])
        theta = row["new_theta"]
    assert earned


def check_episodes(log: list[dict[str, Any]], frozen: bool) -> None:
    """The same of episodes."""
    returns: list[float] = []
    for row in log:
        if not returns:
            assert row["expected_return"] == 0.25  # even chances: one trajectory of four
        assert row["rewards"][0] == 0.0
        assert row["rewards"][1] == ("".join(row["pieces"]) == "Final: 323")
        assert row["return_"] == [row["rewards"][0] + row["rewards"][1], row["rewards"][1]]
        assert row["baseline"] == pytest.approx(sum(returns) / len(returns) if returns else 0.0, abs=1e-12)
        assert row["credited"] == [not frozen, True]
        for step in (0, 1):
            assert row["advantage"][step] == row["return_"][step] - row["baseline"]
            direction = [(arm == row["actions"][step]) - p for arm, p in enumerate(row["probs"][step])]
            assert row["direction"][step] == direction
            pushed = zip(row["theta"][step], direction, strict=True)
            moved = [t + row["lr"] * row["advantage"][step] * d for t, d in pushed]
            assert row["new_theta"][step] == (moved if row["credited"][step] else row["theta"][step])
        returns.append(row["return_"][0])
    assert returns


@pytest.mark.parametrize("command", ["policy_gradient_demo", "bandit_train"])
@pytest.mark.parametrize("more", [[], ["--no-baseline"], ["--lr", "-0.5"]])
def test_the_identities_of_a_step_hold_exactly_in_every_row(lab: Lab, command: str, more: list[str]) -> None:
    arguments, log = COMMANDS[command]
    lab(command, *arguments, *more, "--outdir", "run")
    check_steps(rows(lab.folder / "run" / log), "--no-baseline" not in more)


@pytest.mark.parametrize("frozen", [False, True])
def test_the_identities_of_an_episode_hold_exactly_in_every_row(lab: Lab, frozen: bool) -> None:
    lab("toy_mdp", "--episodes", "60", *(["--no-credit-step1"] if frozen else []), "--outdir", "run")
    check_episodes(rows(lab.folder / "run" / "toy_mdp_log.jsonl"), frozen)


def test_the_identities_hold_exactly_in_every_row_of_every_shipped_example_run() -> None:
    check_steps(rows(EXAMPLES / "bandit" / "bandit_train_log.jsonl"), with_baseline=True)
    check_steps(rows(EXAMPLES / "bandit_backwards" / "bandit_train_log.jsonl"), with_baseline=True)
    check_episodes(rows(EXAMPLES / "two_steps" / "toy_mdp_log.jsonl"), frozen=False)
    assert sorted(path.name for path in EXAMPLES.iterdir()) == ["bandit", "bandit_backwards", "two_steps"]
    for run in EXAMPLES.iterdir():
        sealed = json.loads((run / "manifest.json").read_text(encoding="utf-8"))["outputs"]
        assert sealed
        for name, digest in sealed.items():
            assert hashlib.sha256((run / name).read_bytes()).hexdigest() == digest


def test_a_negative_learning_rate_learns_the_opposite(lab: Lab) -> None:
    lab("bandit_train", "--lr", "0.5", "--outdir", "up")
    lab("bandit_train", "--lr", "-0.5", "--outdir", "down")
    up, down = (json.loads((lab.folder / name / "summary.json").read_text()) for name in ("up", "down"))
    assert up["expected_reward_after"] > 0.9 > 0.5 > 0.1 > down["expected_reward_after"]


def test_run_i_of_many_is_the_single_run_with_seed_plus_i() -> None:
    many = list(learn(draws_of(7, 25, runs=4), rewards(), 0.5, with_baseline=True))
    alone = list(learn(draws_of(9, 25), rewards(), 0.5, with_baseline=True))
    assert [update.new_theta[2].tolist() for update in many] == [update.new_theta[0].tolist() for update in alone]


def test_the_baseline_lowers_the_variance_of_the_gradient_and_not_what_is_learned(lab: Lab) -> None:
    done = lab("bandit_train", "--ablation", "300", "--outdir", "run")
    found = json.loads((lab.folder / "run" / "summary.json").read_text())["ablation"]
    with_, without = found["with baseline"], found["without baseline"]
    assert with_["gradient_variance"] < 0.6 * without["gradient_variance"]
    assert with_["expected_reward_after"] == pytest.approx(without["expected_reward_after"], abs=0.02)
    assert f"{with_['gradient_variance']:.4f}" in done.out
    assert (lab.folder / "run" / "ablation.png").read_bytes().startswith(b"\x89PNG")


def test_without_credit_the_first_step_stays_blind(lab: Lab) -> None:
    lab("toy_mdp", "--outdir", "credit")
    lab("toy_mdp", "--no-credit-step1", "--outdir", "frozen")
    credit, frozen = (json.loads((lab.folder / name / "summary.json").read_text()) for name in ("credit", "frozen"))
    assert credit["first_step_probs"][1] > 0.95
    assert frozen["first_step_probs"] == [0.5, 0.5]
    assert credit["mean_return_of_the_last_tenth"] > frozen["mean_return_of_the_last_tenth"]


@pytest.mark.parametrize(("mode", "moves"), [("selection", False), ("learning", True)])
def test_the_policys_own_pass_at_1_moves_in_one_mode_only(lab: Lab, mode: str, moves: bool) -> None:
    lab("policy_improvement_demo", "--mode", mode, "--outdir", "run")
    log = rows(lab.folder / "run" / "policy_improvement.jsonl")
    worth = {row["pass_at_1"] for row in log}
    assert log[0]["pass_at_1"] == pytest.approx(sum(softmax([1.0, -0.5, 0.5, -1.0])[arm] for arm in (1, 3)))
    assert (len(worth) > 1) is moves
    for row in log:
        assert row["rewards"] == [float(arm in (1, 3)) for arm in row["sampled"]]
        assert row["delivered"] == (row["rewards"][0] if moves else max(row["rewards"]))
    assert json.loads((lab.folder / "run" / "manifest.json").read_text())["loop"] == ("C" if moves else "B")


def test_to_look_into_a_run_of_loop_c_is_refused_with_a_way_on(lab: Lab) -> None:
    lab("toy_mdp", "--episodes", 2, "--outdir", "run")
    said = lab.refused("inspect_run", "--run", "run", "--only-fails")
    assert "run: expected a run of Loop A or B, got one of course.toy_mdp" in said
    assert "--verify" in said
