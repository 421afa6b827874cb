"""Machinery: a kata is scored examples to be diagnosed. What the teacher says of one is shown
to a student who has chosen the right label, with evidence and a fix.

In katas 2 and 3 a diagnosis that blames code also needs a test: a completion that tells the faulty verifier from the
spec, which is tried on both.
"""

from pathlib import Path
from typing import Any

from check.encoding import decode
from check.result import NOT_STARTED, CheckResult
from check.sheets import Section, read_fields, read_sheet
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import KataExample, task_of
from course.rubrics import Rubric
from course.rubrics.hackable import RUBRICS
from course.score import TRIMMED, score
from course.text import quote

LABELS = ("model", "verifier", "ambiguous", "hacked")
FAULTS_OF_CODE = ("verifier", "hacked")
WITH_TEST = ("kata_2", "kata_3")  # katas that ask for a test where code is at fault
STATES = ("look again", "unfinished", "blank", "right")  # of a diagnosis, in the order in which they are shown
ASKED = {"label": (1, "a label"), "evidence": (12, "two or three sentences"), "fix": (4, "one concrete change")}


def check_kata(name: str) -> CheckResult:
    """The student's labels against the key. Evidence and fixes are for a person to read."""
    examples = list(read_records(LAB / "data" / "kata" / f"{name}.jsonl", KataExample))
    sheet = Path("exercises") / f"{name}.md"
    sections = read_sheet(sheet, [example.id for example in examples])
    parts = {}
    by_state: dict[str, list[str]] = {state: [] for state in STATES}
    for example in examples:
        section = sections[example.id]
        state, words = judge_diagnosis(f"{sheet}:{section.line}", section, example, name)
        by_state[state].append(example.id)
        parts[example.id] = f"{state}: {words}"
    right = by_state["right"]
    short = f"{len(right)} of {len(examples)} finished and right"
    if by_state["blank"] == list(parts):
        return CheckResult(NOT_STARTED, parts=parts)
    lines = [f"{state}: {', '.join(ids)}" for state, ids in by_state.items() if ids]
    if len(right) == len(examples):
        return CheckResult("done", short, lines, parts, by_state, command=f"check {name} --id {right[0]}")
    first = next(ids[0] for state, ids in by_state.items() if ids and state != "right")
    state = "wrong" if by_state["look again"] else "started"
    return CheckResult(state, short, lines[:3], parts, by_state, command=f"check {name} --id {first}")


def judge_diagnosis(place: str, section: Section, example: KataExample, name: str) -> tuple[str, str]:
    """Blank, unfinished, look again or right; and what there is to say of it."""
    diagnosis = read_fields(section, [*ASKED, "test"])
    if not any(diagnosis.values()):
        return "blank", f"{place} waits for your label, evidence and fix"
    for field, (fewest, expected) in ASKED.items():
        words = len(diagnosis[field].split())
        if words < fewest:
            return "unfinished", f"{place} {field}: expected {expected} ({fewest} words or more), got {words}"
    label = diagnosis["label"].strip(" `*_.\"'").lower()
    if label not in LABELS:
        return "unfinished", f"{place} label: expected {', '.join(LABELS[:-1])} or {LABELS[-1]}, got {quote(label)}"
    right_label, _, reasoning = decode(example.key).partition("\n")
    if label != right_label:
        return "look again", example.hint
    if name in WITH_TEST and label in FAULTS_OF_CODE:
        fault = find_fault_of_test(example, diagnosis["test"])
        if fault:
            expected = "expected one completion `in backticks` that this verifier and the spec reward differently"
            return "unfinished", f"{place} test: {expected}, and not the one above; got {fault}"
    return "right", reasoning


def find_fault_of_test(example: KataExample, test: str) -> str:
    """Why what stands between the backticks is no test of the example's verifier; nothing where it is one."""
    parts = test.split("`")
    if len(parts) != 3:
        return "no backticks around one text"
    text = parts[1]
    if text.strip(TRIMMED) == example.completion.strip(TRIMMED):
        return "the one above"
    task = task_of(example)
    right = score(task, text)["reward"]
    given = verifier_of(example)(task, text)["reward"]
    if right == given:
        return f"one to which both give {right:g}"
    return ""


def verifier_of(example: KataExample) -> Rubric:
    """The verifier that an example names: one of the course's, or the one whose source it brings."""
    if not example.source:
        return RUBRICS[example.verifier]
    namespace: dict[str, Any] = {}
    exec(example.source, namespace)  # the teacher's own
    return lambda task, completion: {"reward": namespace[example.verifier](task, completion), "details": {}}
