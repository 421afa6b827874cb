"""The bandit, kept: a run side by side with another worked by hand, logs, the baseline's effect, the example runs.

The worked example. Two runs of two arms with rewards 0 and 1, even probabilities, learning rate 2. The draws 0.25 and
0.75 sample arm 0 in the first run and arm 1 in the second. The first has reward 0 against a baseline of 0: nothing
changes. The second has advantage 1, ∂ log p / ∂ theta is [−½, ½], and theta becomes [−1, 1].
"""

import hashlib
import json
import math

import numpy as np
import pytest
from conftest import ROOT, Lab, lines_of
from learning_checks import ARM_REWARDS, PROMPT, check_run, check_update_rows, softmax_by_hand, summary

from course.bandit_train import ablate_baseline, compare_variances, draws_of, learn
from course.policies.bandit import ARMS, arm_rewards
from course.policy_gradient_demo import learn as learn_in_slow_motion

EXAMPLE_RUNS = ROOT / "data" / "example_runs"


@pytest.fixture
def quick(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab whose figures take no time, for tests of something else; test_bandit_train_text.py has theirs."""
    for figure in ("learning_curve", "ablation_panels"):
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


@pytest.mark.parametrize("more", [[], ["--no-baseline"], ["--lr", "-0.5"], ["--reward-offset", "2.5"]])
def test_the_identities_hold_exactly_in_every_row(quick: Lab, more: list[str]) -> None:
    quick("bandit_train", "--steps", "40", *more, "--outdir", "run")
    rows = lines_of(quick.folder / "run" / "bandit_train_log.jsonl")
    check_update_rows(rows, with_baseline="--no-baseline" not in more, offset=2.5 if "--reward-offset" in more else 0)
    results = lines_of(quick.folder / "run" / "results.jsonl")
    assert [(row["step"], row["completion"], row["reward"]) for row in results] == [
        (row["step"] - 1, ARMS[row["action"]], row["verifier_reward"]) for row in rows
    ]
    assert summary(quick.folder / "run")["mean_reward"] == sum(row["reward"] for row in results) / 40


def test_the_learning_curve_shows_the_verifiers_rewards(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[list[float]] = []

    def learning_curve(*columns: list[float]) -> bytes:
        shown.extend(columns)
        return b""

    monkeypatch.setattr("course.bandit_train.learning_curve", learning_curve)
    lab("bandit_train", "--steps", "30", "--reward-offset", "3", "--outdir", "run")
    rewards, objective = shown
    assert rewards == [row["reward"] for row in lines_of(lab.folder / "run" / "results.jsonl")]
    assert len(objective) == 30
    assert objective[0] == 0.25
    assert max(objective) <= 1


def test_an_offset_is_in_the_manifest_and_so_is_the_prompt(quick: Lab) -> None:
    quick("bandit_train", "--steps", "3", "--reward-offset", "-1.5", "--outdir", "run")
    manifest = json.loads((quick.folder / "run" / "manifest.json").read_text(encoding="utf-8"))
    settings = {"prompt": PROMPT, "lr": 0.5, "baseline": True, "reward_offset": -1.5, "steps": 3, "ablation": None}
    assert manifest["settings"] == settings


@pytest.mark.parametrize("offset", [1.0, 3.0])
def test_the_baseline_cancels_an_offset_from_the_second_update_on_and_nothing_else_does(offset: float) -> None:
    rewards, draws = arm_rewards() + offset, draws_of(11, 40, runs=5)
    for with_baseline in (True, False):
        so_far: list[list[float]] = []
        for update in learn(rewards, draws, 0.5, with_baseline):
            verifier = [ARM_REWARDS[action] for action in update.action]
            means = (
                [math.fsum(column) / len(so_far) for column in zip(*so_far, strict=True)] if so_far else [-offset] * 5
            )
            without_offset = means if with_baseline else [-offset] * 5
            expected = [reward - mean for reward, mean in zip(verifier, without_offset, strict=True)]
            assert update.advantage.tolist() == pytest.approx(expected, abs=1e-12)
            so_far.append(verifier)


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
    assert up["expected_reward_after"] > 0.9 > 0.25 > 0.1 > down["expected_reward_after"]


def run_by_hand(
    draws: list[float], lr: float, offset: float, with_baseline: bool
) -> tuple[list[list[float]], list[float]]:
    """REINFORCE by plain Python: the probabilities before each update and after the last, and the baselines."""
    theta, seen = [0.0] * 4, list[float]()
    policies, baselines = [softmax_by_hand(theta)], list[float]()
    for u in draws:
        p = policies[-1]
        action = next(arm for arm in range(4) if sum(p[: arm + 1]) > u)
        baselines.append(sum(seen) / len(seen) if with_baseline and seen else 0.0)
        seen.append(ARM_REWARDS[action] + offset)
        theta = [t + lr * (seen[-1] - baselines[-1]) * ((a == action) - p[a]) for a, t in enumerate(theta)]
        policies.append(softmax_by_hand(theta))
    return policies, baselines


def variance_by_hand(p: list[float], baseline: float) -> float:
    """Of one estimate, by enumeration: the mean of its square minus the square of its mean, added up."""
    gradients = [[(arm == a) - p[arm] for arm in range(4)] for a in range(4)]
    estimates = [[(ARM_REWARDS[a] - baseline) * g for g in gradients[a]] for a in range(4)]
    means = [sum(p[a] * estimates[a][arm] for a in range(4)) for arm in range(4)]
    return sum(p[a] * (estimates[a][arm] - means[arm]) ** 2 for a in range(4) for arm in range(4))


def test_the_ablation_is_what_eleven_runs_by_hand_come_to() -> None:
    """Of 11 values in order, the second is the 10 % quantile and the tenth the 90 % quantile."""
    draws = draws_of(40, 25, runs=11)
    ablation = ablate_baseline(arm_rewards(), draws, 2.0)
    assert [(side["offset"], side["baseline"]) for side in ablation] == [
        (offset, baseline) for offset in (0.0, 1.0, 3.0) for baseline in (True, False)
    ]
    for side in ablation:
        runs = [run_by_hand(u, 2.0, side["offset"], side["baseline"])[0] for u in draws.tolist()]
        columns = [sorted(p[1] for p in policies) for policies in zip(*runs, strict=True)]
        assert side["mean"] == pytest.approx([sum(column) / 11 for column in columns], abs=1e-9)
        assert side["low"] == pytest.approx([column[1] for column in columns], abs=1e-9)
        assert side["high"] == pytest.approx([column[9] for column in columns], abs=1e-9)
        assert side["below_half"] == sum(end < 0.5 for end in columns[-1])
    assert 0 < ablation[-1]["below_half"] < 11


def test_the_three_variances_are_enumerated_and_b_star_is_the_lowest_point_of_their_parabola() -> None:
    draws = draws_of(41, 12, runs=4)
    found = compare_variances(arm_rewards(), draws, 0.5)
    runs = [run_by_hand(u, 0.5, 0.0, True) for u in draws.tolist()]
    for step in range(12):
        policies, means = zip(*((p[step], baselines[step]) for p, baselines in runs), strict=True)
        rows = []
        for p, mean in zip(policies, means, strict=True):
            low, none, high = (variance_by_hand(p, b) for b in (-1.0, 0.0, 1.0))  # a parabola through three points
            best = (low - high) / (2 * (low + high - 2 * none))
            running = variance_by_hand(p, mean)
            rows.append([none, running, variance_by_hand(p, best), best, p[1], running < none])
        for name, column in zip(found, zip(*rows, strict=True), strict=True):
            assert found[name][step] == pytest.approx(sum(column) / 4, abs=1e-9), name
    assert list(found) == ["none", "running_mean", "best_constant", "best_baseline", "expected_reward", "lowered"]


def test_without_a_baseline_an_offset_ruins_runs_and_with_one_it_ruins_none(lab: Lab) -> None:
    done = lab("bandit_train", "--seed", "500", "--ablation", "300", "--outdir", "run")
    ablation = summary(lab.folder / "run")["ablation"]
    below_half = {(side["offset"], side["baseline"]): side["below_half"] for side in ablation["learning"]}
    assert [below_half[offset, True] for offset in (0.0, 1.0, 3.0)] == [0, 0, 0]
    assert below_half[0.0, False] <= below_half[1.0, False] <= 30
    assert 120 <= below_half[3.0, False] <= 180  # about half
    ends = {(side["offset"], side["baseline"]): side["mean"] for side in ablation["learning"]}
    assert min(ends[offset, True] for offset in (0.0, 1.0, 3.0)) > 0.98
    assert 0.35 < ends[3.0, False] < 0.65
    variances = ablation["variances"]
    assert variances["best_constant"] < variances["none"] < 0.3 * variances["running_mean"]
    assert variances["best_baseline"] < variances["expected_reward"] - 0.1  # the mean reward is not the best constant
    assert f"{variances['running_mean']:.4f}" in done.out
    assert max(map(len, done.out.split("\n"))) <= 80
    kept = json.loads((lab.folder / "run" / "ablation.json").read_bytes())
    for side, end in zip(kept["learning"], ablation["learning"], strict=True):
        assert {name: end[name] for name in ("mean", "low", "high")} == {
            n: side[n][-1] for n in ("mean", "low", "high")
        }
    assert variances == {name: pytest.approx(sum(column) / 200) for name, column in kept["variances"].items()}
    assert (lab.folder / "run" / "ablation.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("lr", ["0", "99999", "-0.5"])
def test_an_ablation_that_learns_nothing_or_too_much_has_all_its_numbers(quick: Lab, lr: str) -> None:
    assert quick("bandit_train", "--steps", "20", "--lr", lr, "--ablation", "5", "--outdir", "run").status == 0
    for name in ("ablation.json", "summary.json"):
        assert b"null" not in (quick.folder / "run" / name).read_bytes()
    page = (quick.folder / "run" / "README.md").read_text(encoding="utf-8")
    assert ("Knob turned: none (no update changed the policy)" in page) is (lr == "0")
    if lr == "0":  # every run ends at exactly one quarter
        learning = summary(quick.folder / "run")["ablation"]["learning"]
        assert [(side["mean"], side["below_half"]) for side in learning] == [(0.25, 5)] * 6


def test_logits_that_overflow_are_one_line_and_leave_no_run(quick: Lab) -> None:
    refused = quick.refused("bandit_train", "--lr", "1e308", "--reward-offset", "3", "--outdir", "run")
    assert "a logit would overflow" in refused
