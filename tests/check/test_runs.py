"""A run as a deliverable: published, unedited, as asked, and predicted. ``first_run`` is one of Loop A on dev.

An example: an eval of dev without --expect is a start; one with it is done; a run on another dataset is neither.
"""

import io
import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab, manifest_edited

from check.milestones import EXERCISES, Given, check
from check.result import CheckResult
from course.artifacts import run_log

DEV = ROOT / "data" / "datasets" / "math_dev.jsonl"
FROZEN = ROOT / "data" / "rollouts" / "frozen_rollouts_dev.jsonl"
RATE = "pass_rate 0.425"  # 34 of 80, as the README of the data has it


def check_first_run() -> CheckResult:
    return check(EXERCISES["first_run"], Given())


def measure_dev(lab: Lab, name: str, *more: str) -> None:
    done = lab("eval", "--dataset", DEV, "--completions", FROZEN, "--outdir", name, *more)
    assert done.status == 0, done.err


def test_a_predicted_run_on_dev_is_done(lab: Lab) -> None:
    assert check_first_run().state == "not started"
    measure_dev(lab, "bare")
    assert check_first_run().state == "started"
    assert check_first_run().short == f"repeat with a prediction ({RATE} had none)"
    assert "--expect: expected some words" in lab.refused(
        "eval", "--dataset", DEV, "--completions", FROZEN, "--expect", " "
    )
    measure_dev(lab, "first", "--expect", "about half")
    measure_dev(lab, "later")
    state, short, *_ = check_first_run()
    assert state == "done"
    assert short.startswith(f"{RATE}, you expected about half (")
    assert short.endswith("first)")
    measure_dev(lab, "second", "--expect", "42.5 %")
    assert check_first_run().short.endswith("second)")


def test_what_stands_in_the_log_beside_the_digest_is_not_believed(lab: Lab) -> None:
    measure_dev(lab, "bare")
    line = run_log.LOG.read_text(encoding="utf-8")
    edited = line.replace('"expect":null', '"expect":"forged"').replace("0.425", "0.99")
    assert edited != line
    run_log.LOG.write_text(edited, encoding="utf-8", newline="\n")
    assert check_first_run()[:2] == ("started", f"repeat with a prediction ({RATE} had none)")
    lab.write("one.jsonl", [{"id": "dev-001", "completion": "Final: 1"}])
    done = lab("eval", "--dataset", DEV, "--completions", "one.jsonl", "--missing", "zero", "--expect", "0")
    assert done.status == 0
    assert check_first_run().state == "started"


def test_another_dataset_or_loop_is_no_start(lab: Lab) -> None:
    assert lab.evaluate([1], ["Final: 1"], "--expect", "all").status == 0
    assert lab.select([1], [["Final: 1", "Final: 2"]], 2, "--expect", "all").status == 0
    assert check_first_run().state == "not started"


@pytest.mark.parametrize("change", ["deleted", "edited"])
def test_a_run_that_is_no_longer_there_does_not_count(lab: Lab, change: str) -> None:
    measure_dev(lab, "first", "--expect", "about half")
    if change == "deleted":
        shutil.rmtree("first")
    else:
        log = run_log.LOG.read_bytes()
        manifest_edited(Path("first"), expect="42.5 %")
        run_log.LOG.write_bytes(log)
    assert check_first_run().state == "not started"


def test_a_broken_log_is_one_line(lab: Lab) -> None:
    run_log.LOG.parent.mkdir(parents=True)
    run_log.LOG.write_bytes(b"\x1b\n")
    checked = check_first_run()
    assert checked.state == "wrong"
    assert "log.jsonl:1 expected a line of the lab's log" in checked.lines[0]
    del lab


@pytest.mark.parametrize(
    ("answers", "state", "words"),
    [
        ("1 x\n1 x\n1 x\n", "done", "predicted step by step"),
        ("1 x\n1\nq\n", "started", "repeat, predict all 3 updates (1 predicted so far)"),
        ("", "started", "repeat with a prediction ("),
    ],
)
def test_predictions_made_in_the_run_count_if_every_update_has_one(
    lab: Lab, answers: str, state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(answers))
    assert lab("policy_gradient_demo", "--predict", "--steps", "3").status == 0
    checked = check(EXERCISES["slow_motion_run"], Given())
    assert checked.state == state
    assert words in checked.short


def test_what_a_run_was_asked_to_be_stands_in_its_settings(lab: Lab) -> None:
    for option in ("--no-baseline", "--baseline"):
        assert check(EXERCISES["bandit_run"], Given()).state == "not started"
        assert lab("bandit_train", "--steps", "3", option, "--expect", "0.6").status == 0
    assert check(EXERCISES["bandit_run"], Given()).state == "done"
    assert check(EXERCISES["baseline_run"], Given()).state == "not started"
