"""The KL penalty as its user runs it: every number of every row, the files that must agree, and equal bytes.

The worked example. The reference gives the right lines 0.15 and 0.05. The verifier's reward is 1 for both, so the mean
reward of the reference is 0.2, and best-of-N of it has 1 − 0.8^N: 0.36 for N = 2.
"""

import csv
import json
import math
from io import StringIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from conftest import Lab, lines_of
from learning_checks import evidence
from scipy_when_asked import scipy

REFERENCE = [0.34, 0.24, 0.20, 0.15, 0.05, 0.02]
REWARDS = {"graded": [0.35, 0.0, 0.2, 0.8, 0.7, 1.0], "verifier": [0.0, 0.0, 0.0, 1.0, 1.0, 0.0]}
BETAS = [10, 5, 2, 1, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03]

both = pytest.mark.parametrize("rewards", ["graded", "verifier"])


Rows = list[dict[str, Any]]


class Ran(NamedTuple):
    """A run: what it printed, its summary, the rows of its spreadsheet: an empty cell is None, p is p0 to p5."""

    out: str
    summary: Any
    rows: Rows


def demo(lab: Lab, rewards: str) -> Ran:
    done = lab("kl_tradeoff_demo", "--rewards", rewards, "--outdir", rewards)
    assert (done.status, done.err) == (0, "")
    data = (lab.folder / rewards / "kl_tradeoff.csv").read_bytes()
    assert b"\r" not in data
    assert data.endswith(b"\n")
    rows: Rows = []
    for cells in csv.DictReader(StringIO(data.decode("utf-8"), newline="")):
        numbers = {name: float(cell) if cell else None for name, cell in cells.items()}
        rows.append(numbers | {"p": [numbers[f"p{action}"] for action in range(6)]})
    return Ran(done.out, json.loads((lab.folder / rewards / "summary.json").read_bytes()), rows)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Ran]:
    """A run with each kind of rewards, for all tests that only look."""
    lab = Lab(tmp_path_factory.mktemp("ran"))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(lab.folder)
        return {rewards: demo(lab, rewards) for rewards in REWARDS}


def optima(rows: Rows) -> Rows:
    return [row for row in rows if row["beta"] is not None]


def best_of_n(rows: Rows) -> Rows:
    return [row for row in rows if row["n"] is not None]


def dot(p: list[float], x: list[float]) -> float:
    return sum(a * b for a, b in zip(p, x, strict=True))


@both
def test_every_row_adds_up(ran: dict[str, Ran], rewards: str) -> None:
    for row in ran[rewards].rows:
        p = row["p"]
        assert sum(p) == pytest.approx(1.0, abs=1e-12)
        assert row["mean_reward"] == pytest.approx(dot(p, REWARDS[rewards]), abs=1e-12)
        assert row["verifier_reward"] == pytest.approx(p[3] + p[4], abs=1e-12)
        assert row["kl"] == pytest.approx(scipy.stats.entropy(p, REFERENCE), abs=1e-12)
        ranked = sorted(range(6), key=lambda action, p=p: -p[action])  # type: ignore[misc]
        assert [row["top1"], row["top2"], row["top3"]] == ranked[:3]


@both
def test_the_rows_are_the_reference_the_sweep_and_best_of_n(ran: dict[str, Ran], rewards: str) -> None:
    rows = ran[rewards].rows
    expected: list[tuple[float | None, int | None]] = [(None, None)]
    expected += [(beta, None) for beta in BETAS]
    expected += [(None, n) for n in (1, 2, 4, 8, 16, 32)]
    assert [(row["beta"], row["n"]) for row in rows] == expected
    assert all((row["kl_bound"] is None) == (row["n"] is None) for row in rows)
    assert rows[0]["p"] == REFERENCE  # to the bit


def test_numbers_worked_by_hand(ran: dict[str, Ran]) -> None:
    rows = ran["graded"].rows
    reference, two = rows[0], best_of_n(rows)[1]
    assert (reference["mean_reward"], reference["verifier_reward"]) == pytest.approx((0.334, 0.2), abs=1e-15)
    # Best of two: 1 − (1 − p)^2 over the actions of at least its reward, less the same over those of a higher one.
    by_hand = [
        0.78**2 - 0.44**2,
        0.24**2,
        0.44**2 - 0.24**2,
        0.98**2 - 0.83**2,
        0.83**2 - 0.78**2,
        1 - 0.98**2,
    ]
    assert two["p"] == pytest.approx(by_hand, abs=1e-12)
    assert two["kl_bound"] == pytest.approx(math.log(2) - 0.5, abs=1e-12)
    assert [row["mean_reward"] for row in best_of_n(ran["verifier"].rows)] == pytest.approx(
        [1 - 0.8**n for n in (1, 2, 4, 8, 16, 32)], abs=1e-12
    )


@both
def test_the_optimum_weights_the_reference_by_the_reward(ran: dict[str, Ran], rewards: str) -> None:
    for row in optima(ran[rewards].rows):
        weights = [q * math.exp(r / row["beta"]) for q, r in zip(REFERENCE, REWARDS[rewards], strict=True)]
        assert row["p"] == pytest.approx([weight / sum(weights) for weight in weights], abs=1e-12)


@both
def test_a_weaker_penalty_means_more_reward_and_more_kl(ran: dict[str, Ran], rewards: str) -> None:
    rows = ran[rewards].rows
    for stronger, weaker in pairwise([rows[0], *optima(rows)]):
        assert weaker["mean_reward"] > stronger["mean_reward"]
        assert weaker["kl"] > stronger["kl"]


@both
def test_best_of_n_is_under_its_bound_and_not_above_the_curve(ran: dict[str, Ran], rewards: str) -> None:
    """Above: some beta at which its objective would beat the closed form's, ln Σ q exp(r/beta) times beta."""
    for row in best_of_n(ran[rewards].rows):
        assert row["kl"] <= row["kl_bound"] + 1e-15
        shortfalls = []
        for beta in (2 ** (i / 30) for i in range(-180, 181)):
            tilted = sum(q * math.exp(r / beta) for q, r in zip(REFERENCE, REWARDS[rewards], strict=True))
            shortfalls.append(beta * math.log(tilted) - (row["mean_reward"] - beta * row["kl"]))
        assert min(shortfalls) > -1e-12
        assert (min(shortfalls) < 2e-3) == (rewards == "verifier" or row["n"] == 1)  # on the curve, not below it


def test_the_verifiers_reward_falls_again_when_the_penalty_is_weak(ran: dict[str, Ran]) -> None:
    verifier = [row["verifier_reward"] for row in optima(ran["graded"].rows)]
    top = verifier.index(max(verifier))
    assert 0 < top < len(verifier) - 1
    assert verifier[-1] < 0.05 < 0.6 < verifier[top]
    assert ran["graded"].summary["highest_verifier_reward"] == verifier[top]


@pytest.mark.parametrize("rewards", ["graded", pytest.param("verifier", marks=pytest.mark.slow)])
def test_two_runs_are_equal_to_the_byte_and_belong_to_loop_c(lab: Lab, rewards: str) -> None:
    arguments = ["--rewards", rewards, "--change", "a weaker penalty"]
    assert lab("kl_tradeoff_demo", *arguments, "--outdir", "one").status == 0
    other = lab.process(
        "kl_tradeoff_demo", *arguments, "--outdir", "deep/two", env={"PYTHONHASHSEED": "5", "TZ": "Asia/Tokyo"}
    )
    assert other.status == 0
    files = evidence(lab.folder / "one")
    assert files.keys() == {"kl_tradeoff.csv", "kl_tradeoff.png", "results.jsonl", "summary.json", "manifest.json"}
    assert files == evidence(lab.folder / "deep/two")
    manifest = json.loads(files["manifest.json"])
    assert (manifest["loop"], manifest["command"], manifest["seed"]) == ("C", "course.kl_tradeoff_demo", None)
    assert manifest["change"] == "a weaker penalty"
    assert manifest["outputs"].keys() == files.keys() - {"manifest.json"}
    assert manifest["settings"]["rewards"] == rewards
    assert manifest["settings"]["betas"] == BETAS
    completions, *numbers = zip(*manifest["settings"]["actions"], strict=True)
    assert [list(column) for column in numbers] == [REFERENCE, REWARDS[rewards], REWARDS["verifier"]]
    results = lines_of(lab.folder / "one" / "results.jsonl")
    assert [(row["completion"], row["reward"], row["step"]) for row in results] == [
        (completion, reward, 0) for completion, reward in zip(completions, REWARDS["verifier"], strict=True)
    ]
    assert lab("inspect_run", "--run", "one", "--verify").status == 0


def test_the_terminal_shows_the_graded_curve(ran: dict[str, Ran]) -> None:
    assert max(map(len, ran["graded"].out.split("\n"))) <= 80
    words = " ".join(ran["graded"].out.split())
    assert "infinite 0.334 0.000 0.200 0 0.340 1 0.240 2 0.200" in words
    assert "0.03 0.998 3.838 0.010 5 0.990 3 0.009 4 0.000" in words
    assert "32 0.895 2.149 0.524 3 0.521 5 0.476 4 0.002 2.497" in words
    assert "rises to 0.643 at beta 0.15 and then falls to 0.010 at beta 0.03" in words


def test_the_terminal_shows_the_verifiers_curve_without_a_careless_judge(ran: dict[str, Ran]) -> None:
    assert max(map(len, ran["verifier"].out.split("\n"))) <= 80
    words = " ".join(ran["verifier"].out.split())
    assert "0.03 1.000 1.609 1.000 3 0.750 4 0.250" in words
    assert "careless" not in words


def test_the_judges_grades_are_the_default(lab: Lab) -> None:
    done = lab("kl_tradeoff_demo")
    assert (done.status, done.err) == (0, "")
    settings = json.loads(Path("runs/run_001/manifest.json").read_bytes())["settings"]
    assert settings["rewards"] == "graded"


def test_help_loads_neither_numpy_nor_matplotlib(lab: Lab) -> None:
    done = lab.process("kl_tradeoff_demo", "--help", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert done.status == 0
    assert "--rewards" in done.out
    assert "argparse" in done.err  # what was loaded is listed there
    assert "numpy" not in done.err
    assert "matplotlib" not in done.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--rewards", "judge"],
        ["--reward", "graded"],
        ["--beta", "1"],
    ],
)
def test_what_it_does_not_know_is_refused(lab: Lab, arguments: list[str]) -> None:
    assert "kl_tradeoff_demo --help" in lab.refused("kl_tradeoff_demo", *arguments)


def test_an_outdir_that_exists_is_refused(lab: Lab) -> None:
    Path("taken").mkdir()
    assert "expected a new folder" in lab.refused("kl_tradeoff_demo", "--outdir", "taken")
