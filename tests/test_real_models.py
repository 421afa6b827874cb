"""benchmarks/real_models.py, on solutions written here in the form of the published ones.

The worked example: for the right answer 7 the solution ``So 7 are left.⏎A: 5`` is labelled wrong. Its last line, read
as ``Final: 5``, earns nothing; ``anywhere`` and ``any_candidate`` find a 7 in the whole text and pay.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

SCRIPT = ROOT / "benchmarks" / "real_models.py"
COLUMNS = [
    "labelled right",
    "strict, last line",
    "`anywhere`, whole text",
    "of these labelled wrong",
    "`any_candidate`, whole text",
    "`last_number`, whole text",
    "strict, whole text",
]
CASES = [  # the last line of the ground truth, a solution, its label; what each column should say, in the same order
    ("A: 7", "3 + 4 = <<3+4=7>>7\nA: 7", True, "1110110"),
    ("A: 7", "A: 7", True, "1110110"),
    ("A: 7", "Final: 7", True, "1110111"),
    ("A: 7", "So 7 are left.\nA: 5", False, "0011100"),
    ("A: 7", "He has 7, then 5\nA: 5", False, "0011100"),
    ("A: 7", "6 + 1 = $7\n12 - 7 = 5\nA: 5", False, "0011100"),
    ("A: 7", "3 + 2 = <<3+4=7>>5\nA: 5", False, "0000000"),
    ("A: 7", "I get 17\nA: 70", False, "0000000"),
    ("A: 7", "A: 5 or 7", False, "0011110"),
    ("A: 7", "3 + 4 = 7\nThat is all", False, "0011010"),
    ("A: 7", "A:7", True, "1010010"),
    ("A: -7", "5 - 12 = <<5-12=-7>>-7\nA: -7", True, "1110110"),
    ("A: 1,800", "900 * 2 = <<900*2=1800>>1,800\nA: 1,800", True, "1000000"),
    ("A: 1,800", "900 * 2 = <<900*2=1800>>1800\nA: 1800", True, "1110110"),
    ("A: 7", "", False, "0000000"),
]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    import real_models

    return real_models


def problem_line(ground_truth: str, solutions: list[tuple[str, bool]]) -> str:
    names = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")
    row: dict[str, Any] = {"question": "How many?", "ground_truth": f"Some steps.\n{ground_truth}"}
    for name, (text, label) in zip(names, solutions, strict=True):
        row[name] = {"is_correct": label, "solution": text}
    return json.dumps(row) + "\n"


def test_each_column_scores_the_text_that_it_names(script: Any, tmp_path: Path) -> None:
    path = tmp_path / "published.jsonl"
    lines = [problem_line(truth, [(text, label)] * 4) for truth, text, label, _ in CASES]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    wrong = []
    for case, problem in zip(CASES, script.read_problems(path), strict=True):
        judged = script.judge(problem, problem.large_sampled)
        expected = dict(zip(COLUMNS, (mark == "1" for mark in case[3]), strict=True))
        if judged != expected:
            wrong.append((case, judged))
    assert not wrong


def test_the_table_has_a_row_for_each_system_in_percent_of_all_problems(tmp_path: Path) -> None:
    path = tmp_path / "published.jsonl"
    right, found, nothing = ("3 + 4 = 7\nA: 7", True), ("So 7 are left.\nA: 5", False), ("A: 5", False)
    lines = [
        problem_line("A: 7", [right, found, nothing, right]),
        problem_line("A: 7", [found, found, nothing, right]),
        problem_line("A: 7", [nothing, found, nothing, right]),
        problem_line("A: 7", [nothing, right, right, right]),
    ]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == (
        "4 problems, one solution by each system\n"
        "\n"
        f"| system | {' | '.join(COLUMNS)} |\n"
        "|---|---|---|---|---|---|---|---|\n"
        "| 6B, one sample | 25.0% | 25.0% | 50.0% | 25.0% | 50.0% | 25.0% | 0.0% |\n"
        "| 6B, chosen by a verifier | 25.0% | 25.0% | 100.0% | 75.0% | 100.0% | 25.0% | 0.0% |\n"
        "| 175B, one sample | 25.0% | 25.0% | 25.0% | 0.0% | 25.0% | 25.0% | 0.0% |\n"
        "| 175B, chosen by a verifier | 100.0% | 100.0% | 100.0% | 0.0% | 100.0% | 100.0% | 0.0% |\n"
    )


@pytest.mark.parametrize("line", ["", "{}", "A: 7", problem_line("seven", [("A: 7", True)] * 4)])
def test_a_line_that_is_no_such_problem_is_refused_by_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "published.jsonl"
    whole = problem_line("A: 7", [("A: 7", True)] * 4)
    path.write_text(f"{whole}{line}\n{whole}", encoding="utf-8", newline="\n")
    done = subprocess.run([sys.executable, SCRIPT, path], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {path}:2: expected a line of ")
    assert done.stderr.count("\n") == 1
