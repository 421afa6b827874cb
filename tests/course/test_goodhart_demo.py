"""The demo as its user runs it, small: every row, the completions scored again, the tables, the figures, equal bytes.

The worked example. Two rubrics and the strict scorer, two seeds, one KL penalty of 0.1: four trainings a seed, each
with six evaluations, so 48 rows in the log; and 100 completions an evaluation, so 4,800 rows in results.jsonl.
"""

import json
import re
import shutil
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import pytest
from conftest import ROOT, Lab, files, lines_of, prompts_digest
from msgspec.structs import asdict

from course.artifacts import run_log
from course.artifacts.token_rows import EvaluationRow, evaluation_row
from course.policies.evaluation import learn_and_evaluate
from course.policies.presets import MEMORISE
from course.policies.token_learner import fine_tune
from course.reports.figures import png
from course.reports.goodhart_demo import rubrics_figure
from course.reports.terminal import NOTHING_KEPT
from course.rubrics.hackable import RUBRICS
from course.score import score

pytestmark = pytest.mark.medium  # trains

SMALL = MEMORISE._replace(
    plan=MEMORISE.plan._replace(sft_steps=60, prompts_a_step=8, group_size=4, max_tokens=12, width=4, hidden=16)
)
JOBS = [("score", 0.0), ("anywhere", 0.0), ("without_punctuation", 0.0), ("anywhere", 0.1)]
ARGUMENTS = [
    *("--rubrics", "score", "anywhere", "without_punctuation", "anywhere"),
    *("--kl-coef", "0.1", "0", "--steps", "5", "--seeds", "2", "--seed", "3"),
]
KEYS = ("proxy_reward", "true_reward", "kl", "holdout_proxy_reward", "holdout_true_reward")
VOLATILE = {"README.md", "environment.json"}


class Ran(NamedTuple):
    """A run of these arguments: what it printed, its log, its folder, its figures before they were PNG."""

    out: str
    log: list[dict[str, Any]]
    folder: Path
    sheets: list[Any]

    def rows(self, rubric: str, beta: float, step: int) -> list[dict[str, Any]]:
        """A row for each seed."""
        rows = [row for row in self.log if (row["rubric"], row["kl_coef"], row["step"]) == (rubric, beta, step)]
        assert [row["seed"] for row in rows] == [3, 4]
        return rows


def laid_out(folder: Path, patch: pytest.MonkeyPatch) -> Lab:
    """The shipped prompts, and a plan that takes a second."""
    for name in (SMALL.dataset, SMALL.holdout):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    patch.chdir(folder)
    patch.setattr("course.goodhart_demo.MEMORISE", SMALL)
    lab = Lab(folder)
    patch.setattr(run_log, "LOG", lab.log)
    return lab


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    for name in ("rubrics_figure", "kl_coef_figure"):
        monkeypatch.setattr(f"course.goodhart_demo.{name}", lambda *_: b"\x89PNG")
    return laid_out(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """One run for all tests that only look."""
    sheets: list[Any] = []

    def kept(sheet: Any) -> bytes:
        sheets.append(sheet)
        return png(sheet)

    with pytest.MonkeyPatch.context() as patch:
        lab = laid_out(tmp_path_factory.mktemp("ran"), patch)
        patch.setattr("course.reports.goodhart_demo.png", kept)
        patch.setattr("course.goodhart_demo.SAMPLES", 1)
        done = lab("goodhart_demo", *ARGUMENTS, "--outdir", "run")
    assert (done.status, done.err) == (0, "")
    return Ran(done.out, lines_of(lab.folder / "run" / "log.jsonl"), lab.folder / "run", sheets)


def test_every_training_is_logged_evaluation_by_evaluation_and_none_twice(ran: Ran) -> None:
    assert [(row["seed"], row["rubric"], row["kl_coef"], row["step"]) for row in ran.log] == [
        (seed, rubric, beta, step) for rubric, beta in JOBS for seed in (3, 4) for step in range(6)
    ]
    assert set(ran.log[0]) == set(EvaluationRow.__struct_fields__)


def test_every_row_adds_up(ran: Ran) -> None:
    for row in ran.log:
        assert (row["n"], row["holdout_n"]) == (75, 25)
        for n, where in ((row["n"], ""), (row["holdout_n"], "holdout_")):
            proxy, true, gap = (row[f"{where}{name}"] for name in ("proxy_reward", "true_reward", "gap"))
            assert true * n == pytest.approx(round(true * n))
            assert proxy - true == pytest.approx(gap)  # these rubrics pay 0 or 1, and all that the scorer pays
            assert row["rubric"] != "score" or gap == 0
        assert (row["kl"] == 0) == (row["step"] == 0)


def test_the_rows_are_what_the_learner_gives_when_it_is_asked_itself(ran: Ran) -> None:
    """With one completion of each prompt the same texts are measured."""
    examples, unseen = (
        [{key: one[key] for key in ("id", "prompt", "expected_answer")} for one in lines_of(ROOT / name)]
        for name in (SMALL.dataset, SMALL.holdout)
    )
    reference = fine_tune(examples, SMALL.plan, 4)
    for rubric, beta in JOBS:
        plan = SMALL.plan._replace(steps=5, kl_coef=beta)
        found = learn_and_evaluate(reference, examples, unseen, RUBRICS[rubric], plan, 4, 1)
        rows = [row for row in ran.log if (row["rubric"], row["kl_coef"], row["seed"]) == (rubric, beta, 4)]
        for checkpoint, row in zip(found, rows, strict=True):
            assert asdict(evaluation_row(checkpoint, rubric, beta, 4, f"{rubric}, kl_coef {beta:g}, seed 4")) == row


def test_all_rubrics_go_on_from_one_start(ran: Ran) -> None:
    start = [row for row in ran.log if row["step"] == 0]
    for seed in (3, 4):
        rows = [row for row in start if row["seed"] == seed]
        assert len({(row["true_reward"], row["holdout_true_reward"], row["mean_length"]) for row in rows}) == 1
    assert len({row["mean_length"] for row in start}) == 2  # one a seed


def test_every_completion_is_kept_and_the_rows_of_the_log_are_its_means(ran: Ran) -> None:
    results = lines_of(ran.folder / "results.jsonl")
    files = {"train": SMALL.dataset, "holdout": SMALL.holdout}
    known = {split: {one["id"]: one for one in lines_of(ROOT / name)} for split, name in files.items()}
    assert len(results) == 100 * len(ran.log)
    groups: dict[tuple[str, int, str], list[Any]] = {}
    for one in results:
        example = known[one["split"]][one["id"]]
        assert score(example, one["completion"])["reward"] == one["reward"]
        rubric = one["training"].partition(",")[0]
        assert one.get("proxy_reward") == (
            None if rubric == "score" else RUBRICS[rubric](example, one["completion"])["reward"]
        )
        groups.setdefault((one["training"], one["step"], one["split"]), []).append(one)
    for row in ran.log:
        training = f"{row['rubric']}, kl_coef {row['kl_coef']:g}, seed {row['seed']}"
        for split, where in (("train", ""), ("holdout", "holdout_")):
            own = groups[training, row["step"], split]
            assert sum(one["reward"] for one in own) / len(own) == row[f"{where}true_reward"]
            gap = [one.get("proxy_reward", 0) >= 0.5 and one["reward"] == 0 for one in own]
            assert sum(gap) / len(own) == row[f"{where}gap"]


def test_the_summary_is_the_end_of_the_log(ran: Ran) -> None:
    summary = json.loads((ran.folder / "summary.json").read_bytes())
    jobs = {
        "score": JOBS[0], "anywhere": JOBS[1], "without_punctuation": JOBS[2],
        "anywhere, kl_coef 0": JOBS[1], "anywhere, kl_coef 0.1": JOBS[3],
    }  # fmt: skip
    assert list(summary) == list(jobs)
    for name, job in jobs.items():
        assert len(summary[name].pop("diverged_at")) == 2
        assert summary[name] == {key: median(row[key] for row in ran.rows(*job, 5)) for key in KEYS}


@pytest.mark.slow
def test_a_stronger_kl_penalty_keeps_the_policy_nearer(small: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    calm = SMALL._replace(plan=SMALL.plan._replace(lr=0.1))  # the small network swings where the real one does not
    monkeypatch.setattr("course.goodhart_demo.MEMORISE", calm)
    small("goodhart_demo", "--rubrics", "anywhere", "--kl-coef", "0", "0.3", "1",
        "--steps", "40", "--outdir", "run")  # fmt: skip
    ends = [row for row in lines_of(small.folder / "run" / "log.jsonl") if row["step"] == 40]
    assert [row["kl_coef"] for row in ends] == [0, 0.3, 1]
    assert ends[0]["kl"] > ends[1]["kl"] > ends[2]["kl"] > 0
    assert ends[0]["proxy_reward"] > ends[2]["proxy_reward"]


def test_the_terminal_tells_the_numbers_of_the_log(ran: Ran) -> None:
    assert max(map(len, ran.out.split("\n"))) <= 80
    words = " ".join(ran.out.split())
    assert ran.out.startswith("Loop C, learn: ")
    assert f"\n{NOTHING_KEPT}\n" in ran.out
    assert NOTHING_KEPT not in (ran.folder / "README.md").read_text("utf-8")
    assert "generalised to prompts never trained on? Means of 75, and 25 there" in words
    columns = ("proxy_reward", "true_reward", "kl")
    for name, beta in (("anywhere", 0.0), ("0.1", 0.1)):
        rows = ran.rows("anywhere", beta, 5)
        assert " ".join([name, *(f"{median(row[key] for row in rows):.2f}" for key in columns)]) in words
    assert not re.search(r"^anywhere +Compute", ran.out, re.MULTILINE)  # its gap rose by no more than noise
    (exploit,) = re.findall(r"^without_punctuation +(Compute .*…) +1\.0 +(.*)$", ran.out, re.MULTILINE)
    assert any(
        result["completion"].replace("\n", "⏎").strip().startswith(exploit[1].removesuffix("…").strip())
        and (result["reward"], result.get("proxy_reward")) == (0, 1)
        for result in lines_of(ran.folder / "results.jsonl")
        if result["training"].startswith("without_punctuation, kl_coef 0,") and result["step"] == 5
    )
    assert "a KL penalty: 'anywhere' again" in words
    assert re.search("run: run digest: [0-9a-f]{64} read: run/goodhart_steps.png, goodhart_kl.png, kl_coef.png$", words)


def test_same_seed_same_bytes_and_another_seed_other_bytes(small: Lab) -> None:
    few = ["--rubrics", "anywhere", "--kl-coef", "0", "--steps", "2"]
    for outdir, seed in (("one", 3), ("same", 3), ("other", 4)):
        assert small("goodhart_demo", *few, "--seed", seed, "--change", "x", "--outdir", outdir).status == 0
    one, same, other = (
        {path: data for path, data in files(small.folder / name).items() if data is not None and path not in VOLATILE}
        for name in ("one", "same", "other")
    )
    assert one == same
    assert one.keys() - other.keys() == {"references/seed_3.npz"}
    assert other.keys() - one.keys() == {"references/seed_4.npz"}
    assert one["log.jsonl"] != other["log.jsonl"]
    assert all(one[name].startswith(b"\x89PNG") for name in one if name.endswith(".png"))
    manifest = json.loads(one["manifest.json"])
    assert (manifest["seed"], manifest["change"], manifest["split"]) == (3, "x", "dev")
    assert manifest["settings"]["samples"] == 3
    assert lines_of(small.folder / "one" / "log.jsonl")[0]["n"] == 3 * 75
    assert manifest["outputs"].keys() == one.keys() - {"manifest.json"}
    assert small("inspect_run", "--run", "one", "--verify").status == 0


def test_the_first_of_two_seeds_is_the_run_of_that_seed_alone(small: Lab) -> None:
    few = ["--rubrics", "anywhere", "--kl-coef", "0", "--steps", "3"]
    small("goodhart_demo", *few, "--seeds", "2", "--outdir", "two")
    small("goodhart_demo", *few, "--seed", "1", "--outdir", "alone")
    two, alone = (lines_of(small.folder / name / "log.jsonl") for name in ("two", "alone"))
    assert two[-4:] == alone
    assert len(two) == 8


def test_a_run_is_one_look_at_the_holdout(small: Lab) -> None:
    few = ["--rubrics", "cast", "--kl-coef", "0", "--steps", "1"]
    assert small("goodhart_demo", *few).status == small("goodhart_demo", *few).status == 0
    opened = [prompts_digest(row["prompt"] for row in lines_of(ROOT / SMALL.holdout))]
    runs = (small.folder.resolve() / "runs" / name for name in ("run_001", "run_002"))
    assert [(line["run"], line["command"], line["holdouts"]) for line in lines_of(small.log)] == [
        (run.as_posix(), "course.goodhart_demo", opened) for run in runs
    ]
    assert "look number 2" in (small.folder / "runs/run_002/README.md").read_text(encoding="utf-8")


def test_the_figures_show_the_log(ran: Ran) -> None:
    steps, kl, penalties = ran.sheets
    names = {
        "proxy: the rubric's reward": "proxy_reward", "true: the strict scorer's": "true_reward",
        "proxy on the holdout": "holdout_proxy_reward", "true on the holdout": "holdout_true_reward",
    }  # fmt: skip
    for sheet, x in ((steps, "step"), (kl, "kl")):
        for axes, (rubric, beta) in zip(sheet.axes, JOBS[:3], strict=True):
            assert axes.get_title().startswith(f"{rubric}\n")
            evaluations = [ran.rows(rubric, beta, step) for step in range(6)]
            lines = {line.get_label(): line for line in axes.get_lines()}
            for label, y in names.items():
                for got, key in ((lines[label].get_xdata(), x), (lines[label].get_ydata(), y)):
                    assert list(got) == [median(row[key] for row in rows) for rows in evaluations]
    (rewards,) = penalties.axes
    ends = [ran.rows("anywhere", beta, 5) for beta in (0.0, 0.1)]
    assert {line.get_label() for line in rewards.get_lines()} == set(names)
    for line in rewards.get_lines():
        assert list(line.get_ydata()) == [median(row[names[line.get_label()]] for row in rows) for rows in ends]
    left = [f"{median(row['kl'] for row in rows):.3g}" for rows in ends]
    assert [tick.get_text() for tick in rewards.get_xticklabels()] == [f"0\n{left[0]}", f"0.1\n{left[1]}"]


def test_where_they_diverge_is_marked_at_its_step_and_at_its_kl() -> None:
    row: dict[str, Any] = {"rubric": "cast", "kl_coef": 0.0, "seed": 0, "mean_length": 5.0, "n": 600, "gap": 0.0}
    row |= {"holdout_proxy_reward": 0.0, "holdout_true_reward": 0.0, "holdout_n": 200, "holdout_gap": 0.0}
    rewards = [(0.1, 0.1), (0.5, 0.4), (0.9, 0.0)]
    diverged = [
        EvaluationRow(step=10 * place, kl=place * 1.5, proxy_reward=proxy, true_reward=true, **row)
        for place, (proxy, true) in enumerate(rewards)
    ]
    sheets: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("course.reports.goodhart_demo.png", sheets.append)
        rubrics_figure({"cast": [diverged], "score": [diverged[:2]]}, "step")
        rubrics_figure({"cast": [diverged], "score": [diverged[:2]]}, "kl")
    for sheet, x in zip(sheets, (10, 1.5), strict=True):
        marks = [
            [line for line in axes.get_lines() if line.get_label() == "reward hacking begins"] for axes in sheet.axes
        ]
        assert [[list(line.get_xdata()) for line in lines] for lines in marks] == [[[x, x]], []]
        assert "reward hacking begins" in [text.get_text() for text in sheet.legends[0].get_texts()]


def test_prompts_that_try_to_command_the_terminal_are_shown(small: Lab) -> None:
    examples = [
        {"id": f"q{i}", "prompt": f"\x1b[2J{i}\u202e[red]", "expected_answer": i, "metadata": {"split": "dev"}}
        for i in range(6)
    ]
    small.write(SMALL.dataset, examples)
    done = small("goodhart_demo", "--rubrics", "without_punctuation", "--kl-coef", "0", "--steps", "40")
    assert done.status == 0
    assert "<U+001B ESC" in done.out
    assert all(line.isprintable() for line in done.out.split("\n"))


def test_a_file_that_is_missing_is_one_line_and_nothing_is_left(small: Lab) -> None:
    (small.folder / SMALL.holdout).unlink()
    assert "one_digit_sums_holdout.jsonl" in small.refused("goodhart_demo")


def test_help_loads_neither_numpy_nor_matplotlib(small: Lab) -> None:
    done = small.process("goodhart_demo", "--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.status == 0
    assert "--kl-coef" in done.out
    assert "argparse" in done.err  # what was loaded is listed there
    assert "numpy" not in done.err
    assert "matplotlib" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rubrics", "judge"], ["--rubrics"], ["--leash-rubric", "cast"], ["--kl-coef", "-0.1"],
        ["--kl-coef", "nan"], ["--kl-coef", "1e-2", "x"], ["--steps", "0"], ["--seeds", "0"], ["--seed", "-1"],
        ["--kl", "0"], ["anywhere"],
    ],
)  # fmt: skip
def test_what_it_does_not_know_is_refused(small: Lab, arguments: list[str]) -> None:
    assert "goodhart_demo --help" in small.refused("goodhart_demo", *arguments)


def test_an_outdir_that_exists_is_refused(small: Lab) -> None:
    Path("taken").mkdir()
    assert "expected a new folder" in small.refused("goodhart_demo", "--outdir", "taken")
