"""Machinery: the promotion committee. A student's verdict on each shipped pair of runs, beside the gate's own.

The gate is asked about the shipped runs. A teacher reads whether the evidence explains anything.
"""

from fractions import Fraction
from pathlib import Path

from check.result import NOT_STARTED, TO_READ, CheckResult
from check.sheets import read_fields, read_sheet
from course.artifacts import run_log
from course.artifacts.finding import Finding
from course.datasets.files import LAB
from course.gate import EXIT_STATUS, examine
from course.starting import PYTHON, program_name
from course.text import quote

COMMITTEE = "data/committee"
PAIRS = {f"Pair {number}": f"pair_{number}" for number in range(1, 5)}
SHEET = Path("notes") / "committee.md"
MIN_DELTA = Fraction(2, 100)
_FEWEST_WORDS = 8


def check_committee() -> CheckResult:
    """Which verdicts are the gate's, and whether each has evidence in words."""
    sections = read_sheet(SHEET, list(PAIRS))
    answers = {title: read_fields(section, ["verdict", "evidence"]) for title, section in sections.items()}
    if not any(value for answer in answers.values() for value in answer.values()):
        return CheckResult(NOT_STARTED)
    faults = []
    agreeing = 0
    state = "started"
    for title, name in PAIRS.items():
        verdict = read_verdict(answers[title]["verdict"])
        if verdict not in EXIT_STATUS:
            got = quote(verdict) if verdict else "none"
            faults.append(f"{title}: expected a verdict, {', '.join(EXIT_STATUS)}, got {got}")
            continue
        finding = ask_gate(name)
        if verdict != finding.verdict:
            state = "wrong"
            faults.append(f"{title}: {reply_to_wrong(verdict, finding, name)}")
            continue
        agreeing += 1
        count = len(answers[title]["evidence"].split())
        if count < _FEWEST_WORDS:
            faults.append(
                f"{title}: the verdict is the gate's. Expected evidence of {_FEWEST_WORDS} words, got {count}"
            )
    short = f"{agreeing} of {len(PAIRS)} verdicts are the gate's"
    parts = {PAIRS[title]: gate_command(PAIRS[title]) for title, answer in answers.items() if answer["verdict"]}
    if not faults:
        state = TO_READ
        command = f"{program_name('check')} committee --id pair_1"
        faults.append(f"What the gate saw of a pair: {command} says what to type.")
    return CheckResult(state, short, faults, parts)


def read_verdict(text: str) -> str:
    return text.strip(" \t`*_.").upper()


def reply_to_wrong(verdict: str, finding: Finding, name: str) -> str:
    """What is said of a verdict that is not the gate's: what it costs to refuse a candidate that deserves it."""
    if finding.verdict == "PROMOTE" and finding.numbers is not None:
        numbers = finding.numbers
        passes = f"{numbers.baseline_passes} of {numbers.n} prompts pass before, and {numbers.candidate_passes} after"
        return (
            f"{verdict} costs {100 * numbers.delta:.1f} points: {passes}. The gate promotes this candidate, since the "
            f"room was locked and p = {numbers.mcnemar_p:.1g}. Which fact stood against it?"
        )
    return f"the gate's verdict is not {verdict}. What it saw: {program_name('check')} committee --id {name}"


def ask_gate(name: str) -> Finding:
    """What the gate finds of a shipped pair."""
    folder = LAB / COMMITTEE / name
    log = run_log.read_log(LAB / COMMITTEE / "log.jsonl", must_exist=True)
    return examine(folder / "baseline", folder / "candidate", MIN_DELTA, log)


def gate_command(name: str) -> str:
    """What to type to see the gate's page of a pair."""
    runs = f"--baseline {COMMITTEE}/{name}/baseline --candidate {COMMITTEE}/{name}/candidate"
    options = f"--min-delta {float(MIN_DELTA):g} --report"
    return f"{PYTHON} -m course.gate --log {COMMITTEE}/log.jsonl {runs} {options}"
