"""Slow motion: two updates worked by hand, the identities of the log, and a student's predictions.

The worked example. Four arms, even probabilities. The draw 0.3 samples arm 1, whose reward is 1. The baseline is 0, so
the advantage is 1; ∂ log p / ∂ theta is [−¼, ¾, −¼, −¼], and with a learning rate of 0.5 theta becomes
[−⅛, ⅜, −⅛, −⅛]. The draw 0 then samples arm 0, with reward 0 against a baseline of 1: the advantage is −1, and arm 0
goes down.
"""

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import Lab, lines_of
from learning_checks import PROMPT, check_run, check_update_rows, softmax_by_hand, summary

from course.artifacts.learning_rows import update_row
from course.policies.bandit import ARMS, EXAMPLE
from course.policy_gradient_demo import learn, raised_arms


def test_two_updates_are_those_worked_by_hand() -> None:
    first, second = learn(np.array([0.3, 0.0]), 0.5, with_baseline=True)
    assert [float(x) for x in (first.action, first.reward, first.baseline, first.advantage)] == [1, 1.0, 0.0, 1.0]
    assert first.direction.tolist() == [-0.25, 0.75, -0.25, -0.25]
    assert first.new_theta.tolist() == second.theta.tolist() == [-0.125, 0.375, -0.125, -0.125]
    assert [float(x) for x in (second.action, second.reward, second.baseline, second.advantage)] == [0, 0.0, 1.0, -1.0]
    p = softmax_by_hand([-0.125, 0.375, -0.125, -0.125])
    assert second.direction.tolist() == pytest.approx([p[0] - 1, p[1], p[2], p[3]], abs=1e-15)


def test_each_update_comes_before_the_next_draw_is_used() -> None:
    updates = learn(np.array([0.3, 0.0]), 0.5, with_baseline=False)
    assert int(next(updates).action) == 1
    assert next(updates).baseline == 0.0


@pytest.mark.parametrize("more", [[], ["--no-baseline"], ["--lr", "-0.5"]])
def test_the_identities_hold_exactly_in_every_row(lab: Lab, more: list[str]) -> None:
    lab("policy_gradient_demo", "--fast", "--steps", "12", *more, "--outdir", "run")
    rows = lines_of(lab.folder / "run" / "policy_gradient_log.jsonl")
    check_update_rows(rows, with_baseline="--no-baseline" not in more)
    results = lines_of(lab.folder / "run" / "results.jsonl")
    assert [(row["step"], row["completion"], row["reward"]) for row in results] == [
        (row["step"] - 1, row["completion"], row["reward"]) for row in rows
    ]


def test_a_run_is_reproducible_and_whole(lab: Lab) -> None:
    check_run(lab, "policy_gradient_demo", "--fast", "--steps", "12", log="policy_gradient_log.jsonl")
    manifest = json.loads((lab.folder / "one" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["settings"] == {"prompt": PROMPT, "steps": 12, "lr": 0.5, "baseline": True, "predict": False}


def test_the_first_update_that_is_shown_pushes_up_and_a_later_one_down(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    out = lab("policy_gradient_demo", "--outdir", "run").out
    assert out.startswith(f"The state is the prompt:\n  {PROMPT}\n")
    advantages = [row["advantage"] for row in lines_of(lab.folder / "run" / "policy_gradient_log.jsonl")]
    assert advantages[0] == 1.0
    assert min(advantages) < 0
    assert "no theta changes" not in out.partition("step 1 of 8")[2].partition("step 2 of 8")[0]


@pytest.mark.parametrize("more", [[], ["--fast"]])
@pytest.mark.parametrize(("lr", "up", "down"), [("0.5", "up", "down"), ("-0.5", "down", "up")])
def test_the_reading_aid_says_at_the_top_what_each_step_then_does(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, lr: str, up: str, down: str, more: list[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    out = lab("policy_gradient_demo", "--lr", lr, *more, "--outdir", "run").out
    top = re.split("step 1 of 8|Loop C, learn", out)[0]
    assert f"above the baseline: sampled arm's theta {up}, the others' {down}" in top
    for row in lines_of(lab.folder / "run" / "policy_gradient_log.jsonl"):
        change = row["new_theta"][row["action"]] - row["theta"][row["action"]]
        assert (change > 0) is (row["advantage"] > 0 if up == "up" else row["advantage"] < 0)


def answers(lab: Lab, monkeypatch: pytest.MonkeyPatch, typed: str, *more: str) -> tuple[str, list[str]]:
    """What is printed, and the predictions in the summary, where a student types this."""
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    done = lab("policy_gradient_demo", "--predict", "--outdir", "run", *more)
    assert done.status == 0
    return done.out, summary(lab.folder / "run")["predictions"]


def test_predictions_are_in_the_run_and_counted(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    draws = np.random.default_rng(19).random(4)  # the default seed
    rows = [update_row(step, update, 0.5, EXAMPLE, ARMS) for step, update in enumerate(learn(draws, 0.5, True), 1)]
    right = [raised_arms(row)[0] for row in rows]
    wrong = next(str(arm) for arm in range(4) if str(arm) not in raised_arms(rows[3]))
    typed = [*right[:3], wrong]
    out, kept = answers(lab, monkeypatch, "\n".join(typed) + "\n", "--steps", "4")
    assert kept == typed
    assert "right_predictions" not in summary(lab.folder / "run")  # a score is derived where it is shown
    assert "right predictions: 3 of 4" in out
    page = (lab.folder / "run" / "README.md").read_text(encoding="utf-8")
    for shown in (out.partition("right predictions")[2], page):
        verdicts = re.findall(r"step   (\d)  (right|wrong): ", shown)
        assert verdicts == [("1", "right"), ("2", "right"), ("3", "right"), ("4", "wrong")]


def test_a_prediction_is_asked_for_between_what_is_known_and_the_update_also_with_fast(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, _ = answers(lab, monkeypatch, "0\n0\n", "--steps", "2", "--fast")
    known, update, *_ = re.split("Which probability.*\n", out)
    assert "step 1 of 2" in known
    assert "advantage" in known
    assert "theta changes by" not in known
    assert update.index("theta changes by") < update.index("step 2 of 2")


def test_what_is_no_choice_is_asked_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = f"4\n-1\n²\n{'9' * 5000}\n1 it earned 1\n\n NONE \n"
    out, kept = answers(lab, monkeypatch, typed, "--steps", "2", "--seed", "0")
    assert out.count("expected one of 0, 1, 2, 3, none, got ") == 6
    assert kept == ["none"]
    assert "right predictions: 1 of 1" in out  # the first update pushes nothing: "none" was right


@pytest.mark.parametrize("typed", ["1\nq\n", "1\n Q \n", "1\n"])
def test_q_and_the_end_of_the_input_end_the_questions_and_the_run_is_whole(
    lab: Lab, monkeypatch: pytest.MonkeyPatch, typed: str
) -> None:
    out, kept = answers(lab, monkeypatch, typed, "--steps", "5")
    assert kept == ["1"]
    assert out.count("theta changes by") == 1
    assert len(lines_of(lab.folder / "run" / "policy_gradient_log.jsonl")) == 5


def test_what_was_expected_of_all_updates_is_scored_too(lab: Lab) -> None:
    out = lab("policy_gradient_demo", "--fast", "--lr", "0", "--expect", "80 %", "--outdir", "run").out
    assert "\nexpected  80 %\ngot       expected_reward_after 0.25, 55.0 points below\n" in out


def test_the_learning_curve_is_in_the_run_also_with_fast(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[list[float]] = []

    def learning_curve(*columns: list[float]) -> bytes:
        shown.extend(columns)
        return b"a curve"

    monkeypatch.setattr("course.bandit_train.learning_curve", learning_curve)
    lab("policy_gradient_demo", "--fast", "--steps", "30", "--outdir", "run")
    assert (lab.folder / "run" / "learning_curve.png").read_bytes() == b"a curve"
    rows = lines_of(lab.folder / "run" / "policy_gradient_log.jsonl")
    rewards, objective = shown
    assert rewards == [row["reward"] for row in rows]
    assert objective == pytest.approx([row["probs"][1] for row in rows])
    assert summary(lab.folder / "run")["expected_reward_before"] == objective[0] == 0.25
    after = summary(lab.folder / "run")["expected_reward_after"]
    assert after == pytest.approx(rows[-1]["new_probs"][1])


def test_raised_arms_are_the_arms_whose_probability_goes_up_or_none() -> None:
    for step, update in enumerate(learn(np.random.default_rng(1).random(20), 0.5, True), 1):
        row = update_row(step, update, 0.5, EXAMPLE, ARMS)
        raised = [str(arm) for arm in range(4) if row.new_probs[arm] > row.probs[arm]]
        assert raised_arms(row) == (raised or ["none"])
        assert (str(row.action) in raised) is (row.advantage > 0)  # the sampled arm always follows the sign


def test_fast_shows_no_update_and_prints_a_line_a_step(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    out = lab("policy_gradient_demo", "--fast", "--summary", "--steps", "5", "--outdir", "two").out
    assert "theta changes by" not in out
    assert [line.split()[:2] for line in out.split("\n") if line.startswith("step ")] == [
        ["step", str(step)] for step in range(1, 6)
    ]
    slow = lab("policy_gradient_demo", "--steps", "2", "--outdir", "three").out
    assert slow.count("How to read an update") == 1
    assert slow.index("step 2 of 2") < slow.index("Loop C, learn") < slow.index("run: three")
    assert max(map(len, slow.split("\n"))) <= 80


def test_a_run_that_changed_nothing_says_so(lab: Lab) -> None:
    out = lab("policy_gradient_demo", "--fast", "--lr", "0", "--outdir", "run").out
    assert "no update changed the policy" in out
    page = (lab.folder / "run" / "README.md").read_text(encoding="utf-8")
    assert "Knob turned: none (no update changed the policy)" in page


def test_nothing_is_left_where_an_option_is_refused(tmp_path: Path, lab: Lab) -> None:
    assert "--steps: expected a whole number from 1 to 9" in lab.refused("policy_gradient_demo", "--steps", "0")
    assert not list(tmp_path.iterdir())
