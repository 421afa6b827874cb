"""Choosing and learning from equally many samples: the numbers are those of what was delivered, by the functions given.

The worked example. With a rule that takes the last of N samples, and an update that changes nothing, choosing and
learning are single samples of the first policy: no number of them rises above chance.
"""

from collections import defaultdict

import pytest
from conftest import ROOT, Lab, lines_of
from learning_checks import check_run, summary

from course.policies.train_config import SMALL

SOLUTIONS = ROOT / "data" / "keys" / "exercises"
FOUR = ("policy_improvement_demo", "--updates", 4)


@pytest.fixture
def brief(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A lab whose policy imitates for a moment only, and no figure is drawn."""
    lab.write(SMALL.dataset, lines_of(ROOT / SMALL.dataset))
    monkeypatch.setattr("course.policy_improvement_demo.CONFIG", SMALL._replace(prompts_a_step=25, sft_steps=60))
    monkeypatch.setattr("course.policy_improvement_demo.png", lambda _: b"a figure")
    return lab


def right_share(rows: list[dict[str, object]]) -> float:
    """By the spec in one line, without the lab."""
    return sum(str(row["completion"]).strip(" \t\r\n") == f"Final: {row['expected_answer']}" for row in rows) / len(
        rows
    )


def test_a_run_is_whole_and_its_numbers_are_those_of_what_was_delivered(brief: Lab) -> None:
    check_run(brief, *FOUR, log="policy_improvement.jsonl")
    delivered = defaultdict(list)
    for row in lines_of(brief.folder / "one/results.jsonl"):
        delivered[row["training"], row["step"]].append(row)
    log = lines_of(brief.folder / "one/policy_improvement.jsonl")
    assert [(row["samples"], row["updates"]) for row in log] == [(1, 0), (8, 1), (16, 2), (32, 4)]
    for row in log:
        chosen = delivered[f"chosen from {row['samples']}", 0]
        learned = delivered["learned", row["updates"]]
        assert [len({result["id"] for result in results}) for results in (chosen, learned)] == [25, 25]
        assert (row["chosen"], row["learned"]) == (right_share(chosen), right_share(learned))
    assert [row["chosen"] for row in log] == sorted(row["chosen"] for row in log)  # the best of more is no worse
    numbers = summary(brief.folder / "one")
    assert (numbers["chosen"], numbers["pass_at_1_after"]) == (log[-1]["chosen"], log[-1]["learned"])


def test_a_students_rule_chooses_and_a_students_update_learns(brief: Lab) -> None:
    brief.write("last.py", "def pick(samples):\n    return samples[-1]\n")
    brief.write("stays.py", "def step(policy, *rest):\n    return policy\n")
    own = ("--pick", "last.py:pick", "--step", "stays.py:step")
    assert brief(*FOUR, *own, "--outdir", "own").status == 0
    log = lines_of(brief.folder / "own/policy_improvement.jsonl")
    assert len({row["learned"] for row in log}) == 1
    best = lines_of(brief.folder / "own/results.jsonl")
    assert brief(*FOUR, "--outdir", "built_in").status == 0
    built_in = lines_of(brief.folder / "built_in/results.jsonl")
    assert best[:25] == built_in[:25]  # of one sample, each rule takes that one
    of_32 = [[row for row in rows if row["training"] == "chosen from 32"] for rows in (best, built_in)]
    assert right_share(of_32[0]) < right_share(of_32[1])


def test_the_solutions_do_what_the_course_does(brief: Lab) -> None:
    for name in ("loop", "pick_best", "reinforce"):
        brief.write(f"exercises/{name}.py", (SOLUTIONS / f"{name}.py").read_text(encoding="utf-8"))
    own = ("--pick", "exercises/pick_best.py:pick_best", "--step", "exercises/loop.py:step")
    assert brief(*FOUR, *own, "--outdir", "own").status == 0
    assert brief(*FOUR, "--outdir", "built_in").status == 0
    logs = [(brief.folder / run / "policy_improvement.jsonl").read_bytes() for run in ("own", "built_in")]
    assert logs[0] == logs[1]
    assert (brief.folder / "own/step_imports/reinforce.py").is_file()
