"""Frozen and fresh completions as their user sees them: every number counted again from the results, equal bytes.

The worked example. Twelve sums, 8 frozen completions of each and 42 updates: results.jsonl has 96 frozen rows, then 12
fresh ones for each of the evaluations 0, 5, …, 40 and 42. The frozen pass rate is one number; error is what is left of
it when the fresh rate is taken off.
"""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, ended, files, lines_of

from course.artifacts.learning import learning_result
from course.artifacts.records import LearningResult
from course.distribution_shift_demo import novel_completions, shift_row, total_variation
from course.faults import FAMILIES
from course.policies.evaluation import learn_and_evaluate
from course.policies.presets import MEMORISE
from course.policies.token_learner import fine_tune
from course.reports.figures import png
from course.rubrics.hackable import RUBRICS
from course.score import score

NAME = "distribution_shift_demo"
SMALL = MEMORISE._replace(plan=MEMORISE.plan._replace(sft_steps=150, prompts_a_step=8, max_tokens=16))
SUMS = [(a, b) for a in range(3) for b in range(4)]
EXAMPLES = [{"id": f"s{a}{b}", "prompt": f"What is {a} + {b}?", "expected_answer": a + b} for a, b in SUMS]


@pytest.fixture
def small(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab with twelve sums, in which the supervised start is short."""
    lab.write(MEMORISE.dataset, EXAMPLES)
    monkeypatch.setattr("course.policies.presets.MEMORISE", SMALL)
    monkeypatch.setattr("course.reports.distribution_shift_demo_figure.png", lambda _: b"\x89PNG")  # no time
    return lab


def demo(lab: Lab, *arguments: object, outdir: str = "run") -> str:
    """Run it: what it printed."""
    done = lab(NAME, *arguments, "--outdir", outdir)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.split("\n"))) <= 80
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


def test_a_row_and_the_total_variation_worked_by_hand() -> None:
    one, other = {"n": 10, "outcomes": {"ok": 5, "empty": 5}}, {"n": 4, "outcomes": {"ok": 1, "wrong_answer": 3}}
    assert total_variation(one, other) == total_variation(other, one) == 0.75
    assert total_variation(one, one) == 0
    assert total_variation(one, {"n": 3, "outcomes": {"wrong_answer": 3}}) == 1
    frozen = written(0, ["Final: 7", "Final: 8", "x", "y"])  # right, right, and two without the prefix
    row = shift_row(frozen, written(5, ["Final: 7", "Final: 9", "z", "?"]))
    assert (row.step, row.frozen_pass_rate, row.error, row.outcome_distance) == (5, 0.5, 0.25, 0.25)
    assert (row.unseen_shape, row.unseen_text) == (0.5, 0.75)


def written(step: int, texts: list[str]) -> list[LearningResult]:
    """Rows of these completions, of the prompts q7, q8, q9, …; the rubric's reward is the length."""
    return [
        learning_result(
            {"id": f"q{answer}", "prompt": "?", "expected_answer": answer}, text, step, proxy_reward=float(len(text))
        )
        for answer, text in enumerate(texts, 7)
    ]


@pytest.mark.parametrize("rubric", ["anywhere", "score"])
def test_every_number_of_every_row_follows_from_the_completions(small: Lab, rubric: str) -> None:
    demo(small, "--rubric", rubric, "--steps", 42)
    rows, groups, fresh = kept(small)
    assert [group["id"] for group in groups] == [example["id"] for example in EXAMPLES]
    assert {len(group["samples"]) for group in groups} == {8}
    assert [row["step"] for row in rows] == [one["step"] for one in fresh] == [0, 5, 10, 15, 20, 25, 30, 35, 40, 42]
    frozen = [
        score(example, text)["details"]["outcome"]
        for example, group in zip(EXAMPLES, groups, strict=True)
        for text in group["samples"]
    ]
    known = {by_hand(text) for group in groups for text in group["samples"]}
    for row, one in zip(rows, fresh, strict=True):
        texts = one["completions"]
        outcomes = [score(*pair)["details"]["outcome"] for pair in zip(EXAMPLES, texts, strict=True)]
        counts = row["fresh"]
        assert counts["outcomes"] == Counter(outcomes)
        assert counts["families"] == Counter(FAMILIES[outcome] for outcome in outcomes if outcome != "ok")
        assert counts["n"] == 12 == sum(counts["outcomes"].values())
        assert counts["passes"] == outcomes.count("ok") == 12 - sum(counts["families"].values())
        assert row["frozen_pass_rate"] == frozen.count("ok") / 96
        assert row["error"] == row["frozen_pass_rate"] - counts["pass_rate"]
        shared = sum(min(frozen.count(name) / 96, outcomes.count(name) / 12) for name in FAMILIES)
        assert row["outcome_distance"] == pytest.approx(1 - shared, abs=1e-12)
        assert row["unseen_shape"] == len([text for text in texts if by_hand(text) not in known]) / 12
        own = [text for text, group in zip(texts, groups, strict=True) if text not in group["samples"]]
        assert row["unseen_text"] == len(own) / 12
    assert any(0 < row["unseen_text"] < 1 for row in rows)
    assert any(row["unseen_shape"] > 0.5 for row in rows) == (rubric == "anywhere")


def test_fresh_means_of_the_policy_of_that_step(small: Lab) -> None:
    demo(small, "--rubric", "last_number", "--steps", 7, "--seed", 3)
    plan = SMALL.plan._replace(steps=7)
    reference = fine_tune(EXAMPLES, plan, 3)
    learning = learn_and_evaluate(reference, EXAMPLES, [], RUBRICS["last_number"], plan, 3, 1)
    written = {checkpoint.step: checkpoint.train.texts for checkpoint in learning}
    assert kept(small)[2] == [{"step": step, "completions": written[step]} for step in (0, 5, 7)]


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


def test_frozen_completions_are_of_their_own_prompt(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A policy fine-tuned on a careful hand answers most prompts: were they mixed up, one in six would be right."""
    monkeypatch.setattr("course.policies.demonstrations.CORRECT", 1.0)
    monkeypatch.setattr("course.policies.presets.MEMORISE", SMALL._replace(plan=SMALL.plan._replace(sft_steps=500)))
    demo(small, "--steps", 1)
    groups = kept(small)[1]
    pairs = zip(EXAMPLES, groups, strict=True)
    named = [str(example["expected_answer"]) in text for example, group in pairs for text in group["samples"]]
    assert sum(named) > 0.5 * len(named)


def test_the_summary_is_of_the_rows_and_the_manifest_of_the_run(small: Lab) -> None:
    demo(small, "--rubric", "score", "--steps", 30, "--seed", 5, "--change", "better start")
    rows, groups, _ = kept(small)
    summary, manifest = (
        json.loads((small.folder / "run" / name).read_bytes()) for name in ("summary.json", "manifest.json")
    )
    assert (summary["rubric"], summary["frozen_n"]) == ("score", 96)
    assert summary["frozen_pass_rate"] == rows[0]["frozen_pass_rate"]
    assert sum(summary["frozen_outcomes"].values()) == 96 == sum(len(group["samples"]) for group in groups)
    worst = max(rows, key=lambda row: abs(row["error"]))
    assert worst["error"] < 0
    for name, row in (("at_the_start", rows[0]), ("at_the_end", rows[-1]), ("most_wrong", worst)):
        shared = {key: row[key] for key in ("step", "error", "outcome_distance", "unseen_shape", "unseen_text")}
        assert summary[name] == shared | {"fresh_pass_rate": row["fresh"]["pass_rate"]}
    assert (manifest["loop"], manifest["command"], manifest["seed"]) == ("C", f"course.{NAME}", 5)
    assert (manifest["split"], manifest["change"]) == ("dev", "better start")
    plan = SMALL.plan._replace(steps=30)._asdict()
    assert manifest["settings"] == {"rubric": "score", "frozen": 8, "eval_every": 5, "plan": plan}
    outputs = {path.name for path in (small.folder / "run").iterdir()} - {
        *("manifest.json", "environment.json", "README.md")
    }
    assert manifest["outputs"].keys() == outputs
    assert small("inspect_run", "--run", "run", "--verify").status == 0


def test_equal_seeds_give_equal_bytes_in_another_process_too(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("course.reports.distribution_shift_demo_figure.png", png)
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
    environment = {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo"}
    pipe = subprocess.PIPE
    line = [sys.executable, "-c", code]
    done = ended(subprocess.Popen(line, cwd=small.folder, env=environment, stdout=pipe, stderr=pipe))
    assert (done.status, done.err) == (0, "")
    one, two = (files(small.folder / name) for name in ("one", "two"))
    assert one.pop("environment.json")
    assert two.pop("environment.json")
    assert one == two
    assert len(one) == 6


@pytest.mark.parametrize(("rubric", "seen"), [("anywhere", True), ("score", False)])
def test_the_terminal_shows_the_rows(small: Lab, rubric: str, seen: bool) -> None:
    out = demo(small, "--rubric", rubric, "--steps", 60)
    rows, groups, fresh = kept(small)
    assert out.startswith("Loop C, learn: ")
    assert "frozen at step 0: 96 completions of 12 prompts\n" in out
    lines = [line.split() for line in out.split("\n")]
    first = lines.index(["step", "passes", "error", "format", "value", "shape", "text", "most", "common"])
    assert lines[first + 2][:3] == ["frozen", f"{100 * rows[0]['frozen_pass_rate']:.1f}", "%"]
    shown = [rows[place] for place in (0, 1, 2, 4, 8, 12)]
    for row, cells in zip(shown, lines[first + 3 : first + 9], strict=True):
        families = row["fresh"]["families"]
        numbers = [families.get(name, 0) / 12 for name in ("model_format", "model_math")]
        numbers += [row["unseen_shape"], row["unseen_text"]]
        shares = [cell for number in numbers for cell in (f"{100 * number:.0f}", "%")]
        counts = row["fresh"]["outcomes"]
        common = next(name for name in counts if counts[name] == max(counts.values()))
        rate = f"{100 * row['fresh']['pass_rate']:.1f}"
        assert cells == [str(row["step"]), rate, "%", f"{100 * row['error']:+.1f}", *shares, common]
    assert lines[first + 9] == []
    known = {by_hand(text) for group in groups for text in group["samples"]}
    blocks = [block.split("\n") for block in out.split("\n\n") if block.startswith("step   answer")]
    assert len(blocks) == any(row["unseen_shape"] for row in rows)
    for line in [line for block in blocks for line in block[2:]]:
        step, answer, reward = line.split()[:3]
        begins = line.partition("'")[2].removesuffix("'").removesuffix("…")
        (texts,) = (one["completions"] for one in fresh if str(one["step"]) == step)
        assert begins
        assert any(
            text.replace("\n", "⏎").startswith(begins)
            and by_hand(text) not in known
            and str(example["expected_answer"]) == answer
            and f"{RUBRICS[rubric](example, text)['reward']:.1f}" == reward
            for example, text in zip(EXAMPLES, texts, strict=True)
        )
    assert (rows[-1]["unseen_shape"] > 0.9) == seen
    still = f"still say {100 * rows[0]['frozen_pass_rate']:.1f} %, and {100 * rows[-1]['fresh']['pass_rate']:.1f} % of"
    assert still in " ".join(out.split())
    assert out.endswith("\nrun: run\nread: run/distribution_shift.png\n")


def test_novel_completions_are_of_the_first_the_middle_and_the_last_evaluation_that_has_any() -> None:
    texts = [["1", "2", "3"], ["1", "x", "y"], ["1", "x2", "2"], ["x", "y1", "y22"], ["1", "1", "?"]]

    def found(*evaluations: list[str]) -> list[tuple[int, int, str | None]]:
        rows = [written(10 * place, own) for place, own in enumerate(evaluations)]
        novel = novel_completions(written(0, ["1"]), rows)
        return [(row.step, row.expected_answer, row.completion) for row in novel]

    assert found(*texts) == [(10, 8, "x"), (30, 8, "y1"), (40, 9, "?")]  # y1 and y22: the most common shape, the first
    assert found(texts[2]) == [(0, 8, "x2")]
    assert found(texts[0]) == []


def test_the_figure_shows_the_rows(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    sheets: list[Any] = []

    def caught(sheet: Any) -> bytes:
        sheets.append(sheet)
        return png(sheet)

    monkeypatch.setattr("course.reports.distribution_shift_demo_figure.png", caught)
    demo(small, "--steps", 20)
    rows = kept(small)[0]
    assert (small.folder / "run/distribution_shift.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    rates, mix, unseen = sheets[0].axes
    steps = [row["step"] for row in rows]
    said, fresh = rates.get_lines()
    assert set(said.get_ydata()) == {rows[0]["frozen_pass_rate"]}
    assert (list(fresh.get_xdata()), list(fresh.get_ydata())) == (steps, [row["fresh"]["pass_rate"] for row in rows])
    for line, name in zip(unseen.get_lines(), ("unseen_text", "outcome_distance", "unseen_shape"), strict=True):
        assert list(line.get_ydata()) == [row[name] for row in rows]
    summary = json.loads((small.folder / "run/summary.json").read_bytes())
    mixes = [(-1, summary["frozen_outcomes"], 96), *((row["step"], row["fresh"]["outcomes"], 12) for row in rows)]
    top = {step: 0.0 for step, _, _ in mixes}
    for bar, area in zip(mix.patches, mix.collections, strict=True):  # of one outcome each, from the bottom to the top
        assert bar.get_x() + bar.get_width() < 0  # to the left of step 0
        assert tuple(bar.get_facecolor()) == tuple(area.get_facecolor()[0])
        corners = area.get_paths()[0].vertices
        for step, outcomes, n in mixes:
            low, high = bar.get_y(), bar.get_y() + bar.get_height()
            if step >= 0:
                edge = [y for x, y in corners if x == step]
                low, high = min(edge), max(edge)
            assert low == pytest.approx(top[step])
            if area.get_label() != "other":
                assert high - low == pytest.approx(outcomes.get(area.get_label(), 0) / n)
            top[step] = high
    assert list(top.values()) == pytest.approx([1.0] * len(mixes))
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
