"""Selection beside learning: which of them changes the policy, and rows that the verifier scores again.

The worked example. The logits 1, −½, ½, −1 give the arms the probabilities 0.509, 0.114, 0.309 and 0.069. The right
arms are the second and the fourth, so pass@1 before any update is 0.182.
"""

import numpy as np
import pytest
from conftest import Lab, lines_of
from learning_checks import ARM_REWARDS, check_run, softmax_by_hand, summary

from course.policy_improvement_demo import START, improve


def test_pass_at_1_is_the_probability_of_the_right_arms() -> None:
    (row,) = improve("selection", np.array([[0.1, 0.99]]))
    assert row.pass_at_1 == pytest.approx(0.182, abs=5e-4)
    assert row.pass_at_1 == pytest.approx(sum(softmax_by_hand(list(START))[arm] for arm in (1, 3)), abs=1e-15)
    assert (row.actions, row.rewards, row.delivered) == ([0, 3], [0.0, 1.0], 1.0)


def test_learning_is_one_mean_of_the_directions_of_all_samples() -> None:
    first, second = improve("learning", np.array([[0.1, 0.99], [0.5, 0.5]]))
    assert first.delivered == 0.0  # the first sample, not the best
    p = softmax_by_hand(list(START))
    direction = [0.0] * 4
    for arm, advantage in ((0, -0.5), (3, 0.5)):
        for other in range(4):
            direction[other] += advantage * ((other == arm) - p[other]) / 2
    theta = [t + 0.5 * d for t, d in zip(START, direction, strict=True)]
    assert second.probs == pytest.approx(softmax_by_hand(theta), abs=1e-15)


@pytest.mark.parametrize(("mode", "changes"), [("selection", False), ("learning", True)])
def test_the_policys_own_pass_at_1_changes_in_one_mode_only(lab: Lab, mode: str, changes: bool) -> None:
    lab("policy_improvement_demo", "--mode", mode, "--outdir", "run")
    log = lines_of(lab.folder / "run" / "policy_improvement.jsonl")
    assert (len({row["pass_at_1"] for row in log}) > 1) is changes
    for row in log:
        assert row["rewards"] == [ARM_REWARDS[action] for action in row["actions"]]
        assert row["delivered"] == (row["rewards"][0] if changes else max(row["rewards"]))


def test_selection_is_a_run_of_loop_b_with_a_row_a_round(lab: Lab) -> None:
    check_run(lab, "policy_improvement_demo", "--mode", "selection", "--rounds", "6", log="policy_improvement.jsonl")
    log, results = (lines_of(lab.folder / "one" / name) for name in ("policy_improvement.jsonl", "results.jsonl"))
    assert [row["rewards"] for row in results] == [row["rewards"] for row in log]
    assert [row["reward"] for row in results] == [row["delivered"] for row in log]
    assert summary(lab.folder / "one")["passes"] == sum(row["delivered"] for row in log)


def test_learning_is_a_run_of_loop_c_with_a_row_a_sample(lab: Lab) -> None:
    check_run(lab, "policy_improvement_demo", "--mode", "learning", "--rounds", "6", log="policy_improvement.jsonl")
    log, results = (lines_of(lab.folder / "one" / name) for name in ("policy_improvement.jsonl", "results.jsonl"))
    assert [(row["step"], row["reward"]) for row in results] == [
        (row["round"] - 1, reward) for row in log for reward in row["rewards"]
    ]
