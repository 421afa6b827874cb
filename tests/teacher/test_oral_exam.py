"""The exam's sheet quotes the student's own runs, and only those that are as they were published.

An example: a student measured three completions, of which one passed, and expected one half. The sheet asks about
"1 of 3, a pass rate of 33.3%". When the student's summary is changed to 3 of 3 afterwards, no question quotes the run.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT, Lab, edited, lines_of
from handed_in import zipped

from teacher.oral_exam import facts_of, sheet
from teacher.submissions import read_submission

QUESTIONS = tomllib.loads((ROOT / "teacher" / "oral_exam.toml").read_text(encoding="utf-8"))["questions"]


@pytest.fixture
def handed_in(lab: Lab) -> Path:
    """The lab's folder after one run of each loop and a registered design, with the log where a student has it."""
    texts = ["Final: 4", "Final: 5\x1b[2J", "the answer\nis 6"]
    done = lab.evaluate([4, 6, 6], texts, "--expect", "0.5", "--change", "nothing", "--outdir", "runs/run_001")
    assert done.status == 0, done.err
    groups = [["x", "Final: 1"], ["Final: 2", "x"]]
    assert lab.select([1, 2], groups, 2, "--outdir", "runs/run_002").status == 0
    assert lab("kl_tradeoff_demo", "--outdir", "runs/run_003").status == 0
    lines = [line | {"run": Path(line["run"]).relative_to(lab.folder).as_posix()} for line in lines_of(lab.log)]
    lines.append(lines[0] | {"run": "notes/experiment.md", "loop": "", "number": {}})
    lab.write("runs/log.jsonl", lines)  # as it is where the runs lie in the lab's own folder
    return lab.folder


def words(folder: Path) -> str:
    facts, left_out = facts_of(read_submission(folder))
    return " ".join(sheet(QUESTIONS, facts, left_out).split())


def test_the_sheet_has_the_numbers_of_the_students_own_runs(handed_in: Path) -> None:
    said = words(handed_in)
    assert "Your runs/run_001 says 1 of 3, a pass rate of 33.3%." in said
    assert "at q2, whose completion is: Final: 5<U+001B ESCAPE>[2J" in said
    assert "q3 expected 6, got: the answer⏎is 6" in said
    assert "In runs/run_002 the first sample was right at 50.0%, the chosen one of 2 at 100.0%." in said
    assert "In runs/run_003: beta 10 gave a mean reward of 0.342 at a KL of 0.000, beta 0.03 gave 0.998" in said
    assert "Before runs/run_001 (eval) you wrote '0.5'; it gave pass_rate 0.3333333333333333. You had changed" in said
    assert "Not quoted" not in said
    assert "{" not in said


def test_a_run_that_was_changed_is_named_and_not_quoted(handed_in: Path) -> None:
    edited(handed_in / "runs" / "run_001" / "summary.json", lambda summary: summary.update(passes=3))
    said = words(handed_in)
    assert "run_001 says" not in said
    assert "Not quoted, since they are not there as the log has them: runs/run_001" in said
    assert "In runs/run_002 the first sample" in said


def test_without_a_run_all_questions_are_still_asked() -> None:
    said = " ".join(sheet(QUESTIONS, {}, []).split())
    assert said.count("listen for: ") >= 2 * len(QUESTIONS)
    assert all(question["ask"] in said for question in QUESTIONS)


@pytest.mark.parametrize("number", ["x", None, [1], {"a": 1}, "{0.__class__}"])
def test_what_is_no_number_fills_no_place(number: object) -> None:
    run = {"run": "r", "passes": 1, "n": 2, "pass_rate": number}
    said = sheet(QUESTIONS, {"eval": {key: one for key, one in run.items() if one is not None}}, [])
    assert "pass rate of" not in said


@pytest.mark.parametrize(
    "log", ["", "[]", "{", '{"run": 4, "command": []}', "[" * 100_000, '{"run": "../../x"}', "\xff"]
)
def test_a_log_of_any_kind_gives_a_sheet(tmp_path: Path, log: str) -> None:
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "log.jsonl").write_bytes(log.encode("latin-1"))
    assert "1. What is one action here" in words(tmp_path)


def test_the_command_takes_a_zip_and_refuses_in_one_line(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "teacher.oral_exam", "--submission"]
    zipped(tmp_path / "anna.zip", [("runs/log.jsonl", json.dumps({"run": "runs/x"}).encode())])
    done = subprocess.run([*line, tmp_path / "anna.zip"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Not quoted" in done.stdout
    assert max(map(len, done.stdout.split("\n"))) <= 80
    done = subprocess.run([*line, tmp_path / "ben.zip"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
