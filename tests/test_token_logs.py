"""The logs of the commands that train token policies: every row satisfies its identities, by plain Python.

An example: a row of log.jsonl says true_reward 0.25 after 4 updates. Of the 40 completions that results.jsonl holds for
that evaluation, 10 are the right line, which a regular expression written here finds out.

Not covered: log-probabilities, KL and lengths in tokens, which need the policy; tests/course/policies/ has them.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of

from course.artifacts import run_log
from course.experiment import EXPERIMENTS
from course.experiments import goodhart, pass_at_k
from course.policies import token_learner, train_config

Row = dict[str, Any]

TINY: Row = {"sft_steps": 40, "prompts_a_step": 6, "group_size": 4, "max_tokens": 10, "width": 4, "hidden": 12}
TRAIN = ("token_train", "--preset", "memorise", "--sft-steps", 40, "--steps", 5, "--eval-every", 2, "--group-size", 4)
TRAININGS: dict[str, tuple[object, ...]] = {  # baseline -> the command
    "group": (*TRAIN, "--slow", 3, "--kl-coef", 0.2, "--rubric", "without_punctuation"),
    "running": (*TRAIN, "--slow", 3, "--baseline", "running", "--rubric", "format_only", "--seed", 3),
    "none": (*TRAIN, "--slow", 3, "--baseline", "none", "--rubric", "anywhere"),
}
EXPERIMENT_OPTIONS: dict[str, tuple[object, ...]] = {
    "goodhart": ("--rubrics", "score", "anywhere", "--kl-coef", 0.1, "--eval-every", 3, "--seeds", 2),
    "coverage": ("--values", 4, 20),
    "shift": (),
    "pass_at_k": ("--seeds", 2),
    "noise": ("--seeds", 2),
}
FIGURES = {
    "token_train": ["learning_curves"],
    "experiments.goodhart": ["rubrics_figure", "kl_coef_figure"],
    "experiments.shift": ["shift_curves"],
    "experiments.pass_at_k": ["pass_at_k_figure"],
    "experiments.coverage": ["coverage_figure"],
    "experiments.noise": ["noise_figure"],
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a lab with a small run of each of these commands, without its figures."""
    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        lab = Lab(folder)
        patch.setattr(run_log, "LOG", lab.log)
        patch.setattr(token_learner, "DEMONSTRATIONS", 32)
        for name, preset in pass_at_k.PRESETS.items():
            patch.setitem(train_config.PRESETS, name, preset._replace(**TINY))
            for file in (preset.dataset, str(preset.holdout)):
                lab.write(file, lines_of(ROOT / file)[: 300 if name == "memorise" else 60])
        for experiment in EXPERIMENTS.values():
            patch.setattr(experiment, "CONFIGS", [config._replace(**TINY) for config in experiment.CONFIGS])
        patch.setattr(goodhart, "BASE", goodhart.BASE._replace(**TINY))
        patch.setattr(pass_at_k, "PROMPTS", 2)
        patch.setattr(pass_at_k, "CONFIGS", [config._replace(samples=128) for config in pass_at_k.CONFIGS])
        for module, figures in FIGURES.items():
            for figure in figures:
                patch.setattr(f"course.{module}.{figure}", lambda *_: b"a figure")
        for outdir, (command, *arguments) in TRAININGS.items():
            done = lab(str(command), *arguments, "--outdir", outdir)
            assert (done.status, done.err) == (0, ""), outdir
        for outdir, options in EXPERIMENT_OPTIONS.items():
            done = lab("experiment", outdir, "--steps", 4, "--seed", 2, *options, "--outdir", outdir)
            assert (done.status, done.err) == (0, ""), outdir
    return folder


def strict_reward(row: Row) -> float:
    """What the spec pays for a row's completion, read anew."""
    match = re.fullmatch("Final: (0|-?[1-9][0-9]*)", row["completion"].strip(" \t\r\n"))
    return float(match is not None and match[1] == str(row["expected_answer"]))


def results_by(run: Path, *keys: str) -> dict[tuple[Any, ...], list[Row]]:
    """The rows of results.jsonl under the values of these keys. An equal completion that came twice is two rows."""
    found: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in lines_of(run / "results.jsonl"):
        assert row["reward"] == strict_reward(row)
        found[tuple(row.get(key) for key in keys)] += [row] * row.get("count", 1)
    return found


def share(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def proxy_reward(row: Row) -> float:
    """The rubric's reward; a row has none of its own where the strict scorer is the rubric."""
    own: float | None = row.get("proxy_reward")
    strict: float = row["reward"]
    return strict if own is None else own


def check_evaluation(log_row: Row, prefix: str, completions: list[Row]) -> None:
    """The means of a row, again from the completions of its evaluation."""
    proxies = [proxy_reward(row) for row in completions]
    paid = [proxy >= 0.5 and row["reward"] == 0 for proxy, row in zip(proxies, completions, strict=True)]
    assert [row.get("kind") is not None for row in completions] == paid
    exploits = [row.get("kind") in ("several", "wrong") for row in completions]
    other_forms = [row.get("kind") == "other_form" for row in completions]
    assert log_row[f"{prefix}n"] == len(completions)
    assert log_row[f"{prefix}true_reward"] == pytest.approx(share([row["reward"] for row in completions]), abs=1e-12)
    assert log_row[f"{prefix}proxy_reward"] == pytest.approx(share(proxies), abs=1e-12)
    assert log_row[f"{prefix}hack_rate"] == pytest.approx(share(exploits), abs=1e-12)
    assert log_row[f"{prefix}other_form_rate"] == pytest.approx(share(other_forms), abs=1e-12)


@pytest.mark.parametrize("name", [*TRAININGS, *(name for name in EXPERIMENT_OPTIONS if name != "pass_at_k")])
def test_every_evaluation_is_the_mean_of_its_completions(runs: Path, name: str) -> None:
    log = lines_of(runs / name / "log.jsonl")
    results = results_by(runs / name, "training", "step", "split")
    frozen = {key: rows for key, rows in results.items() if key[0] == "frozen"}
    assert bool(frozen) == (name == "shift")
    used = set(frozen)
    for row in log:
        training, step = row.get("training"), row["step"]
        train, holdout = (training, step, "train"), (training, step, "holdout")
        if name == "shift":
            train = next(key for key in results if key[0] != "frozen" and key[1:] == train[1:])
        check_evaluation(row, "", results[train])
        used.add(train)
        if "holdout_n" in row:
            check_evaluation(row, "holdout_", results[holdout])
            used.add(holdout)
        if step == 0:
            assert row["kl"] == 0
    assert used == {key for key, rows in results.items() if rows}


def test_every_count_of_right_completions_is_that_of_the_results(runs: Path) -> None:
    results = results_by(runs / "pass_at_k", "training", "step", "split", "id")
    log = lines_of(runs / "pass_at_k" / "log.jsonl")
    assert len(log) == len(results) == 2 * 2 * 2 * 2 * 2  # presets, seeds, before and after, splits, prompts
    for row in log:
        completions = results[f"{row['preset']}, seed {row['seed']}", row["step"], row["split"], row["id"]]
        assert row["n"] == len(completions) == 128
        assert row["correct"] == sum(one["reward"] for one in completions)
        assert row["entropy"] >= 0


def returns_of(rows: Sequence[Row]) -> list[float]:
    return [row["reward"] - row["kl_coef"] * row["log_ratio"] for row in rows]


def baselines_of(kind: str, rows: Sequence[Row], means_before: Sequence[float]) -> list[float]:
    """The baseline of each completion of one update. ``means_before``: of the returns in each earlier update."""
    returns = returns_of(rows)
    if kind == "none":
        return [0.0] * len(rows)
    if kind == "running":
        return [share(means_before) if means_before else 0.0] * len(rows)
    of_a_prompt: dict[str, list[float]] = defaultdict(list)
    for row, return_ in zip(rows, returns, strict=True):
        of_a_prompt[row["id"]].append(return_)
    groups = [of_a_prompt[row["id"]] for row in rows]
    return [(sum(group) - own) / (len(group) - 1) for group, own in zip(groups, returns, strict=True)]


@pytest.mark.parametrize("baseline", TRAININGS)
def test_every_update_of_a_completion_satisfies_its_identities(runs: Path, baseline: str) -> None:
    updates: dict[int, list[Row]] = defaultdict(list)
    for row in lines_of(runs / baseline / "slow.jsonl"):
        updates[row["step"]].append(row)
    assert [*updates] == [1, 2, 3]
    means_before: list[float] = []
    for rows in updates.values():
        assert len(rows) == TINY["prompts_a_step"] * TINY["group_size"]
        for row, expected in zip(rows, baselines_of(baseline, rows, means_before), strict=True):
            lengths = {len(row[name]) for name in ("tokens", "log_probs", "reference_log_probs", "new_log_probs")}
            assert lengths == {len(row["tokens"])}
            assert max(row["log_probs"] + row["new_log_probs"]) <= 0
            ratio = sum(row["log_probs"]) - sum(row["reference_log_probs"]) if row["kl_coef"] else 0.0
            assert row["log_ratio"] == pytest.approx(ratio, abs=1e-9)
            assert row["baseline"] == pytest.approx(expected, abs=1e-9)
            return_ = row["reward"] - row["kl_coef"] * row["log_ratio"]
            assert row["advantage"] == pytest.approx(return_ - row["baseline"], abs=1e-12)
        means_before.append(share(returns_of(rows)))
