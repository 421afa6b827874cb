"""Selection beside learning: which of them changes the policy, and rows that the verifier scores again.

The worked example. The logits 1, −½, ½, −1 give the arms the probabilities 0.509, 0.114, 0.309 and 0.069. The second
arm is the right one, so pass@1 before any update is 0.114. Of the draws 0.1, 0.55 and 0.99 the first samples the first
arm, for 0.1 < 0.509, the second the second, for 0.509 < 0.55 < 0.623, and the third the last.
"""

import numpy as np
import pytest
from conftest import ROOT, Lab, lines_of
from learning_checks import ARM_REWARDS, check_run, softmax_by_hand, summary

from course.policy_improvement_demo import START, improve

DATA = ROOT / "data"


def test_pass_at_1_is_the_probability_of_the_right_arm() -> None:
    (row,) = improve("selection", np.array([[0.1, 0.55, 0.99]]))
    assert (row.new_pass_at_1, row.new_probs) == (row.pass_at_1, row.probs)
    assert row.completions == ["The answer is 323.", "Final: 323", "Final: 323. I hope this helps!"]
    assert row.pass_at_1 == pytest.approx(0.114, abs=5e-4)
    assert row.pass_at_1 == pytest.approx(softmax_by_hand(list(START))[1], abs=1e-15)
    assert (row.actions, row.rewards, row.delivered) == ([0, 1, 3], [0.0, 1.0, 0.0], 1.0)


def test_learning_is_one_mean_of_the_directions_of_all_samples() -> None:
    first, second = improve("learning", np.array([[0.1, 0.55], [0.5, 0.5]]))
    assert first.delivered == 0.0  # the first sample, not the best
    p = softmax_by_hand(list(START))
    direction = [0.0] * 4
    for arm, advantage in ((0, -0.5), (1, 0.5)):
        for other in range(4):
            direction[other] += advantage * ((other == arm) - p[other]) / 2
    theta = [t + 0.5 * d for t, d in zip(START, direction, strict=True)]
    assert second.probs == first.new_probs == pytest.approx(softmax_by_hand(theta), abs=1e-15)
    assert second.pass_at_1 == first.new_pass_at_1 == pytest.approx(second.probs[1], abs=1e-15)


@pytest.mark.parametrize(("mode", "changes"), [("selection", False), ("learning", True)])
def test_the_policys_own_pass_at_1_changes_in_one_mode_only(lab: Lab, mode: str, changes: bool) -> None:
    lab("policy_improvement_demo", "--mode", mode, "--outdir", "run")
    log = lines_of(lab.folder / "run" / "policy_improvement.jsonl")
    assert (len({row["pass_at_1"] for row in log}) > 1) is changes
    for row in log:
        assert row["rewards"] == [ARM_REWARDS[action] for action in row["actions"]]
        assert row["delivered"] == (row["rewards"][0] if changes else max(row["rewards"]))


def test_selection_is_a_run_of_loop_b_on_the_recorded_samples(lab: Lab) -> None:
    """Of each prompt the first right sample of four, or the first; scored by the spec in one line, without the lab."""
    check_run(lab, "policy_improvement_demo", "--mode", "selection", "--rounds", "6", log="policy_improvement.jsonl")
    results = lines_of(lab.folder / "one" / "results.jsonl")
    examples = lines_of(DATA / "datasets/math_dev.jsonl")
    pack = lines_of(DATA / "rollouts/selection_pack_dev.jsonl")
    for row, example, group in zip(results, examples, pack, strict=True):
        rewards = [float(text.strip(" \t\r\n") == f"Final: {example['expected_answer']}") for text in group["samples"]]
        assert (row["id"], row["prompt"], row["samples"]) == (example["id"], example["prompt"], group["samples"][:4])
        assert (row["others"], row["rewards"] + row["other_rewards"]) == (group["samples"][4:], rewards)
        assert row["chosen"] == (rewards[:4].index(1.0) if any(rewards[:4]) else 0)
        assert row["completion"] == group["samples"][row["chosen"]]
    numbers = summary(lab.folder / "one")
    assert numbers["passes"] == sum(any(row["rewards"]) for row in results)
    assert numbers["first_sample_accuracy"] == sum(row["rewards"][0] for row in results) / 80


def test_selection_measures_what_selection_demo_measures(lab: Lab) -> None:
    """The shipped pick_best takes the first of the best too: rows, numbers and the locked room are the same."""
    data = ["--dataset", DATA / "datasets/math_dev.jsonl", "--samples", DATA / "rollouts/selection_pack_dev.jsonl"]
    assert lab("selection_demo", *data, "--n", "3", "--outdir", "other").status == 0
    lab("policy_improvement_demo", "--mode", "selection", "--n", "3", "--outdir", "run")
    for name in ("results.jsonl", "summary.json"):
        assert (lab.folder / "run" / name).read_bytes() == (lab.folder / "other" / name).read_bytes()
    rooms = [line["room"] for line in lines_of(lab.log)]
    assert rooms[0] == rooms[1] is not None


def test_what_cannot_learn_is_refused(lab: Lab) -> None:
    line = lab.refused("policy_improvement_demo", "--mode", "learning", "--n", "1")
    assert line == ("error: --n: expected 2 or more, because learning compares the samples of a round, got 1\n")
    assert "expected at most 8" in lab.refused("policy_improvement_demo", "--mode", "selection", "--n", "9")
    assert "--lr" in lab.refused("policy_improvement_demo", "--mode", "learning", "--lr", "0")


@pytest.mark.parametrize(
    ("rounds", "n"),
    [
        (1, 2),
        (2, 3),
        (12, 4),
    ],
)
def test_no_sentence_is_refuted_by_its_numbers(lab: Lab, rounds: int, n: int) -> None:
    for seed in range(8):
        arguments = ("--mode", "learning", "--rounds", rounds, "--n", n, "--seed", seed, "--outdir", f"run{seed}")
        out = lab("policy_improvement_demo", *arguments).out
        log = lines_of(lab.folder / f"run{seed}" / "policy_improvement.jsonl")
        numbers = summary(lab.folder / f"run{seed}")
        changed = log[-1]["new_probs"] != log[0]["probs"]
        assert ("the policy changed" in out) is changed
        assert ("the policy stayed the same" in out) is not changed
        assert ("no round had two different rewards" in out) is all(len(set(row["rewards"])) == 1 for row in log)
        before = numbers["pass_at_1_before"]
        after = numbers["pass_at_1_after"]
        assert (before != after) is changed
        page = (lab.folder / f"run{seed}" / "README.md").read_text(encoding="utf-8")
        assert ("Knob turned: none (no update changed the policy)" in page) is not changed
        assert after == pytest.approx(log[-1]["new_probs"][1], abs=1e-15)
        assert f"pass@1 of the policy: {100 * before:.1f} % -> {100 * after:.1f} %" in out


def test_learning_is_a_run_of_loop_c_with_a_row_a_sample(lab: Lab) -> None:
    check_run(lab, "policy_improvement_demo", "--mode", "learning", "--rounds", "6", log="policy_improvement.jsonl")
    log, results = (lines_of(lab.folder / "one" / name) for name in ("policy_improvement.jsonl", "results.jsonl"))
    assert [(row["step"], row["reward"]) for row in results] == [
        (row["round"] - 1, reward) for row in log for reward in row["rewards"]
    ]


def test_recorded_samples_that_are_not_whole_are_refused(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.policy_improvement_demo.DATASET", lab.folder / lab.dataset([1, 2]))
    monkeypatch.setattr("course.policy_improvement_demo.PACK", lab.folder / lab.pack([["Final: 1", "Final: 2"]]))
    line = lab.refused("policy_improvement_demo", "--mode", "selection", "--n", "2")
    assert "got no record for 1 id (q2)" in line
