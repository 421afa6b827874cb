"""Machinery: the promotion committee. A student's verdict on each shipped pair of runs, held against the gate's own.

The gate's own functions are asked about the shipped runs; no key is shipped. What counts as evidence is taken from what
the gate finds: the two values of a condition that differs, the number of prompts that the candidate was trained on, or
the flips with what they are worth. The first verdict that the check sees of a pair is kept in ``runs/verdicts.json``.

Covered
    Verdicts that are tried one after the other: the first stays, and student and teacher read it. A verdict without
    evidence, evidence copied from a different pair, and evidence that lists every number there is.
Not covered
    Whether the evidence explains anything: a teacher reads it. One text for all pairs that has the numbers of each.
    Whoever asks the gate first, or edits ``runs/verdicts.json``: it is the student's own record, and may be deleted.
"""

import json
import re
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import is_value
from check.sheets import read_fields, read_sheet
from course.artifacts import run_log
from course.artifacts.finding import Numbers
from course.artifacts.locked_room import Condition
from course.artifacts.reading import Broken, open_run
from course.datasets.files import LAB, open_regular, write_whole
from course.errors import UserError, reason
from course.gate import EXIT_STATUS, Comparison, compare, examine, faults_of_runs
from course.starting import PYTHON, program_name
from course.text import quote

COMMITTEE = "data/committee"
PAIRS = {"Pair 1": "pair_1", "Pair 2": "pair_2", "Pair 3": "pair_3"}
SHEET = Path("notes") / "committee.md"
MIN_DELTA = Fraction(2, 100)
_KEPT = "verdicts.json"  # beside the log of runs
_FEWEST_WORDS = 8
_FEWEST_FACTS = 2
_MOST_NUMBERS = 16
_LONGEST = 12  # characters of a condition's value that have to be named
_NUMBER = re.compile(r"(?<![\w.-])(?:\d+(?:\.\d+)?|\.\d+)(?![\w.]*\d)")  # but for the number of an id
_Verdicts = dict[str, Literal["PROMOTE", "REJECT", "INCONCLUSIVE"]]


class Fact(NamedTuple):
    """Something by which the gate decided. ``needed``: evidence without it does not say why.

    A text and an integer are named as they are; a share in percent with one decimal or more, or with two as a share.
    """

    value: str | float
    needed: bool = False


class Decision(NamedTuple):
    verdict: str
    facts: Sequence[Fact]


def check_committee() -> CheckResult:
    """Which verdicts are the gate's, and whether the evidence names what decides."""
    sections = read_sheet(SHEET, list(PAIRS))
    answers = {title: read_fields(section, ["verdict", "evidence"]) for title, section in sections.items()}
    if not any(value for answer in answers.values() for value in answer.values()):
        return CheckResult(NOT_STARTED)
    faults = []
    agreeing = 0
    state = "started"
    verdicts = {title: read_verdict(answer["verdict"]) for title, answer in answers.items()}
    given = {title: fault_of_form(title, verdicts[title], answers[title]["evidence"]) for title in PAIRS}
    first = keep_first({PAIRS[title]: verdicts[title] for title in PAIRS if not given[title]})
    for title, name in PAIRS.items():
        if given[title]:
            faults.append(f"{SHEET}:{sections[title].line} {given[title]}")
            continue
        decision = decision_of(name)
        if decision.verdict != verdicts[title]:
            state = "wrong"
            faults.append(f"{title}: the gate's verdict is not {verdicts[title]}. Read {COMMITTEE}/{name}.md again.")
            continue
        agreeing += 1
        named = [fact for fact in decision.facts if is_named(fact.value, answers[title]["evidence"])]
        if len(named) < _FEWEST_FACTS or any(fact.needed and fact not in named for fact in decision.facts):
            faults.append(
                f"{title}: the verdict is the gate's, and your evidence does not name what decides it yet. Name at "
                "least two facts of the two runs without which the verdict would be a different one."
            )
    firsts = ", ".join(first.get(name, "none yet") for name in PAIRS.values())
    short = f"{agreeing} of {len(PAIRS)} verdicts are the gate's; your first verdicts: {firsts}"
    numbers = {f"{name} first": verdict for name, verdict in first.items()}
    parts = {}
    if not faults:  # the gate's pages show the facts that evidence has to name
        parts = {name: gate_command(name) for name in PAIRS.values()}
        faults.append(f"The gate has a page of each: {program_name('check')} committee --id pair_1 says what to type.")
        state = TO_READ
    return CheckResult(state, short, faults, parts, numbers)


def read_verdict(text: str) -> str:
    return text.strip(" \t`*_.").upper()


def fault_of_form(title: str, verdict: str, evidence: str) -> str:
    """Why nothing is compared yet, in one sentence; an empty text where verdict and evidence stand there."""
    if verdict not in EXIT_STATUS:
        got = quote(verdict) if verdict else "none"
        return f"{title}: expected a verdict, {', '.join(EXIT_STATUS)}, got {got}"
    words = [word for word in evidence.split() if not _NUMBER.search(word)]
    numbers = _NUMBER.findall(evidence)
    if len(words) < _FEWEST_WORDS:
        return f"{title}: expected evidence of {_FEWEST_WORDS} words or more besides its numbers, got {len(words)}"
    if len(numbers) < _FEWEST_FACTS:
        return f"{title}: expected evidence with {_FEWEST_FACTS} numbers of the two runs or more, got {len(numbers)}"
    if len(numbers) > _MOST_NUMBERS:
        return f"{title}: expected the numbers that decide, {_MOST_NUMBERS} at most, got {len(numbers)}"
    return ""


def is_named(value: str | float, text: str) -> bool:
    """Whether a text has this value: ``Fact`` says in which forms."""
    if isinstance(value, str):
        return re.search(rf"(?<![\w.]){re.escape(value)}(?!\.?\d)", text) is not None
    numbers = _NUMBER.findall(text)
    if isinstance(value, int):
        return str(value) in numbers
    return any(is_value(number, value) for number in numbers if "." in number)  # a number without a point is a count


# ---- What the gate finds


def decision_of(name: str) -> Decision:
    """The gate's verdict on a shipped pair, and the facts that decide it. Raises UserError where a run has changed."""
    baseline = LAB / COMMITTEE / name / "baseline"
    candidate = LAB / COMMITTEE / name / "candidate"
    log = run_log.read_log(LAB / COMMITTEE / "log.jsonl", must_exist=True)
    try:
        comparison = compare(open_run(baseline), open_run(candidate), log)
    except Broken as broken:
        raise refuse_changed(name, str(broken)) from None
    faults = faults_of_runs(comparison)
    if faults:
        raise refuse_changed(name, faults[0])
    finding = examine(baseline, candidate, MIN_DELTA, log)
    if finding.numbers is not None:
        return Decision(finding.verdict, facts_of_counts(finding.numbers))
    conditions = [condition for condition in finding.conditions if condition.fault]
    if conditions:
        return Decision(finding.verdict, facts_of_room(conditions))
    return Decision(finding.verdict, facts_of_training(comparison))


def refuse_changed(name: str, fault: str) -> UserError:
    return UserError(f"{COMMITTEE}/{name}: expected the runs as they were handed out, got: {fault}; get them again")


def facts_of_room(conditions: Sequence[Condition]) -> list[Fact]:
    """Both values of each condition that does not hold; of a fingerprint, how it begins."""
    values = [value for condition in conditions for value in (condition.baseline, condition.candidate)]
    return [Fact("not known" if value is None else value[:_LONGEST], needed=True) for value in values]


def facts_of_training(comparison: Comparison) -> list[Fact]:
    """How many prompts the candidate was trained on, how many of these are in its run, and how many the run has.

    Raises LookupError where the gate found a different fault, which no shipped pair has.
    """
    training = comparison.candidate.run.manifest.trained_on
    if training is None or not training.measured_here:
        raise LookupError("the gate rejects a pair of the committee for a reason that has no facts here")
    return [Fact(training.measured_here, needed=True), Fact(training.prompts), Fact(comparison.n)]


def facts_of_counts(numbers: Numbers) -> list[Fact]:
    """The flips, the number of prompts, and what the gate computes of these."""
    facts = [Fact(len(numbers.gained)), Fact(len(numbers.lost)), Fact(numbers.n)]
    facts += [Fact(numbers.mcnemar_p), *(Fact(abs(end)) for end in numbers.delta_ci95)]
    for computed in (numbers.net_flips_needed, numbers.smallest_visible_difference):
        if computed is not None:
            facts.append(Fact(computed))
    return facts


def gate_command(name: str) -> str:
    """What to type to see the gate's page of a pair."""
    runs = f"--baseline {COMMITTEE}/{name}/baseline --candidate {COMMITTEE}/{name}/candidate"
    options = f"--min-delta {float(MIN_DELTA):g} --report"
    return f"{PYTHON} -m course.gate --log {COMMITTEE}/log.jsonl {runs} {options}"


# ---- The first verdict, kept


def keep_first(verdicts: dict[str, str]) -> _Verdicts:
    """Keep the verdict of each pair that has none yet. Returns the first verdict of each."""
    path = run_log.LOG.with_name(_KEPT)
    kept = _read_first(path)
    together = verdicts | kept
    if together != kept:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            write_whole(path, json.dumps(together).encode("ascii") + b"\n")
        except OSError as error:
            raise UserError(f"{path}: cannot write your verdicts: {reason(error)}; nothing was changed") from None
    return msgspec.convert(together, _Verdicts)


def _read_first(path: Path) -> dict[str, str]:
    try:
        with open_regular(path) as file:
            return {**msgspec.json.decode(file.read(1 << 16), type=_Verdicts)}
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: expected pairs and verdicts, got: {quote(str(error))}; delete it") from None
