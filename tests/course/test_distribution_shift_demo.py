"""Frozen and fresh completions as their user sees them: every number counted again from the results, equal bytes.

The worked example. Twelve sums, 8 frozen completions of each and 42 updates: results.jsonl has 96 frozen rows, then 12
fresh ones for each of the evaluations 0, 5, …, 40 and 42. The frozen pass rate is one number; the error is what is
left of it when the fresh rate is taken off.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import Lab, ended, files, lines_of
from scipy_when_asked import scipy

from course.policies.evaluation import learn_and_evaluate
from course.policies.presets import MEMORISE
from course.policies.token_learner import fine_tune
from course.reports.distribution_shift_demo import shift_curves
from course.reports.figures import png
from course.reports.terminal import NOTHING_KEPT
from course.rubrics.hackable import RUBRICS
from course.score import score

NAME = "distribution_shift_demo"
SMALL = MEMORISE._replace(plan=MEMORISE.plan._replace(sft_steps=150, prompts_a_step=8, max_tokens=16))
BRIEF = SMALL._replace(plan=SMALL.plan._replace(sft_steps=15))
SUMS = [(a, b) for a in range(3) for b in range(4)]
EXAMPLES = [{"id": f"s{a}{b}", "prompt": f"What is {a} + {b}?", "expected_answer": a + b} for a, b in SUMS]


@pytest.fixture
def small(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with twelve sums, in which the supervised start is short."""
    lab.write(MEMORISE.dataset, EXAMPLES)
    monkeypatch.setattr("course.policies.presets.MEMORISE", SMALL)
    monkeypatch.setattr("course.distribution_shift_demo.shift_curves", lambda *_: b"a figure")
    return lab


@pytest.fixture
def brief(small: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """The same with a supervised start so short that hardly anything was learned, where that does not matter."""
    monkeypatch.setattr("course.policies.presets.MEMORISE", BRIEF)
    return small


def demo(lab: Lab, *arguments: object, outdir: str = "run") -> str:
    """Run it: what it printed."""
    done = lab(NAME, *arguments, "--outdir", outdir)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.split("\n"))) <= 80
    assert f"\n{NOTHING_KEPT}\n" in done.out
    assert NOTHING_KEPT not in (lab.folder / outdir / "README.md").read_text("utf-8")
    return done.out


def kept(lab: Lab, outdir: str = "run") -> tuple[list[Any], list[Any], list[Any]]:
    """The rows of the log, the frozen completions prompt by prompt, the fresh ones step by step."""
    run = lab.folder / outdir
    log, results = lines_of(run / "log.jsonl"), lines_of(run / "results.jsonl")
    frozen = [row for row in results if row["training"] == "frozen"]
    groups = {row["id"]: [one["completion"] for one in frozen if one["id"] == row["id"]] for row in frozen}
    fresh: dict[int, list[str]] = {}
    for row in results[len(frozen) :]:
        assert row["training"] == "fresh"
        fresh.setdefault(row["step"], []).append(row["completion"])
    return (
        log,
        [{"id": id_, "samples": samples} for id_, samples in groups.items()],
        [{"step": step, "completions": texts} for step, texts in fresh.items()],
    )


def by_hand(text: str) -> str:
    """The shape, letter by letter."""
    found = ""
    for letter in text:
        if letter not in "0123456789":
            found += letter
        elif not found.endswith("N"):  # no N is written in a completion of these tests
            found += "N"
    return found


@pytest.mark.parametrize("rubric", ["anywhere", pytest.param("score", marks=pytest.mark.slow)])
def test_every_number_follows_from_the_completions(small: Lab, rubric: str) -> None:
    out = demo(small, "--rubric", rubric, "--steps", 42)
    rows, groups, fresh = kept(small)
    assert [group["id"] for group in groups] == [example["id"] for example in EXAMPLES]
    assert {len(group["samples"]) for group in groups} == {8}
    assert [row["step"] for row in rows] == [one["step"] for one in fresh] == [0, 5, 10, 15, 20, 25, 30, 35, 40, 42]
    frozen = [
        score(example, text)["reward"]
        for example, group in zip(EXAMPLES, groups, strict=True)
        for text in group["samples"]
    ]
    rate = sum(frozen) / 96
    assert f"96 completions frozen at step 0: {100 * rate:.1f} % (" in out
    known = {by_hand(text) for group in groups for text in group["samples"]}
    lines = [line.split() for line in out.split("\n")]
    shares = []
    for place, (row, one) in enumerate(zip(rows, fresh, strict=True)):
        passes = [score(*pair)["reward"] for pair in zip(EXAMPLES, one["completions"], strict=True)]
        assert row["true_reward"] == sum(passes) / 12
        new = [text for text in one["completions"] if by_hand(text) not in known]
        shares.append(len(new) / 12)
        shown = [line for line in lines if line[:1] == [str(row["step"])] and line[-1:] == ["%"]]
        assert len(shown) == (place in (0, 1, 2, 4, 8, 9))
        for line in shown:
            low, high = (
                100 * bound for bound in scipy.stats.binomtest(int(sum(passes)), 12).proportion_ci(method="wilson")
            )
            error = 100 * (rate - row["true_reward"])
            cells = f"{100 * row['true_reward']:.1f} % {low:.1f} to {high:.1f} % {error:+.1f} {100 * shares[-1]:.0f} %"
            assert line[1:] == cells.split()
    summary = json.loads((small.folder / "run/summary.json").read_bytes())
    end = rows[-1]["true_reward"]
    assert summary == {
        "frozen_pass_rate": rate, "fresh_pass_rate": end, "error": rate - end, "unseen_shape": shares[-1],
    }  # fmt: skip
    assert any(share > 0.5 for share in shares) == (rubric == "anywhere")
    examples = [text.replace("\n", "⏎")[:30] for text in fresh[-1]["completions"] if by_hand(text) not in known][:3]
    assert all(text in out for text in examples)


def test_fresh_means_of_the_policy_of_that_step(brief: Lab) -> None:
    demo(brief, "--rubric", "last_number", "--steps", 7, "--seed", 3)
    plan = BRIEF.plan._replace(steps=7)
    reference = fine_tune(EXAMPLES, plan, 3)
    learning = learn_and_evaluate(reference, EXAMPLES, [], RUBRICS["last_number"], plan, 3, 1)
    written = {checkpoint.step: checkpoint.evaluations["train"].texts for checkpoint in learning}
    assert kept(brief)[2] == [{"step": step, "completions": written[step]} for step in (0, 5, 7)]


@pytest.mark.slow
def test_what_is_frozen_is_of_step_0_whatever_comes_after_and_is_not_the_first_evaluation(small: Lab) -> None:
    for outdir, arguments in {
        "one": ["--steps", 1],
        "other": ["--steps", 6, "--rubric", "score"],
        "seeded": ["--steps", 1, "--seed", 1],
    }.items():
        demo(small, *arguments, outdir=outdir)
    one, other, seeded = (kept(small, outdir) for outdir in ("one", "other", "seeded"))
    assert one[1] == other[1] != seeded[1]
    assert one[2][0] == other[2][0]
    assert one[2][1]["completions"] != other[2][-1]["completions"]
    assert [group["samples"][0] for group in one[1]] != one[2][0]["completions"]


@pytest.mark.slow
def test_frozen_completions_are_of_their_own_prompt(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy fine-tuned on a careful hand answers most prompts: were they mixed up, one in six would be right."""
    monkeypatch.setattr("course.policies.demonstrations.CORRECT", 1.0)
    monkeypatch.setattr("course.policies.presets.MEMORISE", SMALL._replace(plan=SMALL.plan._replace(sft_steps=500)))
    demo(small, "--steps", 1)
    groups = kept(small)[1]
    pairs = zip(EXAMPLES, groups, strict=True)
    named = [str(example["expected_answer"]) in text for example, group in pairs for text in group["samples"]]
    assert sum(named) > 0.5 * len(named)


def test_the_manifest_is_of_the_run(brief: Lab) -> None:
    demo(brief, "--rubric", "score", "--steps", 5, "--seed", 5, "--change", "better start")
    manifest = json.loads((brief.folder / "run/manifest.json").read_bytes())
    assert (manifest["loop"], manifest["command"], manifest["seed"]) == ("C", f"course.{NAME}", 5)
    assert (manifest["split"], manifest["change"]) == ("dev", "better start")
    plan = BRIEF.plan._replace(steps=5)._asdict()
    assert manifest["settings"] == {"rubric": "score", "frozen": 8, "eval_every": 5, "plan": plan}
    outputs = {path.name for path in (brief.folder / "run").iterdir()} - {
        *("manifest.json", "environment.json", "README.md")
    }
    assert manifest["outputs"].keys() == outputs
    assert brief("inspect_run", "--run", "run", "--verify").status == 0


@pytest.mark.slow
def test_equal_seeds_give_equal_bytes_in_another_process_too(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.distribution_shift_demo.shift_curves", shift_curves)
    arguments = ["--steps", "12", "--seed", "4", "--outdir"]
    demo(small, *arguments[:-1], outdir="one")
    code = f"""
import sys
from course.policies import presets
from course.policies.presets import Plan
presets.MEMORISE = presets.MEMORISE._replace(plan={SMALL.plan!r})
from course.command import run_command
from course.{NAME} import main
sys.argv = [{NAME!r}, *{[*arguments, "two"]!r}]
run_command(main)
"""
    environment = os.environ | small.path() | {"PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo"}
    pipe = subprocess.PIPE
    line = [sys.executable, "-c", code]
    done = ended(subprocess.Popen(line, cwd=small.folder, env=environment, stdout=pipe, stderr=pipe))
    assert (done.status, done.err) == (0, "")
    one, two = (files(small.folder / name) for name in ("one", "two"))
    assert one.pop("environment.json")
    assert two.pop("environment.json")
    page, other = (found.pop("README.md") or b"" for found in (one, two))  # each has the line that was typed
    assert page.replace(b"--outdir one", b"--outdir two") == other
    assert one == two
    assert len(one) == 6


def test_the_figure_shows_the_rows(brief: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets: list[Any] = []

    def caught(sheet: Any) -> bytes:
        sheets.append(sheet)
        return png(sheet)

    monkeypatch.setattr("course.distribution_shift_demo.shift_curves", shift_curves)
    monkeypatch.setattr("course.reports.distribution_shift_demo.png", caught)
    demo(brief, "--steps", 10)
    rows = kept(brief)[0]
    assert (brief.folder / "run/distribution_shift.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    rates, unseen = sheets[0].axes
    steps = [row["step"] for row in rows]
    said, fresh = rates.get_lines()
    summary = json.loads((brief.folder / "run/summary.json").read_bytes())
    assert set(said.get_ydata()) == {summary["frozen_pass_rate"]}
    assert (list(fresh.get_xdata()), list(fresh.get_ydata())) == (steps, [row["true_reward"] for row in rows])
    (line,) = unseen.get_lines()
    assert line.get_ydata()[-1] == summary["unseen_shape"]
    assert unseen.get_xlabel().endswith("training on anywhere")


def test_help_loads_neither_numpy_nor_matplotlib(lab: Lab) -> None:
    done = lab.process(NAME, "--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert (done.status, "--rubric" in done.out) == (0, True)
    assert "argparse" in done.err  # what was loaded is listed there
    assert "numpy" not in done.err
    assert "matplotlib" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rubric", "judge"],
        ["--frozen", "8"],
        ["--steps", "0"],
        ["--steps", "1.5"],
        ["--seed", "-1"],
        ["--step", "2"],
    ],
)
def test_what_it_does_not_know_is_refused(small: Lab, arguments: list[str]) -> None:
    assert f"{NAME} --help" in small.refused(NAME, *arguments)


def test_without_its_dataset_or_into_a_folder_that_exists_nothing_is_written(lab: Lab) -> None:
    assert MEMORISE.dataset in lab.refused(NAME)
    lab.write(MEMORISE.dataset, "")
    assert MEMORISE.dataset in lab.refused(NAME)
    Path("taken").mkdir()
    assert "expected a new folder" in lab.refused(NAME, "--outdir", "taken")
