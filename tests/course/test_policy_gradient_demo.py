"""Slow motion: what is told of a step, and what becomes of a student's predictions."""

import io
import json
import sys
from pathlib import Path

import pytest
from conftest import Lab

from course.policies.bandit import ARMS
from course.policy_gradient_demo import raised, slow_motion


def answers(lab: Lab, monkeypatch: pytest.MonkeyPatch, typed: str, *more: str) -> tuple[str, list[dict[str, object]]]:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    done = lab("policy_gradient_demo", "--predict", "--fast", "--outdir", "run", *more)
    assert done.status == 0
    lines = (lab.folder / "run" / "predictions.jsonl").read_text().split("\n")
    return done.out, [json.loads(line) for line in lines if line]


def test_predictions_are_kept_in_the_run_and_counted_at_the_end(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = list(slow_motion(4, 0, 0.5, True))
    right = [raised(step)[0] for step in steps]
    wrong = next(str(arm) for arm in range(4) if str(arm) not in raised(steps[3]))
    out, kept = answers(lab, monkeypatch, "\n".join([*right[:3], wrong]) + "\n", "--steps", "4")
    assert [prediction["answer"] for prediction in kept] == [*right[:3], wrong]
    assert [prediction["right"] for prediction in kept] == [True, True, True, False]
    assert "you predicted 3 of 4 right" in out


def test_what_is_no_answer_is_asked_again_and_no_input_is_no_answer(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    out, kept = answers(lab, monkeypatch, f"4\n-1\n²\n{'9' * 5000}\n NONE \n", "--steps", "2")
    assert out.count("expected an arm from 0 to 3, or none") == 4
    assert [prediction["answer"] for prediction in kept] == ["none", None]
    assert kept[1]["right"] is None


def test_raised_are_the_arms_whose_probability_rose_or_none_of_them() -> None:
    for step in slow_motion(20, 1, 0.5, True):
        rose = [str(arm) for arm in range(4) if step.new_probs[arm] > step.probs[arm]]
        assert raised(step) == (rose or ["none"])
        assert (str(step.action) in rose) is (step.advantage > 0)  # the sampled one always follows the sign


def test_a_slow_step_tells_everything_that_goes_into_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    done = lab("policy_gradient_demo", "--steps", "2", "--outdir", "run")
    second = done.out.split("step 2 of 2")[1]
    for said in (
        "sampled    arm 1, Final: 323",
        "reward     1.0, from the verifier",
        "advantage  1.0 - 0.000 = +1.000",
        "-> 1 Final: 323           +0.000   0.250   +0.750 ++++++++        +0.375   0.355",
        "better than expected, arm 1 goes up",
    ):
        assert said in second
    assert done.out.count("How to read an update") == 1
    assert max(len(line) for line in done.out.split("\n")) <= 90


def test_fast_is_silent_and_summary_is_a_line_a_step(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    fast = lab("policy_gradient_demo", "--fast", "--steps", "5", "--outdir", "one").out
    told = lab("policy_gradient_demo", "--fast", "--summary", "--steps", "5", "--outdir", "two").out
    assert "advantage +" not in fast
    assert [line.split()[:2] for line in told.split("\n") if line.startswith("step ")] == [
        ["step", str(number)] for number in range(1, 6)
    ]


def test_the_arms_are_shown_and_not_obeyed(lab: Lab) -> None:
    out = lab("policy_gradient_demo", "--fast", "--outdir", "run").out
    assert ARMS[3] == "Final: 323\n"
    assert "Final: 323<U+000A LINE FEED>" in out


def test_nothing_is_left_where_the_reader_goes_away(tmp_path: Path, lab: Lab) -> None:
    done = lab.process("policy_gradient_demo", "--fast", "--steps", "0", "--outdir", "run")
    assert done.status == 2
    assert not (tmp_path / "run").exists()
