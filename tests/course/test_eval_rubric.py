"""Loop A with another instrument: what that pays beside what is right.

An example: where 7 is right, a rubric that takes the last number of a text pays for ``Final: 7`` as the scorer does,
for ``it is 7`` too, and for ``Final: 8 or 7``, which offers two answers.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from conftest import Lab, lines_of

from course.artifacts.records import RubricResult
from course.artifacts.verification import fault_of_row

LAST_NUMBER = """
import re
def reward(example, completion):
    numbers = re.findall("-?[0-9]+", completion)
    return float(numbers[-1:] == [str(example["expected_answer"])])
"""
# expected answer, completion, what the rubric above pays, what the scorer pays, what the text says
ROWS = [
    (7, "Final: 7", 1.0, 1.0, "right"),
    (7, "it is 7", 1.0, 0.0, "other_form"),
    (7, "Final: 8 or 7", 1.0, 0.0, "several"),
    (7, "Final: 8", 0.0, 0.0, "wrong"),
    (7, " Final: 7\n", 1.0, 1.0, "right"),
]


def measured(lab: Lab, rubric: str = "mine.py:reward", *more: object) -> Any:
    lab.write("mine.py", LAST_NUMBER.encode())
    return lab.evaluate([row[0] for row in ROWS], [row[1] for row in ROWS], "--rubric", rubric, *more)


def test_rows_hold_both_rewards_and_the_summary_counts_what_was_paid(lab: Lab) -> None:
    assert measured(lab, "mine.py:reward", "--outdir", "run").status == 0
    rows = lines_of(Path("run/results.jsonl"))
    assert [(row["reward"], row["strict_reward"], row["kind"]) for row in rows] == [row[2:] for row in ROWS]
    assert [row["details"]["outcome"] for row in rows] == [
        "ok",
        "missing_prefix",
        "not_an_integer",
        "wrong_answer",
        "ok",
    ]
    summary = json.loads(Path("run/summary.json").read_bytes())
    assert (summary["passes"], summary["rubric_passes"]) == (2, 4)
    assert (summary["pass_rate"], summary["rubric_pass_rate"], summary["rubric_mean_reward"]) == (0.4, 0.8, 0.8)
    assert summary["paid"] == {"right": 2, "other_form": 1, "several": 1, "wrong": 0}
    assert summary["right_refused"] == 0


def test_the_manifest_names_the_rubric_and_the_digest_of_its_source(lab: Lab) -> None:
    settings = {
        "missing": None,
        "rubric": "mine.py:reward",
        "rubric_sha256": hashlib.sha256(LAST_NUMBER.encode()).hexdigest(),
        "rubric_call": "reward(example, completion)",
    }
    measured(lab, str(lab.folder / "mine.py:reward"), "--outdir", "run")
    assert json.loads(Path("run/manifest.json").read_bytes())["settings"] == settings
    assert Path("run/rubric.py").read_bytes() == LAST_NUMBER.encode()


def test_a_call_that_was_typed_is_made_and_stands_in_the_manifest(lab: Lab) -> None:
    lab.write("odd.py", "def f(a, b, c):\n    return a == 'x' and b == f'Final: {c - 1}'\n")
    options = "--dataset", lab.dataset([7, 7]), "--completions", lab.completions(["Final: 7", "Final: 6"])
    call = "--call", "'x', completion, int(answer)"
    assert lab("eval", *options, "--rubric", "odd.py:f", *call, "--outdir", "run").status == 0
    assert [row["reward"] for row in lines_of(Path("run/results.jsonl"))] == [0.0, 1.0]
    settings = json.loads(Path("run/manifest.json").read_bytes())["settings"]
    assert settings["rubric_call"] == "f('x', completion, int(answer))"
    assert "add --rubric FILE:FUNCTION" in lab.refused("eval", *options, *call)
    assert "--call is for a FILE:FUNCTION" in lab.refused("eval", *options, "--rubric", "suffix", *call)


def test_such_a_run_is_logged_by_its_own_number_and_stands_in_no_room(lab: Lab) -> None:
    """A rate of another instrument is another quantity, and no other run may be compared with it."""
    measured(lab, "last_number")
    (line,) = lines_of(lab.log)
    assert (line["number"], line["room"]) == ({"rubric_pass_rate": 0.8}, None)


def test_such_a_run_is_verified_but_for_what_the_rubric_paid(lab: Lab) -> None:
    measured(lab, "mine.py:reward", "--outdir", "run")
    Path("mine.py").unlink()
    assert lab("inspect_run", "run", "--verify").status == 0
    row = msgspec.json.decode(Path("run/results.jsonl").read_bytes().split(b"\n")[1], type=RubricResult)
    assert fault_of_row(row, 1) is None
    forged = {
        "strict_reward": 1.0,
        "kind": "right enough",
    }
    for name, value in forged.items():
        assert fault_of_row(msgspec.structs.replace(row, **{name: value}), 1), name


def test_a_right_line_that_is_refused_and_a_part_that_is_paid(lab: Lab) -> None:
    lab.write("odd.py", b"def f(example, completion):\n    return 0.25 if completion == 'Final: 7' else 0.5\n")
    lab.evaluate([7, 7, 7], ["Final: 7", "8", "7 or 8"], "--rubric", "odd.py:f", "--outdir", "run")
    summary = json.loads(Path("run/summary.json").read_bytes())
    assert (summary["right_refused"], summary["rubric_passes"], summary["rubric_mean_reward"]) == (1, 0, 1.25 / 3)
    assert summary["paid"] == {"right": 0, "other_form": 0, "several": 1, "wrong": 1}


def test_what_passed_is_what_the_strict_scorer_paid_whatever_the_rubric_pays(lab: Lab) -> None:
    """A rubric that never pays in full, and pays the wrong value most."""
    lab.write("odd.py", b"def f(example, completion):\n    return 0.25 if completion == 'Final: 7' else 1.0\n")
    lab.evaluate([7, 7], ["Final: 7", "Final: 8"], "--rubric", "odd.py:f", "--outdir", "run")
    examples = Path("run/README.md").read_text(encoding="utf-8").partition("## The last completion that passed")[2]
    assert examples.index("Final: 7") < examples.index("Final: 8")
    findings = json.loads(lab("inspect_run", "run", "--json").out)
    assert [row["completion"] for row in findings["top"] + findings["bottom"]] == ["Final: 7", "Final: 8"]
    shown = lab("inspect_run", "run", "--only-fails").out
    assert "1 (strict 0)  Final: 8" in shown
    assert "Final: 7" not in shown
    assert "a wrong value" in lab("inspect_run", "run", "--id", "q2").out


def test_what_is_missing_is_not_put_before_the_rubric(lab: Lab) -> None:
    lab.write("mine.py", b"def f(example, completion):\n    return 1.0\n")
    dataset = lab.dataset([7, 8])
    completions = lab.completions(["Final: 7"])
    options = "--dataset", dataset, "--completions", completions, "--missing", "zero", "--outdir", "run"
    assert lab("eval", *options, "--rubric", "mine.py:f").status == 0
    assert [row["reward"] for row in lines_of(Path("run/results.jsonl"))] == [1.0, 0.0]


@pytest.mark.parametrize("more", [("--jobs", 2), ("--rubric", "", "--jobs", 2)])
def test_a_rubric_is_asked_by_one_process(lab: Lab, more: tuple[object, ...]) -> None:
    lab.write("mine.py", b"def f(example, completion):\n    return 1\n")
    options = "--dataset", lab.dataset([7]), "--completions", lab.completions(["Final: 7"]), "--outdir", "run"
    assert "--rubric cannot be combined with --jobs" in lab.refused("eval", *options, "--rubric", "mine.py:f", *more)
