"""A student's own update: what it trains, what the run says of it, and each fault in one line.

The worked example. Theta [0, 0], action 1, reward 1, baseline 0.5 and a learning rate of 0.4: the advantage is 0.5, the
gradient [−½, ½], and the new theta [−0.1, 0.1].
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Lab, lines_of

from course.errors import UserError
from course.own_update import OwnUpdate

SOLVED = (ROOT / "teacher" / "solutions" / "exercises" / "reinforce.py").read_text(encoding="utf-8")
OWN = ("--update", "mine.py:reinforce_step")
DEF = "def reinforce_step(theta, actions, reward, baseline, lr):\n    "


def test_a_step_is_the_one_worked_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(SOLVED, encoding="utf-8")
    with OwnUpdate(f"{path}:reinforce_step") as step:
        assert step([0.0, 0.0], 1, reward=1.0, baseline=0.5, lr=0.4) == pytest.approx([-0.1, 0.1], abs=1e-15)


@pytest.mark.parametrize("more", [[], ["--no-baseline"], ["--lr", "-0.5"], ["--reward-offset", "3", "--seed", "7"]])
def test_a_right_update_has_the_numbers_of_the_built_in_one(lab: Lab, more: list[str]) -> None:
    lab.write("mine.py", SOLVED)
    for name, update in (("own", OWN), ("built_in", ())):
        assert lab("bandit_train", "--steps", "40", *more, *update, "--outdir", name).err == ""
    own, built_in = (lines_of(lab.folder / name / "bandit_train_log.jsonl") for name in ("own", "built_in"))
    assert len(own) == 40
    for row, expected in zip(own, built_in, strict=True):
        for key, value in expected.items():
            assert row[key] == (value if isinstance(value, str) else pytest.approx(value, abs=1e-12)), key
    assert (lab.folder / "own" / "results.jsonl").read_bytes() == (
        lab.folder / "built_in" / "results.jsonl"
    ).read_bytes()
    assert "not REINFORCE" not in (lab.folder / "own" / "bandit_train_log.txt").read_text(encoding="utf-8")


def test_the_run_holds_the_update_and_can_be_read(lab: Lab) -> None:
    path = lab.write("mine.py", SOLVED)
    assert lab("bandit_train", "--steps", "5", *OWN, "--slow", "--outdir", "run").status == 0
    settings = json.loads((lab.folder / "run" / "manifest.json").read_bytes())["settings"]
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert (settings["update"], settings["update_sha256"]) == ("mine.py:reinforce_step", digest)
    assert (lab.folder / "run" / "update.py").read_bytes() == path.read_bytes()
    assert lab("inspect_run", "--run", "run", "--verify").status == 0
    assert lab("report", "run").status == 0


@pytest.mark.parametrize(
    ("right", "wrong", "words"),
    [
        ("lr * (reward", "-lr * (reward", "above the baseline: arm 1 goes down, and this is not REINFORCE"),
        ("(reward - baseline)", "reward", "below the baseline: arm 0 stays, and this is not REINFORCE"),
        ("(i == action) - p[i]", "(i == action)", "above the baseline: arm 1 goes up, and this is not REINFORCE"),
    ],
)
def test_a_broken_update_trains_and_its_story_names_what_it_did(lab: Lab, right: str, wrong: str, words: str) -> None:
    """Update 2 of seed 0 samples arm 1 against a baseline of 0, update 3 samples arm 0 against 0.5."""
    assert SOLVED.count(right) == 1
    lab.write("mine.py", SOLVED.replace(right, wrong))
    assert lab("bandit_train", "--steps", "3", *OWN, "--outdir", "run").status == 0
    assert words in (lab.folder / "run" / "bandit_train_log.txt").read_text(encoding="utf-8")


FAULTS = {  # the function's body -> what is said
    "raise NotImplementedError": "the function reinforce_step is still to be written",
    "return 1 / 0": "got ZeroDivisionError: division by zero (line 2)",
    "raise SystemExit(0)": "got SystemExit: 0 (line 2)",
    "__import__('os')._exit(3)": "got an end with exit status 3",
    "return None": "got None, which is not a list of one list of 4 finite logits",
    "return theta[0]": "got [0.0, 0.0, 0.0, 0.0], which is not a list of one list of 4 finite logits",
    "return [[0.0] * 3]": "got [[0.0, 0.0, 0.0]], which is not a list",
    "return [[0.0] * 4] * 2": "which is not a list of one list of 4 finite logits",
    "return [['a', 0, 0, 0]]": "got [['a', 0, 0, 0]], which is not a list",
    "return [[True, 0, 0, 0]]": "got [[True, 0, 0, 0]], which is not a list",
    "return [[float('nan')] * 4]": "got [[nan, nan, nan, nan]], which is not a list",
    "return [[10 ** 400, 0, 0, 0]]": "0000000000",
    "return [[__import__('random').random()] * 4]": "got two different answers to the same arguments",
    "return '\\x1b[31m'": "got '\\x1b[31m', which is not a list",
}


@pytest.mark.parametrize("body", FAULTS)
def test_a_fault_of_the_function_is_one_line_and_no_run_is_left(lab: Lab, body: str) -> None:
    lab.write("mine.py", f"{DEF}{body}\n")
    line = lab.refused("bandit_train", "--steps", "3", *OWN, "--outdir", "run")
    assert line.startswith("error: --update: mine.py:reinforce_step: ")
    assert FAULTS[body] in line


@pytest.mark.parametrize("place", ["", "mine.py", "none.py:f", "mine.py:f()", ".:f"])
def test_what_is_no_function_of_a_file_is_refused(lab: Lab, place: str) -> None:
    lab.write("mine.py", SOLVED)
    line = lab.refused("bandit_train", "--update", place, "--outdir", "run")
    assert "expected a file and its function, such as exercises/reinforce.py:reinforce_step, got " in line


def test_a_function_that_is_not_there_and_an_ablation_are_refused(lab: Lab) -> None:
    lab.write("mine.py", SOLVED)
    assert "this file has no function" in lab.refused("bandit_train", "--update", "mine.py:step", "--outdir", "run")
    assert "--update cannot be combined with --ablation" in lab.refused(
        "bandit_train", *OWN, "--ablation", "3", "--outdir", "run"
    )


def test_what_is_asked_twice_is_answered_the_same(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(f"calls = []\n{DEF}calls.append(0)\n    return [[len(calls), 0.0]]\n", encoding="utf-8")
    arguments: dict[str, Any] = {"reward": 1.0, "baseline": 0.0, "lr": 0.5}
    with OwnUpdate(f"{path}:reinforce_step") as step, pytest.raises(UserError, match="two different answers"):
        step([0.0, 0.0], 0, **arguments)
