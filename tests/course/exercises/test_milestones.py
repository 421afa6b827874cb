"""What milestone 0 asks for, and its first deliverable: a published run of Loop A on dev, predicted.

An example: an eval of dev without --expect is a start; one with it is done; a run on another dataset is neither.
"""

import shutil
from pathlib import Path

import pytest
from conftest import ROOT, Lab, manifest_edited

from course.artifacts import run_log
from course.exercises.milestones import EXERCISES, MILESTONES, check_first_run

DEV = ROOT / "data" / "datasets" / "math_dev.jsonl"
FROZEN = ROOT / "data" / "rollouts" / "frozen_rollouts_dev.jsonl"
RATE = "42.5 %"  # 34 of 80, as the README of the data has it


def measure_dev(lab: Lab, name: str, *more: str) -> None:
    done = lab("eval", "--dataset", DEV, "--completions", FROZEN, "--outdir", name, *more)
    assert done.status == 0, done.err


def test_a_predicted_run_on_dev_is_done(lab: Lab) -> None:
    assert check_first_run().state == "not started"
    measure_dev(lab, "bare")
    assert check_first_run().state == "started"
    assert check_first_run().short == "42.5 % passed, without a prediction; once more, with --expect"
    assert "--expect: expected some words" in lab.refused(
        "eval", "--dataset", DEV, "--completions", FROZEN, "--expect", " "
    )
    measure_dev(lab, "first", "--expect", "about half")
    measure_dev(lab, "later")
    state, short, *_ = check_first_run()
    assert state == "done"
    assert short.startswith(f"{RATE} passed, you expected about half (")
    assert short.endswith("first)")
    measure_dev(lab, "second", "--expect", "42.5 %")
    assert check_first_run().short.endswith("second)")


def test_what_stands_in_the_log_beside_the_digest_is_not_believed(lab: Lab) -> None:
    measure_dev(lab, "bare")
    line = run_log.LOG.read_text(encoding="utf-8")
    edited = line.replace('"expect":null', '"expect":"forged"').replace("0.425", "0.99")
    assert edited != line
    run_log.LOG.write_text(edited, encoding="utf-8", newline="\n")
    assert check_first_run()[:2] == ("started", f"{RATE} passed, without a prediction; once more, with --expect")
    lab.write("one.jsonl", [{"id": "dev-001", "completion": "Final: 1"}])
    done = lab("eval", "--dataset", DEV, "--completions", "one.jsonl", "--missing", "zero", "--expect", "0")
    assert done.status == 0
    assert check_first_run().state == "started"


def test_another_dataset_or_loop_is_no_start(lab: Lab) -> None:
    lab.picker()
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
    checked = EXERCISES["first_run"].checked()
    assert checked.state == "wrong"
    assert "log.jsonl:1 expected a line of the lab's log" in checked.lines[0]
    del lab


def test_each_exercise_says_where_it_is_explained_and_what_to_type() -> None:
    assert EXERCISES.keys() == {one.id for exercises in MILESTONES.values() for one in exercises}
    for exercise in EXERCISES.values():
        page, _, part = exercise.read.partition(", part ")
        assert f"\n## {part}. " in (ROOT / page).read_text(encoding="utf-8") or not part
        assert exercise.command.startswith("course.") or not exercise.command
