"""An experiment of a student's own is held against the log and the gate: what is not so is named in one line.

The worked example: 40 prompts, 10 pass in the baseline and 24 in the candidate, none is lost: PROMOTE.
"""

import re
import shutil
from typing import Any

import pytest
from conftest import ROOT, SAMPLING, Lab

from check.milestones import EXERCISES, check
from check.own_experiment import FIELDS, SHEET
from check.result import NOT_STARTED, TO_READ, CheckResult
from course.artifacts import run_log
from course.datasets.plain import FORM
from course.datasets.records import training_on

SAMPLE = ROOT / "data" / "keys" / "notes" / "experiment.md"
N = 40
BEFORE, AFTER = 10, 24  # that pass
WORDS = "It says in at least eight words what a teacher reads and judges."
SAID = {
    "n": str(N),
    "flips": "40 %",
    "smallest": "28.2 points",
    "expect": "55 %",
    "against": "A candidate that passes no more than the baseline does.",
    "baseline": "runs/before, 25 %",
    "candidate": "runs/after, 60 %",
    "verdict": "PROMOTE",
}


def page(lab: Lab, **changed: str) -> CheckResult:
    """The check of a page whose fields are ``SAID``, but for those that are given; its other parts are words."""
    said = SAID | changed
    lines = []
    for heading, names in FIELDS.items():
        lines += [f"## {heading}", *(f"{name}: {said[name]}" for name in names)]
        if not names:
            lines.append(said.get(heading, WORDS))
    lab.write(SHEET.as_posix(), "\n".join(lines) + "\n")
    return check(EXERCISES["experiment"])


def design(lab: Lab, **changed: str) -> CheckResult:
    return page(lab, **dict.fromkeys(FIELDS["What came"], ""), **changed)


def register(lab: Lab, **changed: str) -> None:
    design(lab, **changed)
    done = lab("check", "experiment", "--register")
    assert done.status == 0, done.err


def measure(lab: Lab, name: str, passing: int, *more: str, **meta: object) -> None:
    """A run of Loop A in which the first so many of 40 prompts pass. ``meta``: said of its policy."""
    texts = [f"Final: {answer if answer < passing else answer + 1}" for answer in range(N)]
    dataset = lab.dataset(range(N))
    completions = lab.completions(texts, f"of-{name}", policy=f"policy of {name}")
    if meta:
        lab.meta(f"of-{name}", **{"policy": f"policy of {name}"} | meta)
    done = lab("eval", "--dataset", dataset, "--completions", completions, "--outdir", f"runs/{name}", *more)
    assert done.status == 0, done.err


def measure_both(lab: Lab, passing: int = AFTER, expect: str = "0.55", **meta: object) -> None:
    measure(lab, "before", BEFORE)
    register(lab)
    measure(lab, "after", passing, "--expect", expect, **meta)


@pytest.mark.parametrize(
    ("passing", "rate", "verdict"), [(AFTER, "60 %", "PROMOTE"), (13, "32.5 %", "INCONCLUSIVE"), (2, "5 %", "REJECT")]
)
def test_each_honest_verdict_is_a_result(lab: Lab, passing: int, rate: str, verdict: str) -> None:
    measure_both(lab, passing)
    result = page(lab, candidate=f"`runs/after`, {rate}", verdict=verdict)
    assert (result.state, result.short) == (TO_READ, verdict), result.lines
    assert result.runs == [line.run for line in run_log.read_log(run_log.LOG) if line.loop]


def test_a_page_as_it_is_handed_out_is_not_started_and_its_design_comes_first(lab: Lab) -> None:
    lab.write(SHEET.as_posix(), (ROOT / SHEET).read_bytes())
    assert check(EXERCISES["experiment"]).state == NOT_STARTED
    assert "--register" in design(lab).lines[0]
    for name in ("n", "flips", "smallest", "expect", "against", "Question", "The one knob", "Held fixed"):
        assert re.search(f" {name}: expected .*, got none", design(lab, **{name: ""}).short)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("n", "9" * 5000),
        ("n", "dev 2 has 40"),
        ("n", "5"),
        ("flips", "some"),
        ("smallest", "2 points"),
        ("expect", "much better"),
    ],
)
def test_a_design_that_cannot_be_is_not_registered(lab: Lab, name: str, said: str) -> None:
    result = design(lab, **{name: said})
    assert result.state == "wrong"
    assert f" {name}: " in result.lines[0]
    assert f" {name}: " in lab.refused("check", "experiment", "--register")


def test_a_registered_design_is_a_line_of_the_log_and_no_run(lab: Lab) -> None:
    measure(lab, "before", BEFORE)
    register(lab)
    _, line = run_log.read_log(run_log.LOG)
    assert (line.run, line.loop, line.change, line.expect, line.number) == (SHEET.as_posix(), "", WORDS, "55 %", {})
    assert "expect: 55 %" in lab("inspect_run", "--log").out
    newest = lab("inspect_run", "last")
    assert (newest.status, newest.err) == (0, "")
    assert "the design is registered" in design(lab).lines[0]
    assert "expected experiment in front of it" in lab.refused("check", "committee", "--register")


def test_the_newest_design_before_the_candidate_counts(lab: Lab) -> None:
    measure(lab, "before", BEFORE)
    register(lab, expect="20 %")
    register(lab)
    measure(lab, "after", AFTER, "--expect", "22/40")
    register(lab, expect="60 %")
    assert page(lab).state == TO_READ


# ---- What does not hold

TRAINED = training_on([f"Question {number}?" for number in range(1, 21)], "score")
FAULTS: list[tuple[dict[str, Any], dict[str, str], str]] = [  # how is measured, what the page says, what is said of it
    ({"passing": AFTER, "expect": "0.6"}, {}, "after was measured, and the run says 0.6"),
    ({}, {"expect": "60 %"}, "after was measured, and the page says 60 %"),
    ({"training": {"rubric": "score", "prompts": TRAINED.prompts, "form": FORM}}, {}, "trained on 20 of these 40"),
    ({"sampling": SAMPLING | {"temperature": 0.5}}, {}, "sampling differs"),
    (
        {"passing": BEFORE, "policy": "policy of before", "sampling": SAMPLING | {"seed": 8}},
        {},
        "expected a policy or a rule of choice that differs",
    ),
    ({}, {"candidate": "runs/other, 60 %"}, "candidate: expected the name of a run that is in your log and whole"),
    ({}, {"candidate": "runs/after, 55 %"}, "after, 60.0 %, got runs/after, 55 %"),
    ({}, {"n": "60", "smallest": "23.5 points"}, "n: expected the 40 prompts that both runs measured, got 60"),
    ({}, {"verdict": "REJECT"}, "verdict: expected the gate's own"),
    ({}, {"What it does not show": "One word less than a teacher asks."}, "What it does not show: expected"),
]


@pytest.mark.parametrize(("measured", "changed", "said"), FAULTS)
def test_what_does_not_hold_is_named_in_one_line(
    lab: Lab, measured: dict[str, Any], changed: dict[str, str], said: str
) -> None:
    measure_both(lab, **measured)
    result = page(lab, **changed)
    assert result.state in ("wrong", "started")
    assert len(result.lines) == 1
    assert said in result.lines[0], result.lines


def test_a_design_that_came_after_the_candidate_is_none(lab: Lab) -> None:
    measure(lab, "before", BEFORE)
    measure(lab, "after", AFTER, "--expect", "55 %")
    register(lab)
    assert "no design was registered before" in page(lab).lines[0]


# ---- Trainings, of which the gate sees the policies alone


def test_the_settings_in_which_two_trainings_differ_are_named(lab: Lab) -> None:
    shutil.copytree(ROOT / "data" / "datasets", lab.folder / "data" / "datasets")
    holdout = "data/datasets/one_digit_sums_holdout.jsonl"
    said = {"n": "25", "flips": "50 %", "smallest": "39.3 points"}
    register(lab, **said)
    for name, more in (("baseline", []), ("candidate", ["--lr", "0.1", "--seed", "1"])):
        training = ["--preset", "small", "--sft-steps", "30", "--steps", "4", "--outdir", f"runs/train_{name}"]
        assert lab("token_train", *training, *more).status == 0
        sampled = ["--policy", f"runs/train_{name}/policy.npz", "--dataset", holdout, "--outdir", f"runs/of_{name}"]
        assert lab("sample_rollouts", *sampled).status == 0
        files = ["--dataset", holdout, "--completions", f"runs/of_{name}/rollouts.jsonl", "--outdir", f"runs/{name}"]
        [rate] = re.findall(r"passed \d+ of 25: ([\d.]+ %)", lab("eval", *files, "--expect", "55 %").out)
        said[name] = f"runs/{name}, {rate}"
    result = page(lab, **said, verdict="INCONCLUSIVE")
    assert "differ in lr, seed, which" in result.lines[1], result.lines


def test_the_teachers_sample_has_the_numbers_of_its_runs(lab: Lab) -> None:
    """Its two rules of choice stand in the page, and are run as they stand there."""
    text = SAMPLE.read_text(encoding="utf-8")
    _, *rules = re.split(r"^    # (exercises/\w+\.py)\n", text, flags=re.MULTILINE)
    for name, code in zip(rules[::2], rules[1::2], strict=True):
        lines = code.partition("\n## ")[0].split("\n")
        lab.write(name, "\n".join(line.removeprefix("    ") for line in lines))
    lab.write(SHEET.as_posix(), text)
    assert lab("check", "experiment", "--register").status == 0
    data = ROOT / "data"
    pack = ["--dataset", data / "datasets" / "easy_sums_dev.jsonl"]
    pack += ["--samples", data / "rollouts" / "smollm2_pack_dev.jsonl", "--n", 8]
    for rule in ("first_rule", "vote_rule"):
        pick = ["--pick", f"exercises/{rule}.py:choose", "--outdir", f"runs/{rule}"]
        assert lab("selection_demo", *pack, *pick, "--expect", "28 %").status == 0
    result = check(EXERCISES["experiment"])
    assert (result.state, result.short) == (TO_READ, "INCONCLUSIVE"), result.lines
