"""Machinery: a student's own experiment: one page, held against the log of runs and against the gate.

The page has a design and a result. What a program can hold, it holds: both runs are in the student's own log and whole,
one knob was turned, the expectation was recorded with the candidate before anything was scored, n, the smallest visible
difference, the counts and the verdict are those that the gate computes. Whether the question is a good one and whether
the last part is true, a teacher reads.

Covered
    A room that was not kept, or two knobs. A candidate whose completions were measured once before its expectation was
    recorded, also where that run was deleted. Two trainings that differ in more than one setting, or in their seed
    alone: the gate sees a different policy in both, and no more. The worked example, handed in as one's own.
Not covered
    A log that its owner edited. A candidate that was measured before its expectation with a comment more in its rule,
    or on a copy of the dataset with different bytes. Two trainings that are not in the log: the check then knows of no
    more than the gate. A run of a fellow student, put into the own log line by line.
"""

import re
from argparse import ArgumentTypeError
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from check.committee import read_verdict
from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import LoggedRun, read_logged_runs
from check.sheets import Section, read_fields, read_sheet
from course.artifacts import run_log
from course.artifacts.finding import Finding, Numbers
from course.artifacts.locked_room import PICK_SHA256, room_digest
from course.artifacts.prediction import main_number, read_guess, score_prediction
from course.command import fraction
from course.datasets.files import LAB
from course.errors import UserError
from course.gate import EXIT_STATUS, examine
from course.policies.train_config import GENERALISE
from course.stats import smallest_visible_difference
from course.text import quote

SHEET = Path("notes") / "experiment.md"
FIELDS: dict[str, Sequence[str]] = {  # heading -> what is asked for by name below it
    "Question": (),
    "The one knob": (),
    "Held fixed": (),
    "What n prompts can show": ("n", "flips", "smallest"),
    "Expectation": ("expect", "against"),
    "What came": ("baseline", "candidate", "min-delta", "verdict"),
    "What it does not show": (),
}
_RESULT = "What came"
_FEWEST_WORDS = 8
_TOLERANCE = 0.005  # of the smallest visible difference, half a point
_NO_KNOBS = ("eval_every", "holdout_fingerprint")  # settings of a training that change nothing of its policy
# An integer by itself, its thousands with or without commas. No prompt set needs more than nine digits.
_INTEGER = re.compile(r"(?<![\w.,-])(?:[0-9]{1,3}(?:,[0-9]{3}){1,2}|[0-9]{1,9})(?![\w.,]*[0-9])")


class _Fault(Exception):
    """What is wrong or not there yet, in one sentence, and the state that follows from it."""

    def __init__(self, sentence: str, state: str = "wrong") -> None:
        super().__init__(sentence)
        self.state = state


class Pair(NamedTuple):
    """Both runs, and the trainings of their policies where the log has them."""

    baseline: LoggedRun
    candidate: LoggedRun
    trainings: Sequence[LoggedRun]


def check_experiment() -> CheckResult:
    """Whether design and result hold. The first fault is named, because there is one thing to do at a time."""
    sections = read_sheet(SHEET, list(FIELDS))
    if not any(value for heading in FIELDS for value in answers_below(sections[heading], FIELDS[heading]).values()):
        return CheckResult(NOT_STARTED)
    try:
        refuse_design(sections)
        pair, finding = read_result(sections)
        refuse_few_words(sections, "What it does not show")
    except _Fault as fault:
        return CheckResult(fault.state, "", [f"{SHEET}: {fault}"])
    return described(pair, finding)


def answers_below(section: Section, names: Sequence[str]) -> dict[str, str]:
    """The fields below a heading; where none are asked for, all that stands there."""
    return read_fields(section, names) if names else {"": section.text}


# ---- The design, before anything is run


def refuse_design(sections: Mapping[str, Section]) -> None:
    """Raise _Fault where the design is not whole, or where its n cannot show the difference that it names."""
    for heading in ("Question", "The one knob", "Held fixed"):
        refuse_few_words(sections, heading)
    fields = read_fields(sections["What n prompts can show"], FIELDS["What n prompts can show"])
    n = whole_number(fields["n"])
    if n is None or n < 1:
        expected = "expected the number of prompts, one whole number such as 80"
        raise _Fault(f"n: {expected}, {got(fields['n'])}", state_of(fields["n"]))
    flips = read_guess(fields["flips"], "pass_rate")
    if not flips:
        expected = "expected the share of prompts that you expect to flip, such as 25 %"
        raise _Fault(f"flips: {expected}, {got(fields['flips'])}", state_of(fields["flips"]))
    visible = smallest_visible_difference(n, flips)
    if visible is None:
        raise _Fault(f"n: if {100 * flips:g} % of {n} prompts flip, no difference can be shown; take more prompts")
    said = re.search(r"\d+(?:\.\d+)?", fields["smallest"])
    if said is None:
        expected = "expected the smallest difference that these prompts can show, in points"
        raise _Fault(f"smallest: {expected}, {got(fields['smallest'])}", state_of(fields["smallest"]))
    if abs(float(said[0]) / 100 - visible) > _TOLERANCE:
        call = f"smallest_visible_difference({n}, {flips:g})"
        raise _Fault(f"smallest: expected what course.stats.{call} gives, in points, got {quote(fields['smallest'])}")
    fields = read_fields(sections["Expectation"], FIELDS["Expectation"])
    if not re.search(r"\d", fields["expect"]):
        expected = "expected the candidate's result with a number in it"
        raise _Fault(f"expect: {expected}, {got(fields['expect'])}", state_of(fields["expect"]))
    if len(fields["against"].split()) < _FEWEST_WORDS:
        expected = f"expected what would count against your expectation, in {_FEWEST_WORDS} words or more"
        raise _Fault(f"against: {expected}", "started")


def refuse_few_words(sections: Mapping[str, Section], heading: str) -> None:
    """Raise _Fault where an answer in words is too short to be one."""
    count = len(sections[heading].text.split())
    if count < _FEWEST_WORDS:
        raise _Fault(f"{heading}: expected {_FEWEST_WORDS} words or more, got {count}", "started")


def got(text: str) -> str:
    return f"got {quote(text)}" if text else "got none"


def state_of(text: str) -> str:
    """What is not there was not done yet, and is not wrong."""
    return "wrong" if text else "started"


def whole_number(text: str) -> int | None:
    """The one integer of a text, such as 1,319; None where there is none, or where two leave open which is meant."""
    found = _INTEGER.findall(text)
    return int(found[0].replace(",", "")) if len(found) == 1 else None


def min_delta_of(text: str) -> Fraction:
    """What the gate reads of this ``--min-delta``. Raises _Fault where the gate would refuse it."""
    try:
        return fraction(text.strip("`"))
    except ArgumentTypeError as error:
        raise _Fault(f"min-delta: {error}", state_of(text)) from None


# ---- The result, held against the log and the gate


def read_result(sections: Mapping[str, Section]) -> tuple[Pair, Finding]:
    """Both runs and what the gate finds. Raises _Fault where they are not those of the design."""
    fields = read_fields(sections[_RESULT], FIELDS[_RESULT])
    if not any(fields.values()):
        raise _Fault(
            "the design stands. Measure the baseline, then the candidate with the expectation of this page after "
            "--expect, ask the gate, and fill in What came",
            "started",
        )
    expect = read_fields(sections["Expectation"], FIELDS["Expectation"])["expect"]
    n = whole_number(read_fields(sections["What n prompts can show"], FIELDS["What n prompts can show"])["n"])
    logged = list(read_logged_runs())
    baseline = find_run("baseline", fields["baseline"], logged)
    candidate = find_run("candidate", fields["candidate"], logged)
    if baseline.number == candidate.number:
        raise _Fault(f"candidate: expected a run besides the baseline, got {baseline.name} for both")
    refuse_expectation(expect, baseline, candidate, logged)
    min_delta = min_delta_of(fields["min-delta"])
    log = run_log.read_log(run_log.LOG)
    finding = examine(LAB / baseline.name, LAB / candidate.name, min_delta, log)
    if finding.numbers is None:
        reason = finding.reasons[0]
        raise _Fault(f"this is no experiment yet, because the gate compares nothing: {reason}. Change that, run again")
    if finding.knob == "nothing":
        raise _Fault("The one knob: expected a policy or a rule of choice that differs, got two runs of the same")
    trainings = trainings_of(baseline, candidate, logged)
    refuse_numbers(fields, finding, finding.numbers, n)
    return Pair(baseline, candidate, trainings), finding


def find_run(side: str, said: str, logged: Sequence[LoggedRun]) -> LoggedRun:
    """The newest run in the student's log with the name that the page gives."""
    name = said.replace("`", " ").strip().partition(" ")[0].rstrip(",;:/")
    for run in logged:
        if name and (LAB / run.name).resolve() == Path(name).resolve():
            return run
    expected = f"expected the name of a run that is in your log and whole, such as runs/{side}"
    raise _Fault(f"{side}: {expected}, {got(name)}", state_of(name))


def refuse_expectation(expect: str, baseline: LoggedRun, candidate: LoggedRun, logged: Sequence[LoggedRun]) -> None:
    """Raise _Fault where the page expects something else than the candidate's run, or that was recorded too late."""
    recorded = candidate.manifest.expect
    if not recorded:
        raise _Fault(f"expect: expected it recorded by --expect in {candidate.name}, got a run without one")
    if plain(recorded) != plain(expect):
        raise _Fault(f"expect: expected what {candidate.name} recorded, {quote(recorded)}, got {quote(expect)}")
    earlier = earlier_measurement(baseline, candidate, logged)
    if earlier is not None:
        raise _Fault(
            f"expect: {earlier} measured the same completions before, with no or a different expectation, so that the "
            "result was known. Make a new candidate, with its expectation first"
        )


def earlier_measurement(baseline: LoggedRun, candidate: LoggedRun, logged: Sequence[LoggedRun]) -> str | None:
    """A run before the candidate that measured the same without its expectation; its folder may be gone by now."""
    whole = {run.number: run for run in logged}
    lines = run_log.read_log(run_log.LOG)
    room = room_digest(candidate.manifest)
    number = lines[candidate.number].number
    for position, line in enumerate(lines[: candidate.number]):
        if position == baseline.number or line.room != room:
            continue
        run = whole.get(position)
        same = line.number == number if run is None else what_was_measured(run) == what_was_measured(candidate)
        if same and plain(line.expect or "") != plain(candidate.manifest.expect or ""):
            return line.run
    return None


def what_was_measured(run: LoggedRun) -> tuple[object, ...]:
    manifest = run.manifest
    pick = manifest.settings.get(PICK_SHA256)
    return manifest.completions_fingerprint, manifest.examples_fingerprint, manifest.samples_per_prompt, pick


def plain(text: str) -> str:
    return " ".join(text.split()).strip("\"'` ").casefold()


def refuse_numbers(fields: Mapping[str, str], finding: Finding, numbers: Numbers, n: int | None) -> None:
    """Raise _Fault where a number or the verdict of the page is not the gate's."""
    if n != numbers.n:
        raise _Fault(f"n: expected the {numbers.n} prompts that both runs measured, got {n}")
    passes = {"baseline": numbers.baseline_passes, "candidate": numbers.candidate_passes}
    for side, count in passes.items():
        counts = re.findall(r"(\d+) of (\d+)", fields[side])
        if counts != [(str(count), str(numbers.n))]:
            expected = "expected after the run's name how many of its prompts passed, such as 40 of 80"
            raise _Fault(f"{side}: {expected}, as its summary has it, {got(fields[side])}")
    verdict = read_verdict(fields["verdict"])
    if verdict not in EXIT_STATUS:
        raise _Fault(f"verdict: expected {', '.join(EXIT_STATUS)}, {got(verdict)}", state_of(verdict))
    if verdict != finding.verdict:
        raise _Fault(f"verdict: expected the gate's own, got {verdict}; ask course.gate once more")


# ---- The trainings behind two policies


def trainings_of(baseline: LoggedRun, candidate: LoggedRun, logged: Sequence[LoggedRun]) -> list[LoggedRun]:
    """The runs of the log that trained the two policies. Raises _Fault where they differ in more than one knob.

    Two trainings can have one policy, such as the one that both started from. Those count that differ the least.
    """
    befores = [run for run in logged if wrote_policy(run, baseline.manifest.policy)]
    afters = [run for run in logged if wrote_policy(run, candidate.manifest.policy)]
    pairs = [(differing_settings(before, after), before, after) for before in befores for after in afters]
    if not pairs:
        return []
    differing, before, after = min(pairs, key=lambda pair: len(pair[0]))
    if len(differing) > 1:
        names = ", ".join(differing)
        raise _Fault(f"The one knob: expected two trainings that differ in one setting, got {names}. Train again")
    if differing == ["seed"]:
        raise _Fault("The one knob: expected a setting that differs, got the seed alone, which is chance. Turn a knob")
    if not differing and is_worked_example(before):
        raise _Fault("The one knob: expected an experiment of your own, got the page's worked example. Turn a knob")
    return list({run.number: run for run in (before, after)}.values())


def wrote_policy(run: LoggedRun, policy: str | None) -> bool:
    """Whether a training wrote a policy of this name, as its first or its last."""
    if run.manifest.command != "course.token_train" or policy is None:
        return False
    digests = [run.manifest.outputs.get(name, "") for name in ("policy.npz", "reference.npz")]
    return any(digest and policy == f"token_policy {digest[:12]}" for digest in digests)


def differing_settings(before: LoggedRun, after: LoggedRun) -> list[str]:
    """The settings of two trainings that differ; the seed and the training prompts are two of them."""
    facts = []
    for run in (before, after):
        manifest = run.manifest
        own = {name: value for name, value in manifest.settings.items() if name not in _NO_KNOBS}
        facts.append(own | {"seed": manifest.seed, "training prompts": manifest.dataset_fingerprint})
    return [name for name in {**facts[0], **facts[1]} if facts[0].get(name) != facts[1].get(name)]


def is_worked_example(run: LoggedRun) -> bool:
    """Whether a training has every setting of the page's worked example."""
    example = {name: value for name, value in GENERALISE.settings().items() if name not in _NO_KNOBS}
    return all(run.manifest.settings.get(name) == value for name, value in example.items())


# ---- What is said of an experiment that holds


def described(pair: Pair, finding: Finding) -> CheckResult:
    numbers = finding.numbers
    if numbers is None:
        raise UserError(f"{SHEET}: the gate compares nothing")
    baseline, candidate, trainings = pair
    prediction = score_prediction(candidate.manifest.expect, main_number(candidate.summary))
    counts = f"{numbers.baseline_passes} and {numbers.candidate_passes} of {numbers.n}"
    lines = [f"{baseline.name} against {candidate.name}: {counts}, and the gate says {finding.verdict}."]
    if prediction.off is not None:
        lines.append(f"You expected {quote(candidate.manifest.expect or '')}, and it came {prediction.off}.")
    if baseline.manifest.policy != candidate.manifest.policy and not trainings:
        lines.append("Your log does not hold both trainings: your teacher reads whether one setting differs.")
    runs = list(dict.fromkeys(run.name for run in (baseline, candidate, *trainings)))
    details = {"runs": runs, "n": numbers.n, "delta": numbers.delta, "verdict": finding.verdict}
    return CheckResult(TO_READ, finding.verdict, lines, numbers=details)
