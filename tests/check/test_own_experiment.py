"""An experiment of a student's own is held against the log and the gate: what is not so is named, and nothing is done.

The worked example: 40 prompts, 10 pass in the baseline and 24 in the candidate, none is lost: PROMOTE.
"""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import msgspec
import pytest
from conftest import ROOT, SAMPLING, Lab, manifest_edited

from check.milestones import EXERCISES, check
from check.own_experiment import FIELDS, SHEET, check_experiment, differing_settings, is_worked_example, whole_number
from check.result import CheckResult
from check.runs import LoggedRun, read_logged_runs
from course.artifacts import run_log
from course.artifacts.records import Manifest
from course.datasets.plain import FORM
from course.datasets.records import training_on
from course.policies.train_config import GENERALISE, MEMORISE

SAMPLE = ROOT / "teacher" / "solutions" / "notes" / "experiment.md"
N = 40
BEFORE, AFTER = 10, 24  # that pass
SEVEN_WORDS = "One word less than a teacher asks."
WORDS = "It says in at least eight words what a teacher reads and judges."
SAID = {
    "n": str(N),
    "flips": "40 %",
    "smallest": "28.2 points",
    "expect": "55 %",
    "against": "A candidate that passes no more than the baseline does.",
    "baseline": f"runs/before, {BEFORE} of {N}",
    "candidate": f"runs/after, {AFTER} of {N}",
    "min-delta": "0.02",
    "verdict": "PROMOTE",
}


def page(lab: Lab, **changed: str) -> CheckResult:
    """The check of a page whose fields are ``SAID``, but for those that are given; its other parts are words."""
    said = SAID | {name.replace("_", "-"): value for name, value in changed.items()}
    parts = []
    for heading, names in FIELDS.items():
        parts += [f"## {heading}", *(f"{name}: {said[name]}" for name in names)]
        if not names:
            parts.append(said.get(heading, WORDS))
    lab.write(SHEET.as_posix(), "\n".join(parts) + "\n")
    return check(EXERCISES["experiment"])


def measure(lab: Lab, name: str, passing: int, *more: str, **meta: object) -> None:
    """A run of Loop A in which the first so many of 40 prompts pass. ``meta``: said of its policy."""
    texts = [f"Final: {answer if answer < passing else answer + 1}" for answer in range(N)]
    dataset = lab.dataset(range(N))
    completions = lab.completions(texts, f"of-{name}", policy=f"policy of {name}")
    if meta:
        lab.meta(f"of-{name}", **{"policy": f"policy of {name}"} | meta)
    done = lab("eval", "--dataset", dataset, "--completions", completions, "--outdir", f"runs/{name}", *more)
    assert done.status == 0, done.err


def measure_both(lab: Lab, **meta: object) -> None:
    measure(lab, "before", BEFORE)
    measure(lab, "after", AFTER, "--expect", SAID["expect"], **meta)


def test_the_worked_example_is_for_the_teacher_to_read(lab: Lab) -> None:
    measure_both(lab)
    result = page(lab)
    assert (result.state, result.short) == ("for the teacher to read", "PROMOTE"), result.lines
    assert result.numbers["verdict"] == "PROMOTE"
    assert len(result.numbers["runs"]) == 2  # type: ignore[arg-type]


def test_what_an_experiment_does_not_show_is_said_in_words(lab: Lab) -> None:
    measure_both(lab)
    for text in ("", SEVEN_WORDS):
        result = page(lab, **{"What it does not show": text})
        assert (result.state, len(result.lines)) == ("started", 1)
        assert " What it does not show: expected" in result.lines[0]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("40", 40),
        ("40 prompts.", 40),
        ("1,319", 1319),
        ("the 1,319 prompts of gsm8k-2", 1319),
        ("1 319", None),
        ("1,31", None),
        ("dev 2 has 80", None),
        ("12.5", None),
        ("9" * 10, None),
        ("1,319,", 1319),
        ("", None),
    ],
)
def test_one_integer_is_read_with_its_thousands(text: str, number: int | None) -> None:
    assert whole_number(text) == number


@pytest.mark.parametrize(
    ("passing", "verdict"), [(AFTER, "PROMOTE"), (BEFORE + 3, "INCONCLUSIVE"), (BEFORE - 8, "REJECT")]
)
def test_each_honest_verdict_is_a_result(lab: Lab, passing: int, verdict: str) -> None:
    measure(lab, "before", BEFORE)
    measure(lab, "after", passing, "--expect", SAID["expect"])
    result = page(lab, candidate=f"runs/after, {passing} of {N}", verdict=verdict)
    assert (result.state, result.short) == ("for the teacher to read", verdict), result.lines
    for other in {"PROMOTE", "INCONCLUSIVE", "REJECT"} - {verdict}:
        result = page(lab, candidate=f"runs/after, {passing} of {N}", verdict=other)
        assert result.state == "wrong"
        assert "verdict: expected the gate's own" in result.lines[0]


def test_a_page_as_it_is_handed_out_is_not_started_and_its_design_comes_first(lab: Lab) -> None:
    lab.write(SHEET.as_posix(), (ROOT / SHEET).read_bytes())
    assert check_experiment().state == "not started"
    blank = dict.fromkeys(FIELDS["What came"], "")
    assert "the design stands" in page(lab, **blank).lines[0]
    for name in ("n", "flips", "smallest", "expect", "against"):
        result = page(lab, **blank, **{name: ""})
        assert (result.state, len(result.lines)) == ("started", 1)
        assert f" {name}: expected" in result.lines[0]
    for heading in ("Question", "The one knob", "Held fixed"):
        assert f" {heading}: expected" in page(lab, **blank, **{heading: "none"}).lines[0]
        assert f" {heading}: expected" in page(lab, **blank, **{heading: SEVEN_WORDS}).lines[0]


# ---- What does not hold: the runs, what the page says, what the check answers


def same_run(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"candidate": f"runs/before, {BEFORE} of {N}"}


def the_same_again(lab: Lab) -> dict[str, str]:
    """One file of completions, measured under two names."""
    measure_both(lab)
    line = ["--dataset", "dataset.jsonl", "--completions", "of-before.jsonl", "--outdir", "runs/again"]
    assert lab("eval", *line, "--expect", SAID["expect"]).status == 0
    return {"candidate": f"runs/again, {BEFORE} of {N}"}


def anothers_log(lab: Lab) -> dict[str, str]:
    """The candidate was measured elsewhere, and its folder was copied here."""
    measure_both(lab)
    own = run_log.LOG.read_text(encoding="utf-8").splitlines(keepends=True)
    run_log.LOG.write_text(own[0], encoding="utf-8", newline="\n")
    return {}


def edited_run(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    path = lab.folder / "runs" / "after" / "results.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"completion":"Final: 31"', b'"completion":"Final: 30"'))
    return {}


def edited_expectation(lab: Lab) -> dict[str, str]:
    measure(lab, "before", BEFORE)
    measure(lab, "after", AFTER)
    log = run_log.LOG.read_bytes()
    manifest_edited(Path("runs/after"), expect=SAID["expect"])
    run_log.LOG.write_bytes(log)
    return {}


def no_expectation(lab: Lab) -> dict[str, str]:
    measure(lab, "before", BEFORE)
    measure(lab, "after", AFTER)
    return {}


def expectation_afterwards(lab: Lab) -> dict[str, str]:
    measure(lab, "before", BEFORE)
    measure(lab, "first", AFTER)
    line = ["--dataset", "dataset.jsonl", "--completions", "of-first.jsonl", "--outdir", "runs/after"]
    assert lab("eval", *line, "--expect", SAID["expect"]).status == 0
    return {}


def expectation_afterwards_first_run_deleted(lab: Lab) -> dict[str, str]:
    said = expectation_afterwards(lab)
    shutil.rmtree(lab.folder / "runs" / "first")
    return said


def another_expectation(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"expect": "60 %"}


def expectation_in_words(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"expect": "much better"}


def numbers_of_another_run(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"candidate": f"runs/after, {AFTER + 1} of {N}"}


def a_list_of_numbers(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"candidate": "runs/after, " + ", ".join(f"{passes} of {N}" for passes in range(N))}


def another_n(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"n": "60", "smallest": "23.5 points"}


def a_smaller_difference(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"smallest": "2 points"}


def nearly_the_difference(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"smallest": "27.5 points"}


def two_numbers_of_prompts(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"n": "dev 2 has 40"}


def more_digits_than_an_integer_may_have(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"n": "9" * 5000}


def more_digits_than_a_float_holds(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"n": "9" * 400}


def a_difference_in_points(lab: Lab) -> dict[str, str]:
    """The gate reads shares: 2 would be 200 points."""
    measure_both(lab)
    return {"min_delta": "2"}


def the_largest_difference_there_is(lab: Lab) -> dict[str, str]:
    """The gate reads 1 as 100 points, of which no verdict is PROMOTE."""
    measure_both(lab)
    return {"min_delta": "1"}


def too_few_prompts(lab: Lab) -> dict[str, str]:
    measure_both(lab)
    return {"n": "5"}


def own_training_prompts(lab: Lab) -> dict[str, str]:
    training = training_on([f"Question {number}?" for number in range(1, 21)], "score")
    said = {"rubric": training.rubric, "prompts": training.prompts, "form": FORM}
    measure_both(lab, training=said)
    return {}


def another_temperature(lab: Lab) -> dict[str, str]:
    measure_both(lab, sampling=SAMPLING | {"temperature": 0.5})
    return {}


def the_same_policy_again(lab: Lab) -> dict[str, str]:
    measure_both(lab, policy="policy of before", sampling=SAMPLING | {"seed": 8})
    return {}


def a_run_of_loop_c(lab: Lab) -> dict[str, str]:
    measure(lab, "before", BEFORE)
    assert lab("bandit_train", "--steps", "3", "--outdir", "runs/after", "--expect", SAID["expect"]).status == 0
    return {}


CHEATS: dict[Callable[[Lab], dict[str, str]], str] = {
    same_run: "candidate: expected a run besides the baseline",
    the_same_again: "expected a policy or a rule of choice that differs",
    anothers_log: "candidate: expected the name of a run that is in your log and whole",
    edited_run: "the gate compares nothing: candidate run: results.jsonl",
    edited_expectation: "candidate: expected the name of a run that is in your log and whole",
    no_expectation: "expect: expected it recorded by --expect in ",
    expectation_afterwards: "measured the same completions before",
    expectation_afterwards_first_run_deleted: "measured the same completions before",
    another_expectation: "got 60 %",
    expectation_in_words: "expect: expected the candidate's result with a number in it",
    numbers_of_another_run: "candidate: expected after the run's name how many of its prompts passed",
    a_list_of_numbers: "candidate: expected after the run's name how many of its prompts passed",
    another_n: "n: expected the 40 prompts that both runs measured, got 60",
    a_smaller_difference: "smallest: expected what course.stats.smallest_visible_difference(40, 0.4) gives",
    nearly_the_difference: "smallest: expected what course.stats.smallest_visible_difference(40, 0.4) gives",
    two_numbers_of_prompts: "n: expected the number of prompts",
    more_digits_than_an_integer_may_have: "n: expected the number of prompts",
    more_digits_than_a_float_holds: "n: expected the number of prompts",
    a_difference_in_points: "min-delta: expected a number from 0 to 1",
    the_largest_difference_there_is: "verdict: expected the gate's own",
    too_few_prompts: "no difference can be shown; take more prompts",
    own_training_prompts: "the candidate was trained on 20 of these 40 prompts",
    another_temperature: "locked room: sampling differs",
    the_same_policy_again: "no knob was turned",
    a_run_of_loop_c: "expected a candidate of Loop A or B, got a run of Loop C",
}


@pytest.mark.parametrize("cheat", CHEATS, ids=lambda cheat: cheat.__name__)
def test_a_cheat_is_not_handed_in_and_one_line_says_why(lab: Lab, cheat: Callable[[Lab], dict[str, str]]) -> None:
    result = page(lab, **cheat(lab))
    assert result.state == "wrong", result.lines
    assert len(result.lines) == 1
    assert CHEATS[cheat] in result.lines[0], result.lines


def test_an_earlier_candidate_and_a_baseline_measured_twice_are_no_fault(lab: Lab) -> None:
    measure(lab, "before", BEFORE)
    measure(lab, "other", AFTER - 1)
    measure(lab, "after", AFTER, "--expect", SAID["expect"])
    assert page(lab).state == "for the teacher to read"


# ---- Trainings, of which the gate sees the policies alone

TRAINING = ("token_train", "--preset", "memorise", "--sft-steps", "30", "--eval-every", "4")


def train_and_measure(lab: Lab, name: str, *options: str, step: int = 4) -> str:
    """Train for some updates, and measure the 25 unseen prompts. Returns what the page says of the run."""
    if not (lab.folder / "data").exists():
        shutil.copytree(ROOT / "data" / "datasets", lab.folder / "data" / "datasets")
    if not (lab.folder / "runs" / f"train_{name}").exists():
        done = lab(*TRAINING, "--steps", "4", *options, "--outdir", f"runs/train_{name}")
        assert done.status == 0, done.err
    return measure_training(lab, name, name, step)


def measure_training(lab: Lab, name: str, run: str, step: int) -> str:
    files = ["--dataset", "data/datasets/one_digit_sums_holdout.jsonl"]
    files += ["--completions", f"runs/train_{name}/rollouts/holdout_{step:04}.jsonl"]
    assert lab("eval", *files, "--outdir", f"runs/{run}", "--expect", SAID["expect"]).status == 0
    summary = json.loads((lab.folder / "runs" / run / "summary.json").read_bytes())
    return f"runs/{run}, {summary['passes']} of 25"


def page_of_trainings(lab: Lab, baseline: str, candidate: str) -> CheckResult:
    said = {"n": "25", "flips": "50 %", "smallest": "39.3 points", "baseline": baseline, "candidate": candidate}
    return page(lab, **said, verdict=verdict_of(lab, baseline, candidate))


def verdict_of(lab: Lab, baseline: str, candidate: str) -> str:
    runs = [said.partition(",")[0] for said in (baseline, candidate)]
    done = lab("gate", "--baseline", runs[0], "--candidate", runs[1], "--min-delta", "0.02")
    [verdict] = re.findall("^(PROMOTE|REJECT|INCONCLUSIVE): ", done.out, re.MULTILINE)
    return str(verdict)


@pytest.mark.parametrize(
    ("options", "state", "said"),
    [
        (("--lr", "0.1"), "for the teacher to read", "runs/train_after"),
        (("--lr", "0.1", "--kl-coef", "0.2"), "wrong", "two trainings that differ in one setting, got lr, kl_coef"),
        (("--lr", "0.1", "--seed", "1"), "wrong", "two trainings that differ in one setting, got lr, seed"),
        (("--seed", "1"), "wrong", "the seed alone"),
    ],
)
def test_two_trainings_differ_in_one_setting(lab: Lab, options: tuple[str, ...], state: str, said: str) -> None:
    before = train_and_measure(lab, "before")
    after = train_and_measure(lab, "after", *options)
    result = page_of_trainings(lab, before, after)
    assert result.state == state, result.lines
    assert said in f"{result.lines} {result.numbers}"


def test_before_and_after_of_one_training_is_an_experiment_if_it_is_not_the_pages_own(lab: Lab) -> None:
    before = train_and_measure(lab, "before", step=0)
    after = measure_training(lab, "before", "after", 4)
    result = page_of_trainings(lab, before, after)
    assert result.state == "for the teacher to read", result.lines
    [run] = [run for run in read_logged_runs() if run.manifest.command == "course.token_train"]
    assert not is_worked_example(run)

    def of(settings: dict[str, Any]) -> LoggedRun:
        return run._replace(manifest=msgspec.structs.replace(run.manifest, settings=settings))

    assert is_worked_example(of(GENERALISE._replace(eval_every=600).settings()))
    assert not is_worked_example(of(GENERALISE._replace(lr=0.1).settings()))
    assert not is_worked_example(of(MEMORISE.settings()))


# Settings that change nothing of a policy: how often a training is measured, and on which unseen prompts.
NO_KNOBS = {"eval_every"}


@pytest.mark.parametrize("name", sorted({*MEMORISE.settings()} - NO_KNOBS))
def test_every_setting_of_a_training_is_a_knob(name: str) -> None:
    settings = MEMORISE.settings()
    before = training_run(settings)
    assert differing_settings(before, training_run(settings | {name: "another"})) == [name]


@pytest.mark.parametrize("name", sorted({*NO_KNOBS, "holdout_fingerprint"}))
def test_what_a_training_is_measured_on_is_no_knob(name: str) -> None:
    settings = MEMORISE.settings()
    assert differing_settings(training_run(settings), training_run(settings | {name: "another"})) == []


def training_run(settings: dict[str, Any]) -> LoggedRun:
    facts = SimpleNamespace(settings=settings, seed=0, dataset_fingerprint="the same")
    return LoggedRun(0, "runs/training", cast(Manifest, facts), {}, [])


# ---- The teacher's sample


def test_the_teachers_sample_has_the_numbers_of_its_runs(lab: Lab) -> None:
    """Its two rules of choice stand in the page, and are run as they stand there."""
    text = SAMPLE.read_text(encoding="utf-8")
    _, *rules = re.split(r"^    # (exercises/\w+\.py)\n", text, flags=re.MULTILINE)
    for name, code in zip(rules[::2], rules[1::2], strict=True):
        lines = code.partition("\n## ")[0].split("\n")
        lab.write(name, "\n".join(line.removeprefix("    ") for line in lines))
    data = ROOT / "data"
    pack = ["--dataset", data / "datasets" / "easy_sums_dev.jsonl"]
    pack += ["--samples", data / "rollouts" / "smollm2_pack_dev.jsonl", "--n", 8]
    [expect] = re.findall("^expect: (.*)$", text, re.MULTILINE)
    for rule, more in (("first_rule", []), ("vote_rule", ["--expect", expect])):
        pick = ["--pick", f"exercises/{rule}.py:choose", "--outdir", f"runs/{rule}"]
        done = lab("selection_demo", *pack, *pick, *more)
        assert done.status == 0, done.err
    lab.write(SHEET.as_posix(), text)
    result = check_experiment()
    assert (result.state, result.short) == ("for the teacher to read", "INCONCLUSIVE"), result.lines
