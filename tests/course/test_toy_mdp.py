"""Two steps: an episode worked by hand, the identities of the log, and the sabotage of the first step.

The worked example. Even probabilities everywhere. The draws 0.6 and 0.7 write 'Final: ' and '323': rewards 0 and 1,
returns 1 and 1. The baseline is 0, so both advantages are 1, ∂ log p / ∂ theta is [−½, ½] at both visited states, and
with a learning rate of 0.5 both rows of theta become [−¼, ¼]. State 1, after 'Answer: ', was not visited: it stays.
"""

import json

import numpy as np
import pytest
from conftest import ROOT, Lab, lines_of
from learning_checks import PROMPT, check_episode_rows, check_run, summary

from course.toy_mdp import learn

BOTH = np.ones(2)


def test_an_episode_is_the_one_worked_by_hand() -> None:
    first, second = learn(np.array([[0.6, 0.7], [0.1, 0.1]]), 0.5, BOTH)
    assert (first.state.tolist(), first.action.tolist()) == ([0, 2], [1, 1])
    assert (first.reward.tolist(), first.return_.tolist()) == ([0.0, 1.0], [1.0, 1.0])
    assert first.advantage.tolist() == [1.0, 1.0]
    assert first.direction.tolist() == [[-0.5, 0.5], [0.0, 0.0], [-0.5, 0.5]]
    assert first.new_theta.tolist() == second.theta.tolist() == [[-0.25, 0.25], [0.0, 0.0], [-0.25, 0.25]]
    assert (second.state.tolist(), second.baseline, second.advantage.tolist()) == ([0, 1], 1.0, [-1.0, -1.0])


def test_a_step_without_credit_is_never_updated() -> None:
    draws = np.random.default_rng(2).random((50, 2))
    last = list(learn(draws, 0.5, np.array([0.0, 1.0])))[-1]
    assert last.new_theta[0].tolist() == [0.0, 0.0]
    assert np.abs(last.new_theta[1:]).min() > 0.1


@pytest.mark.parametrize("credited", [[True, True], [False, True]])
def test_the_identities_hold_exactly_in_every_row(lab: Lab, credited: list[bool]) -> None:
    lab("toy_mdp", "--episodes", "60", *([] if credited[0] else ["--no-credit-step1"]), "--outdir", "run")
    rows = lines_of(lab.folder / "run" / "toy_mdp_log.jsonl")
    check_episode_rows(rows, credited=credited)
    results = lines_of(lab.folder / "run" / "results.jsonl")
    assert [(row["step"], row["completion"], row["reward"]) for row in results] == [
        (row["episode"] - 1, "".join(row["tokens"]), row["return_"][0]) for row in rows
    ]


def test_the_identities_hold_exactly_in_the_example_run() -> None:
    run = ROOT / "data" / "example_runs" / "two_steps"
    check_episode_rows(lines_of(run / "toy_mdp_log.jsonl"), credited=[True, True])


def test_a_run_is_reproducible_and_whole(lab: Lab) -> None:
    check_run(lab, "toy_mdp", "--episodes", "30", log="toy_mdp_log.jsonl")
    manifest = json.loads((lab.folder / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"] == {"prompt": PROMPT, "episodes": 30, "lr": 0.5, "credit_step1": True}


def test_one_episode_without_credit_or_reward_is_said_to_change_nothing(lab: Lab) -> None:
    out = lab("toy_mdp", "--no-credit-step1", "--episodes", "1", "--outdir", "run").out
    assert "no update changed the policy" in out
    assert out.count("so nothing changes") == 2
    assert "expected return 0.250 -> 0.250" in out
    page = (lab.folder / "run" / "README.md").read_text(encoding="utf-8")
    assert "Knob turned: none (no update changed the policy)" in page


def test_without_credit_the_first_step_learns_nothing(lab: Lab) -> None:
    lab("toy_mdp", "--outdir", "credit")
    done = lab("toy_mdp", "--no-credit-step1", "--outdir", "frozen")
    credit = summary(lab.folder / "credit")
    frozen = summary(lab.folder / "frozen")
    assert credit["first_step_probs"][1] > 0.95
    assert frozen["first_step_probs"] == [0.5, 0.5]
    assert credit["expected_return_after"] > 0.9 > 0.5 >= frozen["expected_return_after"]
    assert "The first step was never updated: p of 'Final: ' stays 0.500." in done.out
