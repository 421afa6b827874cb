"""The committee: a student's verdicts are held against the gate.

The worked example: pair 1 was sampled with two templates. Its verdict is REJECT.
"""

import re
import shutil

import pytest
from conftest import ROOT, Lab

from check.committee import COMMITTEE, PAIRS, SHEET, ask_gate, gate_command
from check.milestones import EXERCISES, check
from check.result import NOT_STARTED, TO_READ, CheckResult
from check.sheets import read_fields, read_sheet

SAMPLE = ROOT / "data" / "keys" / "notes" / "committee.md"
ANSWERS = {
    title: read_fields(section, ["verdict", "evidence"]) for title, section in read_sheet(SAMPLE, list(PAIRS)).items()
}


def answer(lab: Lab, title: str = "", **fields: str) -> CheckResult:
    """The check of the teacher's sheet, with other answers for one pair."""
    lines = []
    for name, answers in ANSWERS.items():
        said = answers | (fields if name == title else {})
        lines += [f"## {name}", *(f"{field}: {text}" for field, text in said.items())]
    lab.write(SHEET.as_posix(), "\n".join(lines) + "\n")
    return check(EXERCISES["committee"])


def test_the_teachers_sheet_is_for_the_teacher_to_read(lab: Lab) -> None:
    result = answer(lab)
    assert (result.state, [*result.parts]) == (TO_READ, [*PAIRS.values()]), result.lines
    lab.write(SHEET.as_posix(), (ROOT / SHEET).read_bytes())
    assert check(EXERCISES["committee"]).state == NOT_STARTED


def test_the_command_that_is_named_gives_the_verdict(lab: Lab) -> None:
    shutil.copytree(ROOT / COMMITTEE, lab.folder / COMMITTEE)
    for name in PAIRS.values():
        done = lab("gate", *gate_command(name).partition("course.gate ")[2].split())
        [verdict] = re.findall("^(PROMOTE|REJECT|INCONCLUSIVE): ", done.out, re.MULTILINE)
        assert verdict == ask_gate(name).verdict
        assert (lab.folder / COMMITTEE / name / "candidate" / "gate.html").is_file()


def test_two_pairs_deserve_no_comparison_one_shows_nothing_and_one_is_promoted() -> None:
    verdicts = [ask_gate(name).verdict for name in PAIRS.values()]
    assert verdicts == ["REJECT", "REJECT", "INCONCLUSIVE", "PROMOTE"]


@pytest.mark.parametrize(
    ("title", "fields", "state", "said"),
    [
        ("Pair 1", {"verdict": "PROMOTE"}, "wrong", "Pair 1: the gate's verdict is not PROMOTE"),
        ("Pair 4", {"verdict": "REJECT"}, "wrong", "Pair 4: REJECT costs 16.7 points"),
        ("Pair 4", {"verdict": "INCONCLUSIVE"}, "wrong", "74 of 300 prompts pass before, and 124 after"),
        ("Pair 3", {"verdict": "MAYBE"}, "started", "Pair 3: expected a verdict"),
        ("Pair 2", {"verdict": ""}, "started", "Pair 2: expected a verdict"),
        ("Pair 2", {"evidence": "40 of 100"}, "started", "got 3"),
    ],
)
def test_what_differs_is_said_in_one_line(lab: Lab, title: str, fields: dict[str, str], state: str, said: str) -> None:
    result = answer(lab, title, **fields)
    assert (result.state, len(result.lines)) == (state, 1), result.lines
    assert said in result.lines[0]
