"""The runs that a check needs: published, unedited, as asked, and predicted; and a text that names their numbers.

An example: an eval of dev without --expect is a start; one with it is done; a run on another dataset is neither.
"""

import json
import shutil
from pathlib import Path
from typing import cast

import pytest
from conftest import ROOT, Lab, manifest_edited

from check.milestones import EXERCISES, check
from check.notes import check_note
from check.result import TO_READ, CheckResult
from check.runs import LoggedRun, WantedRun, find_runs, names_number, names_value
from course.artifacts import run_log
from course.artifacts.records import Manifest

DEV = ROOT / "data" / "datasets" / "math_dev.jsonl"
FROZEN = ROOT / "data" / "rollouts" / "frozen_rollouts_dev.jsonl"
RATE = "pass_rate 0.425"  # 34 of 80, as the README of the data has it


def check_first_run() -> CheckResult:
    return check(EXERCISES["first_run"])


def measure_dev(lab: Lab, name: str, *more: str) -> None:
    done = lab("eval", "--dataset", DEV, "--completions", FROZEN, "--outdir", name, *more)
    assert done.status == 0, done.err


def test_a_predicted_run_on_dev_is_done(lab: Lab) -> None:
    assert check_first_run().state == "not started"
    measure_dev(lab, "bare")
    assert check_first_run().state == "started"
    assert check_first_run().short == f"repeat with a prediction ({RATE} had none)"
    measure_dev(lab, "first", "--expect", "50 %")
    measure_dev(lab, "later")
    state, short, *_ = check_first_run()
    assert state == "done"
    assert short.startswith(f"{RATE}, you expected 50 % (")
    assert short.endswith("first)")
    measure_dev(lab, "second", "--expect", "42.5 %")
    assert check_first_run().short.endswith("first)")  # the first guess is the one that was a guess


def test_another_dataset_or_loop_is_no_start(lab: Lab) -> None:
    assert lab.evaluate([1], ["Final: 1"], "--expect", "100 %").status == 0
    assert lab.select([1], [["Final: 1", "Final: 2"]], 2, "--expect", "100 %").status == 0
    assert check_first_run().state == "not started"


@pytest.mark.parametrize("change", ["deleted", "edited"])
def test_a_run_that_is_no_longer_there_does_not_count(lab: Lab, change: str) -> None:
    measure_dev(lab, "first", "--expect", "50 %")
    if change == "deleted":
        shutil.rmtree("first")
    else:
        log = run_log.LOG.read_bytes()
        manifest_edited(Path("first"), expect="42.5 %")
        run_log.LOG.write_bytes(log)
    assert check_first_run().state == "not started"


def test_what_a_run_was_asked_to_be_stands_in_its_settings(lab: Lab) -> None:
    [wanted] = EXERCISES["two_steps"].runs
    for options in (["--no-credit-step1"], []):
        assert [*find_runs(wanted)] == []
        assert lab("toy_mdp", "--episodes", "3", *options, "--expect", "0.6").status == 0
    assert len([*find_runs(wanted)]) == 1


# A text that names a run and its number: the share 0.425 of a run in the folder runs/dev

NAMED = [  # a text, whether it names the number of that run
    ("dev 42.5 %", True),
    ("`runs/dev`: 0.425", True),
    ("dev passed 34 of 80, so 0.43 or 42.5 %", True),
    ("a rate of 42.5 %", False),  # of which run?
    ("42.5 % in dev", False),  # in front of the name
    ("dev 0.4", False),  # a single digit says too little
    ("dev 4.25", False),
]


@pytest.mark.parametrize(("text", "named"), NAMED)
def test_a_number_is_named_after_the_name_of_its_run(text: str, named: bool) -> None:
    run = LoggedRun(0, "runs/dev", cast(Manifest, None), {}, {})
    assert names_number(text, run, 0.425) is named


@pytest.mark.parametrize(
    ("value", "text", "same"),
    [
        (0.4125, "41", True),
        (0.4125, "41.3 %", True),
        (1.0, "1", True),
        (0.0, "0", True),
        (0.425, "0", False),
        (0.4, "dev-40", False),
    ],
)
def test_a_value_may_be_rounded(value: float, text: str, same: bool) -> None:
    assert names_value(text, value) is same


@pytest.mark.parametrize(
    ("under", "words", "state"),
    [
        (["Observed", "Conclusion"], "My own five words here.", TO_READ),
        (["Observed", "Conclusion"], "Too short.", "started"),
        (["Observed"], "My own five words here.", "started"),
    ],
)
def test_the_blanks_of_a_readme_need_words(lab: Lab, under: list[str], words: str, state: str) -> None:
    assert lab("toy_mdp", "--episodes", "4", "--outdir", "runs/steps", "--expect", "0.3").status == 0
    assert lab("toy_mdp", "--episodes", "4", "--outdir", "runs/bare").status == 0
    checked = check(EXERCISES["two_steps"])
    assert checked.state == "started"
    assert [Path(run).name for run in checked.runs] == ["steps"]  # handed in all the same
    assert "under '## Observed', 5 or more, got 0" in checked.lines[0]
    readme = Path("runs/steps/README.md")
    text = readme.read_text(encoding="utf-8")
    for heading in under:
        text = text.replace(f"\n## {heading}\n", f"\n## {heading}\n\n{words}\n")
    readme.write_text(text, encoding="utf-8")
    assert lab("toy_mdp", "--episodes", "4", "--expect", "0.3").status == 0  # a later run takes nothing away
    assert check(EXERCISES["two_steps"]).state == state
    assert check(EXERCISES["two_steps"]._replace(readme=False)).state == "done"


def test_a_note_that_belongs_to_a_run_names_its_number(lab: Lab) -> None:
    wanted = [WantedRun("course.toy_mdp --expect 0.5", {})]
    answer = "## Why\nNothing is rewarded after the first step, and yet the first step learns.\n"
    note = lab.write("notes/two.md", answer)
    assert lab("toy_mdp", "--episodes", "4", "--outdir", "runs/bare").status == 0  # without a prediction
    assert check_note(note, wanted).command == wanted[0].command
    assert lab("toy_mdp", "--episodes", "4", "--outdir", "runs/steps", "--expect", "0.3").status == 0
    value = json.loads(Path("runs/steps/summary.json").read_bytes())["expected_return_after"]
    for text, state in (("", "started"), (f"bare {value:.3f}", "started"), (f"steps {value:.3f}", TO_READ)):
        lab.write("notes/two.md", answer + text)
        checked = check_note(note, wanted)
        assert (checked.state, [Path(run).name for run in checked.runs]) == (state, ["steps"])
