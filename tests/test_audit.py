"""Every number in a log of Loop C, recomputed from the files of the run by ``auditor.py``, which knows no package.

An example: a row of slow.jsonl says new_log_probs. The auditor reads reference.npz, draws the completions again from
the seed, pays them, steps up the gradient it derives itself, and finds the same log-probabilities to nine digits.
"""

import ast
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import auditor
import pytest
from conftest import ROOT, Lab, lines_of

from course.artifacts import run_log
from course.experiment import EXPERIMENTS
from course.experiments import goodhart, pass_at_k
from course.policies import token_learner, train_config
from course.rubrics.hackable import GAPS, RUBRICS

DATASETS = Path("data/datasets")
TINY: dict[str, Any] = {
    "sft_steps": 40,
    "prompts_a_step": 6,
    "group_size": 4,
    "max_tokens": 10,
    "width": 4,
    "hidden": 12,
}
TRAIN = ("token_train", "--preset", "memorise", "--sft-steps", 40, "--steps", 5, "--eval-every", 2, "--group-size", 4)
RUNS: dict[str, tuple[object, ...]] = {
    "gradient": ("policy_gradient_demo", "--fast", "--steps", 12),
    "bandit": ("bandit_train", "--steps", 25, "--reward-offset", 1),
    "no_baseline": ("bandit_train", "--steps", 9, "--no-baseline", "--lr", "-0.5", "--seed", 2),
    "two_steps": ("toy_mdp", "--episodes", 30),
    "no_credit": ("toy_mdp", "--episodes", 9, "--no-credit-step1", "--seed", 1),
    "learning": ("policy_improvement_demo", "--mode", "learning", "--rounds", 12),
    "selection": ("policy_improvement_demo", "--mode", "selection", "--rounds", 5, "--n", 2),
    "verifier": ("kl_tradeoff_demo",),
    "graded": ("kl_tradeoff_demo", "--rewards", "graded"),
    "inspect": ("token_inspect", "Final: 323", "Final: -323", "Final: \u0663"),
    "group": (*TRAIN, "--slow", 2, "--kl-coef", 0.2, "--rubric", "without_punctuation"),
    "running": (*TRAIN, "--slow", 3, "--baseline", "running", "--rubric", "format_only", "--seed", 3),
    "none": (*TRAIN, "--baseline", "none", "--rubric", "anywhere"),
    "goodhart": ("experiment", "goodhart", "--rubrics", *("score", "format_bonus", "suffix"), "--kl-coef", 0, 0.1,
                 "--steps", 4, "--eval-every", 3, "--seeds", 2, "--seed", 5),
    "coverage": ("experiment", "coverage", "--values", 4, 20, "--steps", 3, "--seed", 1),
    "shift": ("experiment", "shift", "--steps", 6),
    "pass_at_k": ("experiment", "pass_at_k", "--steps", 3, "--seeds", 2, "--seed", 1),
    "noise": ("experiment", "noise", "--steps", 3, "--seeds", 2, "--seed", 4),
    "cold_start": ("experiment", "cold_start", "--values", 0, 30, "--steps", 3, "--seeds", 2, "--seed", 3),
}  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with a small run of each command that writes a log of Loop C."""
    folder = tmp_path_factory.mktemp("audited")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        lab = Lab(folder)
        patch.setattr(run_log, "LOG", lab.log)
        patch.setattr(token_learner, "DEMONSTRATIONS", 32)
        for name, preset in train_config.PRESETS.items():
            patch.setitem(train_config.PRESETS, name, preset._replace(**TINY))
            for file in (preset.dataset, str(preset.holdout)):
                lab.write(file, lines_of(ROOT / file)[: 300 if name == "memorise" else 60])
        for study in EXPERIMENTS.values():
            patch.setattr(study, "SETTINGS", [config._replace(**TINY) for config in study.SETTINGS])
        patch.setattr(goodhart, "BASE", goodhart.BASE._replace(**TINY))
        patch.setattr(pass_at_k, "PROMPTS", 2)
        patch.setattr(pass_at_k, "SETTINGS", [config._replace(samples=128) for config in pass_at_k.SETTINGS])
        for module, figures in FIGURES.items():
            for figure in figures:
                patch.setattr(f"course.{module}.{figure}", lambda *_: b"a figure")
        for outdir, (command, *arguments) in RUNS.items():
            done = lab(str(command), *arguments, "--outdir", outdir)
            assert (done.status, done.err) == (0, ""), outdir
    return folder


FIGURES = {
    "bandit_train": ["learning_curve"],
    "kl_tradeoff_demo": ["kl_tradeoff_figure"],
    "token_train": ["learning_curves"],
    "experiments.goodhart": ["rubrics_figure", "kl_coef_figure"],
    "experiments.shift": ["shift_curves"],
    "experiments.pass_at_k": ["pass_at_k_figure"],
    "experiments.coverage": ["coverage_figure"],
    "experiments.cold_start": ["cold_start_figure"],
    "experiments.noise": ["noise_figure"],
}


def imports(path: Path) -> set[str]:
    """The packages that a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module or "." for node in nodes if isinstance(node, ast.ImportFrom)]
    return {name.partition(".")[0] for name in names}


def test_the_auditor_needs_the_standard_library_and_numpy_only() -> None:
    assert imports(Path(auditor.__file__)) - sys.stdlib_module_names == {"numpy"}


def test_the_verifiers_that_the_auditor_wrote_itself_pay_what_those_of_the_course_pay() -> None:
    files = [ROOT / "course/golden" / f"golden_{name}.jsonl" for name in ("correct", "exploits")]
    texts = {case["completion"] for file in files for case in lines_of(file) if len(case["completion"]) < 1_000}
    texts |= {gap.exploit(answer) for gap in GAPS.values() for answer in (-7, 0, 12, 323)}
    for name, rubric in RUBRICS.items():
        pairs = [(answer, text) for answer in (-7, 0, 12, 323) for text in sorted(texts)]
        found = [rubric({"id": "q", "prompt": "?", "expected_answer": n}, text)["reward"] for n, text in pairs]
        assert [auditor.paid(name, n, text) for n, text in pairs] == found, name
        assert 0 < sum(found) < len(found)


@pytest.mark.medium
@pytest.mark.parametrize("name", RUNS)
def test_every_number_of_a_log_comes_out_again(ran: Path, name: str) -> None:
    assert auditor.audit(ran / name, ran / DATASETS) == []


@pytest.mark.parametrize("name", ["bandit", "bandit_backwards", "two_steps"])
def test_every_number_of_the_runs_that_are_shipped_comes_out_again(name: str) -> None:
    assert auditor.audit(ROOT / "data/example_runs" / name, ROOT / DATASETS) == []


@pytest.mark.medium
def test_every_log_of_loop_c_is_audited(ran: Path) -> None:
    for name, (command, *_) in RUNS.items():
        rows = {path.name for path in (ran / name).iterdir() if path.suffix in (".jsonl", ".csv")} - {"results.jsonl"}
        assert rows <= auditor.LOGS[str(command)].keys()
    assert {command for command, *_ in RUNS.values()} == auditor.LOGS.keys()
    assert (ran / "group" / "slow.jsonl").exists()


@pytest.mark.medium
def test_what_is_not_audited_is_a_number_that_stands_in_a_log(ran: Path) -> None:
    logs = [path for name in RUNS for path in (ran / name).iterdir() if path.name in auditor.UNAUDITED]
    found = {
        (log.name, key) for log in logs for row in lines_of(log) for key, one in row.items() if auditor.has_number(one)
    }
    assert {(file, key) for file, keys in auditor.UNAUDITED.items() for key in keys} == found
    assert all(reason for keys in auditor.UNAUDITED.values() for reason in keys.values())


@pytest.mark.medium
@pytest.mark.parametrize("name", ["group", "running", "none"])
def test_the_policy_of_a_run_is_the_one_that_the_training_done_again_ends_in(ran: Path, name: str) -> None:
    (training,) = auditor.trainings(ran / name, ran / DATASETS)
    *_, last = training.updates()
    written = auditor.read_policy(ran / name / "policy.npz")
    for weights in ("vectors", "hidden", "hidden_bias", "out", "out_bias"):
        assert auditor.same(written[weights].tolist(), last["new_policy"][weights])
        assert not auditor.same(written[weights].tolist(), training.reference[weights])


def spoiled(value: Any) -> Any:
    """The value with its last number a millionth larger, or one larger where it is whole."""
    if isinstance(value, list):
        return [*value[:-1], spoiled(value[-1])]
    return value + (1 if isinstance(value, int) else 1e-6)


LOGS = [(name, log) for name, (command, *_) in RUNS.items() for log in auditor.LOGS[str(command)]]


@pytest.mark.medium
@pytest.mark.parametrize(("name", "log"), [one for one in LOGS if one != ("none", "slow.jsonl")])
def test_each_number_that_was_changed_is_named(ran: Path, name: str, log: str) -> None:
    rows, recomputed = auditor.both(ran / name, log, ran / DATASETS)
    for row, expected in zip(rows, recomputed, strict=True):
        for key in {key for key, value in row.items() if auditor.has_number(value)}:
            said = [*auditor.differences(log, [row | {key: spoiled(row[key])}], [expected])]
            assert key in auditor.UNAUDITED.get(log, {}) or len(said) == 1
            assert all(line.startswith(f"{log}:1 {key}: the log says ") for line in said)


@pytest.mark.medium
def test_a_number_that_is_new_a_row_that_is_gone_and_another_completion_are_named(ran: Path, tmp_path: Path) -> None:
    rows, recomputed = auditor.both(ran / "goodhart", "log.jsonl", ran / DATASETS)
    assert [*auditor.differences("log.jsonl", rows[:-1], recomputed)] == ["log.jsonl: expected 30 rows, got 29"]
    new = [rows[0] | {"entropy": 0.5}, *rows[1:]]
    assert [*auditor.differences("log.jsonl", new, recomputed)] == [
        "log.jsonl:1 entropy: a number that nothing recomputes"
    ]
    run = shutil.copytree(ran / "shift", tmp_path / "run")
    results = lines_of(run / "results.jsonl")
    results[-1]["completion"] += "."
    (run / "results.jsonl").write_text("".join(json.dumps(one) + "\n" for one in results), encoding="utf-8")
    said = auditor.audit(run, ran / DATASETS)
    assert "log.jsonl:3 drawn again, the policy writes other completions than results.jsonl says" in said


@pytest.mark.medium
def test_a_training_that_was_interrupted_is_audited_as_far_as_it_came(ran: Path, tmp_path: Path) -> None:
    run = shutil.copytree(ran / "none", tmp_path / "run")
    rows, summary = lines_of(run / "log.jsonl"), json.loads((run / "summary.json").read_bytes())
    (run / "log.jsonl").write_text("".join(json.dumps(one) + "\n" for one in rows[:2]), encoding="utf-8")
    assert auditor.audit(run, ran / DATASETS) == ["log.jsonl: expected 4 rows, got 2"]
    (run / "summary.json").write_text(json.dumps(summary | {"interrupted": True}), encoding="utf-8")
    assert auditor.audit(run, ran / DATASETS) == []


def test_from_the_command_line_it_prints_the_number_and_its_status_says_so(tmp_path: Path) -> None:
    run = shutil.copytree(ROOT / "data/example_runs/bandit", tmp_path / "run")
    for change, status, said in ((0.0, 0, "every number comes out"), (0.5, 1, "bandit_train_log.jsonl:7 baseline: ")):
        rows = lines_of(run / "bandit_train_log.jsonl")
        rows[6]["baseline"] += change
        text = "".join(json.dumps(one) + "\n" for one in rows)
        (run / "bandit_train_log.jsonl").write_text(text, encoding="utf-8", newline="\n")
        line = [sys.executable, auditor.__file__, str(run), str(ROOT / DATASETS)]
        done = subprocess.run(line, capture_output=True, encoding="utf-8", check=False)
        assert (done.returncode, done.stderr) == (status, "")
        assert done.stdout.startswith(said)
        assert done.stdout.count("\n") == 1
