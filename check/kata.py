"""Machinery: a kata is scored examples to be diagnosed. Who has the right label reads what the key says of it.

In katas 2 and 3 a diagnosis brings a text that is tried: whoever blames code gives one that the verifier and the spec
reward differently; whoever blames the data gives what a second careful person writes, which is rewarded differently.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from check.result import NOT_STARTED, CheckResult
from check.sheets import KEYS, read_fields, read_sheet
from course.datasets.files import LAB
from course.datasets.jsonl import read_records
from course.datasets.records import KataExample, task_of
from course.rubrics import Rubric
from course.rubrics.hackable import RUBRICS
from course.score import TRIMMED, score
from course.text import quote

LABELS = ("model", "verifier", "ambiguous", "hacked")
STATES = ("look again", "unfinished", "blank", "right")  # of a diagnosis, in the order in which they are shown
FIELDS = ("label", "hint", "evidence", "fix", "test")  # of a key
_FEWEST = {"label": 1, "evidence": 12, "fix": 4, "test": 12}  # words; of a test, where the label is model


def check_kata(name: str) -> CheckResult:
    """The student's labels against the key, and their tests. Whether a fix is good, a person says."""
    examples = list(read_records(LAB / "data" / "kata" / f"{name}.jsonl", KataExample))
    sheet = Path("exercises") / f"{name}.md"
    sections = read_sheet(sheet, [example.id for example in examples])
    key = read_sheet(KEYS / sheet)
    parts = {}
    by_state: dict[str, list[str]] = {state: [] for state in STATES}
    for example in examples:
        said = read_fields(sections[example.id], FIELDS)
        diagnosis = {field: said[field] for field in fields_of(name)}
        state, words = judge_diagnosis(diagnosis, example, read_fields(key[example.id], FIELDS))
        by_state[state].append(example.id)
        parts[example.id] = f"{state}: {words}"
    lines = [f"{state}: {', '.join(ids)}" for state, ids in by_state.items() if ids]
    if by_state["blank"] == list(parts):
        return CheckResult(NOT_STARTED, parts=parts)
    first, _, shown = lines[0].partition(": ")  # what is not right, if anything is not
    state = {"look again": "wrong", "right": "done"}.get(first, "started")
    short = f"{len(by_state['right'])} of {len(parts)} finished and right"
    return CheckResult(state, short, lines, parts, command=f"check {name} --id {shown.partition(',')[0]}")


def fields_of(name: str) -> Sequence[str]:
    """What a student writes of each example."""
    return ("label", "evidence", "fix") if name == "kata_1" else ("label", "fix", "test")


def judge_diagnosis(diagnosis: Mapping[str, str], example: KataExample, reasons: Mapping[str, str]) -> tuple[str, str]:
    """One of ``STATES``, and what there is to say of it. ``reasons``: those of the key."""
    if not any(diagnosis.values()):
        return "blank", f"waits for your {', '.join(diagnosis)}"
    label = diagnosis["label"].strip(" `*_.\"'").lower()
    if label not in LABELS:
        return "unfinished", f"label: expected one of {', '.join(LABELS)}, got {quote(label) or 'none'}"
    if label != reasons["label"]:
        return "look again", reasons["hint"]
    for field, text in diagnosis.items():
        fault = ""
        if field == "test" and label != "model":
            fault = find_fault_of_test(example, label, text)
        elif len(text.split()) < _FEWEST[field]:
            fault = f"{_FEWEST[field]} words or more, got {len(text.split())}"
        if fault:
            return "unfinished", f"{field}: expected {fault}"
    return "right", "\n".join(f"{field}: {reasons[field]}" for field in FIELDS[2:] if reasons[field])


def find_fault_of_test(example: KataExample, label: str, test: str) -> str:
    """Why a text in backticks does not show that the label is right; nothing where it does."""
    _, _, rest = test.partition("`")
    text, _, _ = rest.partition("`")
    if text.strip(TRIMMED) in ("", example.completion.strip(TRIMMED)):
        return f"one text `in backticks`, and not the one above, got {quote(test) or 'none'}"
    given = verifier_of(example)(task_of(example), text)["reward"]
    other = score(task_of(example), text)["reward"]
    expected = "a text that this verifier and the spec reward differently"
    if label == "ambiguous":
        other = example.reward
        expected = "what a second careful person writes, with another reward than the one above"
    return f"{expected}, got one with {given:g} for both" if given == other else ""


def verifier_of(example: KataExample) -> Rubric:
    """The verifier that an example names: one of the course's, or the one whose source it brings."""
    if not example.source:
        return RUBRICS[example.verifier]
    namespace: dict[str, Any] = {}
    exec(example.source, namespace)  # the teacher's own
    return lambda task, completion: {"reward": namespace[example.verifier](task, completion), "details": {}}
