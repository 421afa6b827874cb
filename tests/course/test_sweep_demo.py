"""The curve from memorised to learned, on a task small enough for a test: what it logs, counts, refuses and repeats.

The worked example. Of the training prompts 25 + 73, 21 + 73 and 15 + 23, the unseen prompt 25 + 73 has its pair (2, 7)
in two and its pair (5, 3) in two, so it was seen 2 times; 75 + 23 has its pair (7, 2) in none: it was seen 0 times.
"""

import hashlib
import json
from itertools import product
from pathlib import Path
from statistics import median, median_low
from typing import Any, NamedTuple

import pytest
from conftest import Done, Lab, files, lines_of, prompts_digest
from scipy_when_asked import scipy

from course import sweep, sweep_demo
from course.datasets import sources
from course.errors import UserError
from course.policies import presets, token_learner
from course.policies.evaluation import evaluate_policy
from course.policies.token_learner import fine_tune
from course.reports.figures import png
from course.reports.sweep_demo import sweep_figure
from course.reports.terminal import NOTHING_KEPT
from course.score import score
from course.sweep_demo import digit_pairs, times_seen

PLAN = presets.GENERALISE.plan._replace(sft_steps=150, prompts_a_step=4, group_size=2, max_tokens=8, width=8, hidden=16)
DEV, HOLDOUT = presets.GENERALISE.dataset, presets.GENERALISE.holdout
TINY = ("coverage", "--values", 3, 12, "--steps", 70)
MANY = ("coverage", "--values", 12, 3, 12, "--steps", 70, "--seed", 4, "--seeds", 3)


def examples(sums: list[tuple[int, int]], split: str) -> list[dict[str, Any]]:
    return [
        {
            "id": f"{split}-{i}",
            "prompt": f"Compute {a} + {b}. Answer with exactly one line: Final: <int>",
            "expected_answer": a + b,
            "metadata": {"split": split},
        }
        for i, (a, b) in enumerate(sums)
    ]


NUMBERS = (11, 12, 13, 21, 22, 23, 31, 32, 33)
ALL = [(a, b) for a in NUMBERS for b in NUMBERS]
SUMS = [ALL[i * 32 % 81] for i in range(81)]  # far apart, one after the other
TRAINING, UNSEEN = examples(SUMS[:15], "dev"), examples(SUMS[15:55], "holdout")


def laid_out(folder: Path, patch: pytest.MonkeyPatch) -> Lab:
    """A lab with fifteen prompts to learn on, forty to measure on, and a training of a blink."""
    patch.chdir(folder)
    patch.setattr(token_learner, "DEMONSTRATIONS", 12)
    patch.setitem(presets.PRESETS, "generalise", presets.GENERALISE._replace(plan=PLAN))
    lab = Lab(folder)
    lab.write(DEV, TRAINING)
    lab.write(HOLDOUT, UNSEEN)
    patch.setattr(sources, "shipped_holdouts", dict)  # these sums are some of the lab's own holdout
    return lab


@pytest.fixture
def tiny(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    monkeypatch.setattr(sweep_demo, "sweep_figure", lambda *_: b"a figure")
    return laid_out(lab.folder, monkeypatch)


class Ran(NamedTuple):
    """A run of ``MANY``: what it printed, its folder, and its figure before it was PNG."""

    out: str
    folder: Path
    sheet: Any

    def points(self) -> list[Any]:
        summary = json.loads((self.folder / "summary.json").read_bytes())
        return [summary["3 prompts"], summary["12 prompts"]]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run for all tests that only look."""
    sheets: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        lab = laid_out(tmp_path_factory.mktemp("ran"), patch)
        figure = "course.reports.sweep_demo.png"
        patch.setattr(figure, lambda sheet: sheets.append(sheet) or png(sheet))  # type: ignore[func-returns-value]
        out = demo(lab, *MANY).out
    return Ran(out, lab.folder / "run", sheets[0])


def demo(lab: Lab, *arguments: object, outdir: str = "run") -> Done:
    done = lab("sweep_demo", *arguments, "--outdir", outdir)
    assert (done.status, done.err) == (0, "")
    assert max(map(len, done.out.split("\n"))) <= 80
    assert f"\n{NOTHING_KEPT}\n" in done.out
    assert NOTHING_KEPT not in (lab.folder / outdir / "README.md").read_text("utf-8")
    return done


def log_of(run: Path) -> list[Any]:
    return lines_of(run / "log.jsonl")


def naive(unseen: str, training: list[dict[str, Any]]) -> int:
    """How often the rarer pair was shown, character by character: "Compute 25 + 73. …" has its digits at 8, 9, 13, 14.

    Slow and plain, with no counter and no pattern.
    """
    shown = []
    for one, other in ((8, 13), (9, 14)):
        both = [e for e in training if e["prompt"][one] == unseen[one] and e["prompt"][other] == unseen[other]]
        shown.append(len(both))
    return min(shown)


def test_the_worked_example() -> None:
    assert digit_pairs("Compute 25 + 73. Final: <int>") == [(0, "2", "7"), (1, "5", "3")]
    assert digit_pairs("3 + 4") == [(0, "3", "4")]
    training = ["25 + 73", "21 + 73", "15 + 23"]
    unseen = ["25 + 73", "11 + 23", "21 + 73", "75 + 23", "52 + 37"]
    seen, others = ([{"prompt": prompt} for prompt in prompts] for prompts in (training, unseen))
    assert times_seen(seen, others) == (2, 1, 1, 0, 0)
    assert times_seen([], others[:1]) == (0,)


@pytest.mark.parametrize("prompt", ["Compute 17 * 19.", "5 + 23", "", "٣ + ٤"])
def test_a_prompt_that_is_no_such_sum_is_refused(prompt: str) -> None:
    with pytest.raises(UserError, match="sums of two numbers of as many digits"):
        digit_pairs(prompt)


@pytest.mark.medium
def test_the_log_has_a_row_for_each_evaluation_of_each_training(ran: Ran) -> None:
    log = log_of(ran.folder)
    assert [(row["n"], row["seed"], row["step"]) for row in log] == list(product((3, 12), (4, 5, 6), (0, 50, 70)))
    results = lines_of(ran.folder / "results.jsonl")
    for row in log:
        training = f"{row['n']} prompts, seed {row['seed']}"
        for split, asked, said in (
            ("train", TRAINING[: row["n"]], row["true_reward"]),
            ("holdout", UNSEEN, row["holdout_true_reward"]),
        ):
            own = [
                one for one in results if (one["training"], one["step"], one["split"]) == (training, row["step"], split)
            ]
            assert [one["id"] for one in own] == [example["id"] for example in asked]
            passes = [score(example, one["completion"])["reward"] for example, one in zip(asked, own, strict=True)]
            assert said == sum(passes) / len(asked)
        assert row["holdout_true_reward"] == row["holdout_proxy_reward"]
    assert any(row["true_reward"] for row in log)  # else the test would compare zeros


@pytest.mark.usefixtures("tiny")
def test_each_training_is_on_the_first_prompts(ran: Ran) -> None:
    for row in log_of(ran.folder):
        if (row["step"], row["seed"]) == (0, 5):
            first = TRAINING[: row["n"]]
            reference = fine_tune(first, PLAN, 5)
            seen, unseen = (evaluate_policy(reference, reference, one, score, 5) for one in (first, UNSEEN))
            assert (row["true_reward"], row["mean_length"]) == (seen.true.mean(), seen.lengths.mean())
            assert row["holdout_true_reward"] == unseen.true.mean()


def test_a_training_among_others_is_the_one_it_would_be_alone(tiny: Lab, ran: Ran) -> None:
    demo(tiny, "coverage", "--values", 12, "--steps", 70, "--seed", 6)
    assert log_of(tiny.folder / "run") == log_of(ran.folder)[-3:]


@pytest.mark.medium
def test_the_summary_is_the_log_in_the_middle(ran: Ran) -> None:
    log, points = log_of(ran.folder), ran.points()
    assert [point["prompts"] for point in points] == [3, 12]
    for point in points:
        before, after = ([r for r in log if (r["n"], r["step"]) == (point["prompts"], s)] for s in (0, 70))
        assert point["holdout_each"] == [row["holdout_true_reward"] for row in after]
        assert point["train"] == median(row["true_reward"] for row in after)
        assert point["holdout_before"] == median(row["holdout_true_reward"] for row in before)
        assert point["holdout"] == median_low(point["holdout_each"])
        wilson = scipy.stats.binomtest(round(point["holdout"] * 40), 40).proportion_ci(method="wilson")
        assert point["holdout_ci95"] == pytest.approx([*wilson])
        times = [naive(e["prompt"], TRAINING[: point["prompts"]]) for e in UNSEEN]
        assert point["pairs_seen"] == sum(time > 0 for time in times) / 40
        assert point["times_seen"] == median(times)


@pytest.mark.slow
def test_same_seed_same_bytes_and_another_seed_other_bytes(tiny: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweep_demo, "sweep_figure", sweep_figure)
    for folder, seed in (("one", 3), ("same", 3), ("other", 4)):
        tiny.write(f"{folder}/{DEV}", TRAINING)
        tiny.write(f"{folder}/{HOLDOUT}", UNSEEN)
        monkeypatch.chdir(tiny.folder / folder)
        assert tiny("sweep_demo", *TINY, "--seed", seed, "--outdir", "run").status == 0
    one, same, other = (files(tiny.folder / name / "run") for name in ("one", "same", "other"))
    assert one.keys() == {
        "README.md",
        "coverage.png",
        "environment.json",
        "log.jsonl",
        "manifest.json",
        "references",
        "references/3_prompts_150_steps_seed_3.npz",
        "references/12_prompts_150_steps_seed_3.npz",
        "results.jsonl",
        "summary.json",
    }
    for name in one.keys() - {"README.md", "environment.json"}:  # the page says which look at the holdout it was
        assert one[name] == same[name], name
    assert all(one[name] != other[name] for name in ("log.jsonl", "manifest.json", "summary.json"))


def test_a_run_is_verified_says_its_conditions_and_counts_its_look(tiny: Lab) -> None:
    asked = ("coverage", "--values", 12, 3, 12, "--steps", 70, "--seed", 6, "--change", "more prompts")
    first, second = (demo(tiny, *asked, outdir=name) for name in ("run", "again"))
    assert tiny("inspect_run", "--run", "run", "--verify").status == 0
    manifest = json.loads((tiny.folder / "run/manifest.json").read_bytes())
    digests = [hashlib.sha256((tiny.folder / name).read_bytes()).hexdigest() for name in (DEV, HOLDOUT)]
    assert [manifest["dataset_fingerprint"], manifest["settings"]["holdout_fingerprint"]] == digests
    assert (manifest["loop"], manifest["command"], manifest["split"]) == ("C", "course.sweep_demo", "dev")
    assert (manifest["seed"], manifest["change"]) == (6, "more prompts")
    assert [manifest["settings"][name] for name in ("experiment", "prompts")] == ["coverage", [3, 12]]
    assert PLAN._replace(steps=70)._asdict().items() <= manifest["settings"].items()
    references = {f"references/{n}_prompts_150_steps_seed_6.npz" for n in (3, 12)}
    assert manifest["outputs"].keys() == {"log.jsonl", "results.jsonl", "coverage.png", "summary.json"} | references
    assert manifest["settings"]["eval_every"] == 50
    opened = [prompts_digest(example["prompt"] for example in UNSEEN)]
    assert [(Path(line["run"]).name, line["holdouts"]) for line in lines_of(tiny.log)] == [
        ("run", opened),
        ("again", opened),
    ]
    for name, done, number in (("run", first, 1), ("again", second, 2)):
        assert f"look number {number} at it" in done.out
        assert f"look number {number} at it" in (tiny.folder / name / "README.md").read_text("utf-8")


@pytest.mark.medium
def test_the_terminal_shows_loop_curve_and_place(ran: Ran) -> None:
    out, point = ran.out, ran.points()[1]
    assert out.startswith("Loop C, learn: ")
    row, at_the_end = (line for line in out.split("\n") if line.split()[:1] == ["12"])
    assert at_the_end.split()[1:5] == [f"{100 * point['train']:.1f}", "%", f"{100 * point['holdout']:.1f}", "%"]
    assert row.split()[1] == at_the_end.split()[1]
    visits = 70 * 4 / 12  # updates, prompts an update, prompts
    assert row.split()[-4:] == [f"{visits:.0f}", f"{100 * point['pairs_seen']:.0f}", "%", f"{point['times_seen']:g}"]
    assert f"run: {Path('run')}\ndigest: " in out
    assert f"\nread: {Path('run/coverage.png')}\n" in out


@pytest.mark.parametrize(("steps", "evaluations"), [(1, 2), (49, 2), (50, 2), (51, 3), (100, 3)])
def test_the_bar_ends_where_the_work_does(
    tiny: Lab, monkeypatch: pytest.MonkeyPatch, steps: int, evaluations: int
) -> None:
    announced: list[int] = []

    def watched(rows: Any, _: str, total: int) -> Any:
        announced.append(total)
        return rows

    monkeypatch.setattr(sweep, "with_progress", watched)
    demo(tiny, "coverage", "--values", 2, 3, "--steps", steps)
    assert announced == [evaluations] * 2  # one bar for each number of prompts
    assert sum(announced) == len(log_of(tiny.folder / "run"))


@pytest.mark.medium
def test_the_figure_shows_the_points(ran: Ran) -> None:
    points = ran.points()
    assert (ran.folder / "coverage.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    axes = ran.sheet.axes[0]
    named = {line.get_label(): line for line in axes.get_lines() if not line.get_label().startswith("_")}
    for label, name in (
        ("share of the holdout whose digit pairs were all seen", "pairs_seen"),
        ("prompts that it was trained on", "train"),
        ("holdout, with 95 % interval", "holdout"),
        ("holdout, before learning", "holdout_before"),
    ):
        assert list(named[label].get_xdata()) == [3, 12]
        assert list(named[label].get_ydata()) == [point[name] for point in points]
    bars = [segment[:, 1].tolist() for segment in axes.collections[0].get_segments()]
    assert bars == [point["holdout_ci95"] for point in points]
    dots = [list(line.get_ydata()) for line in axes.get_lines() if line.get_label().startswith("_")]
    assert dots == [list(each) for each in zip(*(point["holdout_each"] for point in points), strict=True)]
    assert axes.get_xscale() == "log"


@pytest.mark.parametrize(
    "arguments",
    [["--values"], ["--values", -1], ["--values", "all"], ["--steps", 0], ["--seeds", 0], ["--seed", -1], ["--n", 3]],
)
def test_what_it_does_not_know_is_refused(tiny: Lab, arguments: list[object]) -> None:
    assert "sweep_demo --help" in tiny.refused("sweep_demo", "coverage", *arguments)


@pytest.mark.parametrize("arguments", [[], ["coverages"], ["--values", 3]])
def test_without_an_experiment_it_does_nothing(tiny: Lab, arguments: list[object]) -> None:
    line = tiny.refused("sweep_demo", *arguments)
    assert ("did you mean coverage? " in line) == (arguments == ["coverages"])
    assert "experiment" in line


@pytest.mark.parametrize("wrong", [0, 16])
def test_more_prompts_than_there_are_are_refused_before_any_work(
    tiny: Lab, monkeypatch: pytest.MonkeyPatch, wrong: int
) -> None:
    monkeypatch.setattr(sweep_demo, "Sweep", None)
    line = tiny.refused("sweep_demo", "coverage", "--values", 3, wrong)
    assert line == f"error: --values: expected 1 to 15, as many prompts as there are, got {wrong}\n"


def test_without_its_datasets_or_with_a_taken_outdir_it_does_nothing(tiny: Lab) -> None:
    Path("taken").mkdir()
    assert "expected a new folder" in tiny.refused("sweep_demo", "coverage", "--outdir", "taken")
    Path(HOLDOUT).unlink()
    assert "two_digit_sums_holdout.jsonl" in tiny.refused("sweep_demo", "coverage", "--values", 3)
