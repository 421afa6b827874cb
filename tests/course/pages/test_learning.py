"""The data of a Loop C page are those of the run's own log, read here without the lab's row types.

The worked example: the bandit's second and fourth arm are right, so the expected reward is the sum of their
probabilities; before the first update it is 0.5.
"""

import importlib
import json
import math
import operator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of
from msgspec.structs import replace
from reporting import completions, evaluation

from course.artifacts.reading import Broken
from course.pages import learning
from course.pages.learning import BANDIT_LOGS, EPISODE_LOGS, learning_data
from course.stats import judge_difference

EXAMPLE_RUNS = ROOT / "data" / "example_runs"
RUN = Path("run")


def data_of(path: Path) -> Any:
    return learning_data(path)


def test_the_logs_are_named_as_the_commands_name_them() -> None:
    for command, log in {**BANDIT_LOGS, **EPISODE_LOGS}.items():
        module = importlib.import_module(command)
        assert log == module.LOG


def test_each_update_of_a_bandit_is_shown() -> None:
    data = data_of(EXAMPLE_RUNS / "bandit")
    log = lines_of(EXAMPLE_RUNS / "bandit" / "bandit_train_log.jsonl")
    assert (data["kind"], data["of"], len(data["steps"])) == ("updates", 30, 30)
    assert data["steps"][0]["expected"] == 0.25
    for step, row in zip(data["steps"], log, strict=True):
        assert step["expected"] == row["probs"][1]
        (state,) = step["states"]
        assert data["actions"][0][state["action"]] == row["completion"]
        assert (state["before"], state["after"]) == (row["probs"], row["new_probs"])
        assert state["return"] - step["baseline"] == state["advantage"] == row["advantage"]
    assert data["after"] == log[-1]["new_probs"][1]


def test_each_episode_has_two_states_and_a_step_without_credit_says_so(lab: Lab) -> None:
    assert lab("toy_mdp", "--episodes", 12, "--no-credit-step1", "--outdir", RUN).status == 0
    data, log = data_of(RUN), lines_of(RUN / "toy_mdp_log.jsonl")
    for step, row in zip(data["steps"], log, strict=True):
        first, second = step["states"]
        assert (first["credited"], first["advantage"], first["before"]) == (False, 0, first["after"])
        assert [first["prefix"], second["prefix"]] == ["", row["tokens"][0]]
        assert second["advantage"] == second["return"] - step["baseline"]
        assert [data["actions"][t][state["action"]] for t, state in enumerate(step["states"])] == row["tokens"]


@pytest.fixture
def trained(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(ROOT)  # where its datasets are
    size = ("--sft-steps", 40, "--steps", 20, "--eval-every", 10, "--slow", 2)
    assert (
        lab("token_train", "--preset", "memorise", "--rubric", "anywhere", *size, "--outdir", lab.folder / RUN).status
        == 0
    )
    return lab.folder / RUN


def test_a_training_shows_its_evaluations_and_what_was_written(trained: Path) -> None:
    data = data_of(trained)
    results = lines_of(trained / "results.jsonl")
    (training,) = data["trainings"]
    assert training["points"] == lines_of(trained / "log.jsonl")
    for point, written in zip(training["points"], training["written"], strict=True):
        found = [row for row in results if (row["step"], row["split"]) == (point["step"], "train")]
        exploits = [row for row in found if row.get("kind") in ("several", "wrong")]
        assert point["hack_rate"] == len(exploits) / len(found)
        assert [shown["exploit"] for shown in written] == [i < len(exploits) for i in range(6)]
        assert {(shown["question"], shown["text"], shown["proxy"]) for shown in written} <= {
            (f"{row['prompt']} ({row['expected_answer']})", row["completion"], row["proxy_reward"]) for row in found
        }


def test_an_update_shows_its_highest_and_its_lowest_advantages(trained: Path) -> None:
    updates = data_of(trained)["updates"]
    slow = lines_of(trained / "slow.jsonl")
    assert [update["label"][:9] for update in updates[::8]] == [
        f"update {step}," for step in range(1, len(updates) // 8 + 1)
    ]
    rows = sorted((row["advantage"] for row in slow if row["step"] == 1), reverse=True)
    shown = updates[:8]
    assert [update["advantage"] for update in shown] == [*rows[:4], *rows[-4:]]
    for update in shown:
        reward, baseline = (float(part.split()[-1]) for part in update["sum"].removesuffix(" = ").split(" − "))
        assert abs(reward - baseline - update["advantage"]) < 1e-3
        assert len(update["tokens"]) == len(update["before"]) == len(update["after"])


def test_a_long_run_is_shown_in_part_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "ROWS", 4)
    data = data_of(EXAMPLE_RUNS / "bandit")
    assert data["of"] == 30
    assert [step["step"] for step in data["steps"]] == [1, 11, 20, 30]


def test_many_trainings_are_shown_in_part_and_counted(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "ROWS", 2)
    data = data_of(trained)
    assert (data["of"], data["shown"]) == (3, 2)
    assert [point["step"] for point in data["trainings"][0]["points"]] == [0, 20]
    assert [len(written) for written in data["trainings"][0]["written"]] == [1, 1]


def judged_in(sentences: list[str]) -> list[str]:
    return [sentence.partition(": ")[2] for sentence in sentences if " gained " in sentence]


@pytest.mark.parametrize(
    ("rewards", "place", "judged"),
    [
        ([(0.2, 0.1), (0.3, 0.5), (0.9, 0.0)], 1, [(0, 50, 2), (0, 10, 1)]),
        ([(0.2, 0.3), (0.6, 0.0), (0.9, 0.0)], 0, [(0, 30, 1)]),
        ([(0.2, 0.1), (0.5, 0.3), (0.9, 0.25)], 1, [(0, 5, 2), (15, 0, 1)]),
        ([(0.2, 0.1), (0.5, 0.4), (0.9, 0.9)], None, [(80, 0, 1)]),
        ([(0.2, 0.1)], None, []),
    ],
)
def test_where_two_curves_part_is_named_and_the_differences_are_judged(
    rewards: list[tuple[float, float]], place: int | None, judged: list[tuple[int, int, int]]
) -> None:
    """``judged``: gained, lost, and from how many comparisons: since the highest strict rate, and since the start."""
    evaluations = [evaluation(10 * i, paid, strict) for i, (paid, strict) in enumerate(rewards)]
    written = [completions(round(100 * strict)) for _, strict in rewards]
    found = learning.parting_data(evaluations, written, evaluations)
    assert found["place"] == place
    said = [f"{judge_difference(gained, lost, 100, tried).text}." for gained, lost, tried in judged]
    assert judged_in(found["sentences"]) == said
    strict = learning.parting_data([replace(row, rubric="score") for row in evaluations], written, evaluations)
    assert strict["place"] is None
    assert judged_in(strict["sentences"]) == said[-1:]


def test_what_is_judged_does_not_depend_on_how_many_evaluations_are_shown() -> None:
    rewards = [(0.2, 0.1), (0.3, 0.4), (0.4, 0.5), (0.9, 0.4), (0.9, 0.0)]
    evaluations = [evaluation(10 * i, paid, strict) for i, (paid, strict) in enumerate(rewards)]
    written = [completions(round(100 * strict)) for _, strict in rewards]
    whole = learning.parting_data(evaluations, written, evaluations)
    some = learning.parting_data(evaluations, written, evaluations[::4])
    assert (whole["place"], some["place"]) == (2, 0)
    assert whole["sentences"] == some["sentences"]


def test_the_tradeoff_has_its_curve_and_the_place_where_strict_is_highest(lab: Lab) -> None:
    """Worked out here from the definition: p ∝ reference · exp(reward / beta)."""
    assert lab("kl_tradeoff_demo", "--outdir", RUN).status == 0
    data = data_of(RUN)
    assert (data["kind"], data["graded"]) == ("tradeoff", True)
    reference = data["points"][0]["probs"]
    grades = [completion["reward"] for completion in data["completions"]]
    strict = [float(completion["text"].strip() == "Final: 323") for completion in data["completions"]]
    assert [completion["strict"] for completion in data["completions"]] == strict
    for point in data["points"][1:]:
        weights = [p * math.exp(grade / point["beta"]) for p, grade in zip(reference, grades, strict=True)]
        probs = [weight / sum(weights) for weight in weights]
        assert point["probs"] == pytest.approx(probs)
        assert point["reward"] == pytest.approx(sum(map(operator.mul, probs, grades)))
        assert point["strict"] == pytest.approx(sum(map(operator.mul, probs, strict)))
        assert point["kl"] == pytest.approx(sum(p * math.log(p / q) for p, q in zip(probs, reference, strict=True)))
    tops = [point["strict"] for point in data["points"]]
    assert tops[data["best"]] == max(tops)
    assert [choice["n"] for choice in data["choices"]] == [1, 2, 4, 8, 16, 32]


def test_a_table_that_holds_no_finite_numbers_is_a_broken_run(lab: Lab) -> None:
    assert lab("kl_tradeoff_demo", "--outdir", RUN).status == 0
    table = (RUN / learning.TRADEOFF_TABLE).read_text(encoding="utf-8")
    for text in ("", table.replace("beta", "alpha"), table.replace("0.1,", "nan,", 1), table.replace("0.1,", "x,", 1)):
        (RUN / learning.TRADEOFF_TABLE).write_text(text, encoding="utf-8")
        with pytest.raises(Broken, match=r"^its files are not those of a run of course\.kl_tradeoff_demo: "):
            learning_data(RUN)


def test_any_other_run_of_loop_c_shows_its_summary(lab: Lab) -> None:
    assert lab("token_inspect", "--outdir", RUN).status == 0
    data = data_of(RUN)
    assert data["kind"] == "summary"
    assert data["summary"]


def test_a_log_that_is_none_is_a_broken_run(lab: Lab) -> None:
    assert lab("bandit_train", "--steps", 3, "--outdir", RUN).status == 0
    row = lines_of(RUN / "bandit_train_log.jsonl")[0]
    of_another_bandit = row | {"completion": "Final: 323\n"}
    for text in ("{}\n", "", json.dumps(row | {"probs": [1.0]}) + "\n", json.dumps(of_another_bandit) + "\n", "\xff"):
        (RUN / "bandit_train_log.jsonl").write_text(text, encoding="latin-1")
        with pytest.raises(Broken, match=r"^its files are not those of a run of course\.bandit_train: "):
            learning_data(RUN)
