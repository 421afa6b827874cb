"""The experiments as their user runs them, small: what is trained, what is refused, and equal bytes for any --jobs.

The rows of their logs are checked in tests/test_token_logs.py. An example of what is tried here: coverage with two
numbers of prompts and two seeds is four trainings. On three processes they end in any order, and the log has them as
it has them on one.
"""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of, prompts_digest
from learning_checks import check_run, evidence
from scipy_when_asked import scipy

from course.errors import UserError
from course.experiment import EXPERIMENTS, select_configs
from course.experiments import coverage, pass_at_k
from course.experiments.pass_at_k import PRESETS
from course.pages.learning import learning_data
from course.rubrics.hackable import RUBRICS
from course.score import score
from course.show.terminal import NOTHING_KEPT

TINY: dict[str, Any] = {"sft_steps": 30, "prompts_a_step": 4, "group_size": 4, "max_tokens": 8, "width": 4, "hidden": 8}
FEW: dict[str, tuple[object, ...]] = {
    "goodhart": ("--rubrics", "score", "anywhere", "--kl-coef", 0.1, "--eval-every", 2),
    "shift": (),
    "coverage": ("--values", 4, 20),
    "pass_at_k": ("--presets", "memorise"),
    "noise": (),
}
FIGURES = ("rubrics_figure", "kl_coef_figure", "shift_curves", "coverage_figure", "pass_at_k_figure")


@pytest.fixture
def tiny(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with few prompts, in which every training takes a blink and no figure is drawn."""
    for preset in PRESETS.values():
        for file in (preset.dataset, str(preset.holdout)):
            lab.write(file, lines_of(ROOT / file)[:30])
    for name, study in EXPERIMENTS.items():
        tiny = TINY | ({"samples": 128} if name == "pass_at_k" else {})
        monkeypatch.setattr(study, "CONFIGS", tuple(config._replace(**tiny) for config in study.CONFIGS))
        for figure in (*FIGURES, "noise_figure"):
            if hasattr(study, figure):
                monkeypatch.setattr(study, figure, lambda *_: b"a figure")
    monkeypatch.setattr("course.experiments.goodhart.BASE", EXPERIMENTS["goodhart"].CONFIGS[0])
    return lab


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_same_seed_same_bytes_and_the_run_is_whole(tiny: Lab, name: str) -> None:
    check_run(tiny, "experiment", name, *FEW[name], "--steps", 4, log="log.jsonl")
    manifest = json.loads((tiny.folder / "one/manifest.json").read_bytes())
    assert (manifest["command"], manifest["loop"]) == ("course.experiment", "C")
    assert (manifest["settings"]["experiment"], manifest["settings"]["steps"]) == (name, 4)
    figures = {path.name for path in (tiny.folder / "one").glob("*.png")}
    assert figures
    assert manifest["outputs"].keys() >= figures
    kind = "summary" if name == "pass_at_k" else "evaluations"  # of the run's page
    assert learning_data(tiny.folder / "one")["kind"] == kind


@pytest.mark.slow
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_bytes_are_the_same_for_any_number_of_processes(tiny: Lab, name: str) -> None:
    seeds = () if name == "shift" else ("--seeds", 2)
    for jobs in (1, 2, 3):
        done = tiny("experiment", name, *FEW[name], "--steps", 3, *seeds, "--jobs", jobs, "--outdir", f"run_{jobs}")
        assert (done.status, done.err) == (0, "")
    assert evidence(tiny.folder / "run_1") == evidence(tiny.folder / "run_2") == evidence(tiny.folder / "run_3")


def test_the_first_of_two_seeds_is_the_run_of_that_seed_alone(tiny: Lab) -> None:
    """And a setting among others is the one it would be alone."""
    tiny("experiment", "coverage", "--values", 4, 20, "--steps", 3, "--seeds", 2, "--outdir", "two")
    tiny("experiment", "coverage", "--values", 20, "--steps", 3, "--seed", 1, "--outdir", "alone")
    both = lines_of(tiny.folder / "two/log.jsonl")
    assert [(row["training"], row["step"]) for row in both] == [
        ("4 prompts, seed 0", 0),
        ("4 prompts, seed 0", 3),
        ("4 prompts, seed 1", 0),
        ("4 prompts, seed 1", 3),
        ("20 prompts, seed 0", 0),
        ("20 prompts, seed 0", 3),
        ("20 prompts, seed 1", 0),
        ("20 prompts, seed 1", 3),
    ]
    assert both[-2:] == lines_of(tiny.folder / "alone/log.jsonl")


def test_each_training_is_on_the_first_prompts_and_the_holdout_is_the_same(tiny: Lab) -> None:
    assert tiny("experiment", "coverage", "--values", 20, 4, 20, "--steps", 3, "--outdir", "run").status == 0
    results = lines_of(tiny.folder / "run/results.jsonl")
    for count in (4, 20):
        own = [row for row in results if (row["training"], row["step"]) == (f"{count} prompts, seed 0", 3)]
        for split, file, n in (("train", coverage.BASE.dataset, count), ("holdout", coverage.BASE.holdout, 30)):
            ids = [example["id"] for example in lines_of(Path(str(file)))]
            assert [row["id"] for row in own if row["split"] == split] == ids[:n]


def test_noise_pays_by_chance_and_measures_without_it_from_one_start(tiny: Lab) -> None:
    assert tiny("experiment", "noise", "--steps", 30, "--eval-every", 15, "--outdir", "run").status == 0
    log = lines_of(tiny.folder / "run/log.jsonl")
    assert len({row["true_reward"] for row in log if row["step"] == 0}) == 1
    assert all(row["proxy_reward"] == row["true_reward"] for row in log if row["rubric"] == "score")
    ends = [row for row in log if row["step"] == 30 and row["rubric"] == "score"]
    assert len({(row["kl"], row["mean_length"]) for row in ends}) == len(ends) == 7  # each learned something else


def shape_by_hand(text: str) -> str:
    """The shape, letter by letter."""
    found = ""
    for letter in text:
        if letter not in "0123456789":
            found += letter
        elif not found.endswith("N"):  # no N is written in a completion of these tests
            found += "N"
    return found


def test_every_number_of_shift_follows_from_the_completions(tiny: Lab) -> None:
    done = tiny("experiment", "shift", "--steps", 42, "--outdir", "run")
    assert done.status == 0
    assert max(map(len, done.out.split("\n"))) <= 80
    results = lines_of(tiny.folder / "run/results.jsonl")
    frozen = [result for result in results if result["training"] == "frozen"]
    assert results[: len(frozen)] == frozen
    examples = lines_of(Path(coverage.BASE.dataset.replace("two", "one")))
    assert [row["id"] for row in frozen] == [example["id"] for example in examples for _ in range(8)]
    rate = sum(score(result, result["completion"])["reward"] for result in frozen) / len(frozen)
    assert f"240 completions frozen at step 0: {100 * rate:.1f} % pass (" in done.out
    known = {shape_by_hand(result["completion"]) for result in frozen}
    lines = [line.split() for line in done.out.split("\n")]
    log = lines_of(tiny.folder / "run/log.jsonl")
    assert [row["step"] for row in log] == [0, 5, 10, 15, 20, 25, 30, 35, 40, 42]
    for place, row in enumerate(log):
        fresh = [
            result for result in results if result["training"] == "fresh, seed 0" and result["step"] == row["step"]
        ]
        passes = sum(score(result, result["completion"])["reward"] for result in fresh)
        assert row["true_reward"] == passes / 30
        unseen = sum(shape_by_hand(result["completion"]) not in known for result in fresh) / 30
        shown = [line for line in lines if line[:1] == [str(row["step"])] and line[-1:] == ["%"]]
        assert len(shown) == (place in (0, 1, 2, 4, 8, 9))
        for line in shown:
            low, high = scipy.stats.binomtest(int(passes), 30).proportion_ci(method="wilson")
            cells = f"{100 * passes / 30:.1f} % {100 * low:.1f} to {100 * high:.1f} % "
            assert line[1:] == f"{cells}{100 * (rate - passes / 30):+.1f} {100 * unseen:.0f} %".split()
    summary = json.loads((tiny.folder / "run/summary.json").read_bytes())
    assert summary == {
        "frozen_pass_rate": rate,
        "fresh_pass_rate": passes / 30,
        "error": rate - passes / 30,
        "unseen_shape": unseen,
    }
    first = [
        result["completion"] for result in results if result["training"] == "fresh, seed 0" and result["step"] == 0
    ]
    assert frozen[0]["completion"] != first[0]  # the draws of the first evaluation are not those of what is frozen


def test_rows_come_as_they_are_known_and_the_holdout_at_the_end_is_one_look(tiny: Lab) -> None:
    for number in (1, 2):
        done = tiny("experiment", "goodhart", *FEW["goodhart"], "--steps", 2, "--outdir", f"run_{number}")
        assert done.out.startswith("Loop C, learn: ")
        assert f"\n{NOTHING_KEPT}\n" in done.out
        assert f"look number {number}" in done.out.partition("prompts that it was never trained on?")[2]
        assert NOTHING_KEPT not in (tiny.folder / f"run_{number}/README.md").read_text("utf-8")
    opened = [prompts_digest(row["prompt"] for row in lines_of(Path(str(PRESETS["memorise"].holdout))))]
    assert [line["holdouts"] for line in lines_of(tiny.log)] == [opened, opened]


def chosen(experiment: str, **given: Any) -> list[Any]:
    options = dict.fromkeys(("rubrics", "kl_coef", "presets", "values", "steps", "eval_every"))
    return select_configs(Namespace(**options | given, experiment=experiment))


def test_the_options_choose_rows_of_the_table_and_add_others() -> None:
    for name, study in EXPERIMENTS.items():
        assert chosen(name) == list(study.CONFIGS)
        names = [study.name_of(config) for config in study.CONFIGS]
        assert len(set(names)) == len(names)
    of_all = [(config.rubric, config.kl_coef) for config in chosen("goodhart")]
    assert of_all[: len(RUBRICS)] == [(rubric, 0.0) for rubric in RUBRICS]
    assert {rubric for rubric, _ in of_all[len(RUBRICS) :]} == {"anywhere"}
    assert [(config.rubric, config.kl_coef) for config in chosen("goodhart", rubrics=["suffix"])] == [("suffix", 0.0)]
    with pytest.raises(UserError, match="add anywhere to --rubrics"):
        chosen("goodhart", rubrics=["suffix"], kl_coef=[0.1])
    two = chosen("goodhart", rubrics=["anywhere", "score", "score"], kl_coef=[0.5, 0.0, 0.5])
    assert [(config.rubric, config.kl_coef) for config in two] == [
        ("score", 0.0),
        ("anywhere", 0.0),
        ("anywhere", 0.5),
    ]
    assert [config.rubric for config in chosen("goodhart", rubrics=["suffix"], kl_coef=[])] == ["suffix"]
    assert [config.prompts for config in chosen("coverage", values=[60, 7, 60])] == [7, 60]
    assert chosen("pass_at_k", presets=["memorise"]) == [pass_at_k.CONFIGS[1]]
    assert {(config.steps, config.eval_every) for config in chosen("noise", steps=7, eval_every=2)} == {(7, 2)}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "experiment"),
        ("coverages", "did you mean coverage?"),
        ("coverage --values", "--values"),
        ("coverage --values -1", "--values"),
        ("coverage --rubrics score", "--rubrics is an option of goodhart"),
        ("goodhart --rubrics judge", "--rubrics"),
        ("goodhart --kl-coef -0.1", "--kl-coef"),
        ("goodhart --values 3", "--values is an option of coverage"),
        ("pass_at_k --eval-every 3", "--eval-every is an option of"),
        ("shift --seeds 2", "--seeds is an option of"),
        ("noise --steps 0", "--steps"),
        ("noise --seeds 0", "--seeds"),
        ("noise --cluster tcp://x:1", "--cluster"),
    ],
)
def test_what_it_does_not_know_is_refused(lab: Lab, line: str, said: str) -> None:
    refused = lab.refused("experiment", *line.split())
    assert said in refused
    assert "experiment --help" in refused


def test_what_cannot_be_done_leaves_nothing(tiny: Lab) -> None:
    for wrong in (0, 31):
        line = tiny.refused("experiment", "coverage", "--values", 3, wrong)
        assert line == f"error: --values: expected 1 to 30, because the dataset has 30 prompts, got {wrong}\n"
    Path("taken").mkdir()
    assert "expected a new folder" in tiny.refused("experiment", "shift", "--outdir", "taken")
    Path(str(PRESETS["memorise"].holdout)).unlink()
    assert "one_digit_sums_holdout.jsonl" in tiny.refused("experiment", "goodhart")


def test_prompts_that_try_to_command_the_terminal_are_shown(tiny: Lab) -> None:
    examples = []
    for number in range(6):
        prompt = f"\x1b[2J{number}\u202e[red]"
        example = {"id": f"q{number}", "prompt": prompt, "expected_answer": number, "metadata": {"split": "dev"}}
        examples.append(example)
    tiny.write(PRESETS["memorise"].dataset, examples)
    done = tiny("experiment", "goodhart", "--rubrics", "without_punctuation", "--kl-coef", "--steps", 60)
    assert done.status == 0
    assert "<U+001B ESC" in done.out
    assert all(line.isprintable() for line in done.out.split("\n"))


def test_help_loads_neither_numpy_nor_matplotlib(lab: Lab) -> None:
    done = lab.process("experiment", "--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.status == 0
    assert "--kl-coef" in done.out
    assert "argparse" in done.err  # what was loaded is listed there
    assert "numpy" not in done.err
    assert "matplotlib" not in done.err
