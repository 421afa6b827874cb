"""The student's machine: the newest run of each version of each file, by the loop that ran it."""

import re

from conftest import ROOT, Lab

from check.machine import list_works

DATA = (
    "--dataset",
    ROOT / "data" / "datasets" / "math_dev.jsonl",
    "--completions",
    ROOT / "data" / "rollouts" / "frozen_rollouts_dev.jsonl",
)
RULE = 'VERSION = "{}"\n\ndef score(example, completion):\n    return {{"reward": float({}), "details": {{}}}}\n'
STEP = "def reinforce_step(theta, actions, reward, baseline, lr):\n    return theta\n"


def test_each_version_of_a_file_is_shown_with_what_it_did(lab: Lab) -> None:
    for version, paid in (("1", 0), ("1", 0), ("1", 1), ("2\x1b", 1)):
        lab.write("exercises/my_score.py", RULE.format(version, paid))
        assert lab("eval", *DATA, "--rubric", "exercises/my_score.py:score").status == 0
    lab.write("exercises/reinforce.py", STEP)
    assert lab("bandit_train", "--steps", "2", "--update", "exercises/reinforce.py:reinforce_step").status == 0
    works = [work for work in list_works() if work.run]
    rows = [(work.file, work.version.partition(" ")[0], work.did, work.run, work.number) for work in works]
    assert sorted(rows[:3], key=lambda row: row[3]) == [
        ("my_score.py", "1", "measured", "run_002", "0 rubric_pass_rate"),
        ("my_score.py", "1", "measured", "run_003", "1 rubric_pass_rate"),  # another file under the same version
        ("my_score.py", "2<U+0…", "measured", "run_004", "1 rubric_pass_rate"),
    ]
    assert rows[3][2:] == ("learned", "run_005", "0.25 expected_reward_after")
    shown = lab("check", "--mine").out
    assert re.search("loop.py +nothing yet", shown)
    assert "tests: not started" in shown
    assert shown.replace("\n", "").isprintable()
    assert max(map(len, shown.split("\n"))) <= 80
