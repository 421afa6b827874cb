"""Machinery: a student's own experiment: one page, held against the log of runs and against the gate.

The page has a design and a result. ``--register`` adds the design to the log, before the candidate is measured. What a
program can hold, it holds: a design was registered before the candidate's run and expects the same number; n, the
smallest visible difference, both rates and the verdict are the gate's. A teacher reads whether the question is a good
one and whether the last part is true.
"""

import re
from collections.abc import Mapping, Sequence
from math import isclose
from pathlib import Path

from check.committee import MIN_DELTA, read_verdict
from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import LoggedRun, names_number, names_value, read_logged_runs
from check.sheets import read_fields, read_sheet
from course.artifacts import run_log
from course.artifacts.finding import Finding, Numbers
from course.artifacts.prediction import read_guess
from course.artifacts.run_log import LogLine
from course.datasets.files import LAB, sha256_of
from course.errors import UserError
from course.gate import examine
from course.starting import program_name
from course.stats import smallest_visible_difference
from course.text import quote

SHEET = Path("notes") / "experiment.md"
FIELDS: dict[str, Sequence[str]] = {  # heading -> what is asked for by name below it
    "Question": (),
    "The one knob": (),
    "Held fixed": (),
    "What n prompts can show": ("n", "flips", "smallest"),
    "Expectation": ("expect", "against"),
    "What came": ("baseline", "candidate", "verdict"),
    "What it does not show": (),
}
REGISTER = f"{program_name('check')} experiment --register"
_FEWEST_WORDS = 8
_NUMBER = "pass_rate"  # a share of prompts is read in this way
_Page = Mapping[str, str]  # heading, or name of a field -> what the student wrote


def check_experiment() -> CheckResult:
    """Whether design and result hold. Raises UserError at the first fault: there is one thing to do at a time."""
    page = read_page()
    if not any(page.values()):
        return CheckResult(NOT_STARTED)
    refuse_design(page)
    if any(page[name] for name in FIELDS["What came"]):
        refuse_few_words("What it does not show", page)
        return result_of(page)
    line = f"{SHEET}: the design stands. Register it: {REGISTER}"
    if read_designs():
        line = f"{SHEET}: the design is registered. Measure the candidate, ask the gate, and fill in What came"
    return CheckResult("started", "", [line])


def register_design() -> str:
    """Add the design to the log: its knob and what it expects. Raises UserError where the design is not whole."""
    page = read_page()
    refuse_design(page)
    design = LogLine(
        run=SHEET.as_posix(),
        manifest=sha256_of(SHEET),
        loop="",
        command="check experiment --register",
        change=" ".join(page["The one knob"].split()),
        expect=page["expect"],
        number={},
        holdouts=[],
    )
    with run_log.log_lock(run_log.LOG) as log:
        run_log.append(log, design)
    return f'Registered in the log of runs. Now measure the candidate, with --expect "{quote(page["expect"])}".'


def read_page() -> dict[str, str]:
    sections = read_sheet(SHEET, list(FIELDS))
    page: dict[str, str] = {}
    for heading, names in FIELDS.items():
        page[heading] = "" if names else sections[heading].text
        page |= read_fields(sections[heading], names)
    return page


def fault_of(name: str, page: _Page, expected: str) -> UserError:
    return UserError(f"{SHEET}: {name}: expected {expected}, got {quote(page[name]) or 'none'}")


# ---- The design, before anything is run


def refuse_design(page: _Page) -> None:
    """Raise UserError where the design is not whole, or where its n cannot show the difference that it names."""
    for name in ("Question", "The one knob", "Held fixed", "against"):
        refuse_few_words(name, page)
    if not re.fullmatch("[1-9][0-9]{0,8}", page["n"]):
        raise fault_of("n", page, "the number of prompts, such as 300")
    n = int(page["n"])
    flips = read_guess(page["flips"], _NUMBER)
    if not flips:
        raise fault_of("flips", page, "the share of prompts that you expect to flip, such as 25 %")
    visible = smallest_visible_difference(n, flips)
    if visible is None:
        raise fault_of("n", page, f"more prompts: if {100 * flips:g} % of so few flip, no difference can be shown")
    if not names_value(page["smallest"], visible):
        call = f"course.stats.smallest_visible_difference({n}, {flips:g})"
        raise fault_of("smallest", page, f"what {call} gives, in points")
    if read_guess(page["expect"], _NUMBER) is None:
        raise fault_of("expect", page, "the candidate's pass rate, a number such as 60 %")


def refuse_few_words(name: str, page: _Page) -> None:
    """Raise UserError where an answer in words is too short to be one."""
    if len(page[name].split()) < _FEWEST_WORDS:
        raise fault_of(name, page, f"{_FEWEST_WORDS} words or more")


# ---- The result, held against the log and the gate


def result_of(page: _Page) -> CheckResult:
    """What is said of an experiment that holds. Raises UserError where it does not."""
    logged = list(read_logged_runs())
    baseline, candidate = (find_run(side, page, logged) for side in ("baseline", "candidate"))
    refuse_expectation(page, candidate)
    finding, numbers = ask_gate(baseline, candidate)
    n = numbers.n
    if page["n"] != str(n):
        raise fault_of("n", page, f"the {n} prompts that both runs measured")
    before, after = numbers.baseline_passes / n, numbers.candidate_passes / n
    for side, run, rate in (("baseline", baseline, before), ("candidate", candidate, after)):
        if not names_number(page[side], run, rate):
            raise fault_of(side, page, f"the run and then its pass rate: {run.name}, {100 * rate:.1f} %")
    if read_verdict(page["verdict"]) != finding.verdict:
        raise fault_of("verdict", page, "the gate's own; ask course.gate once more")
    came = f"{100 * before:.1f} % and then {100 * after:.1f} % of {n} prompts passed"
    lines = [f"{came}, and you expected {quote(page['expect'])}. The gate says {finding.verdict}."]
    trainings = trainings_of([baseline, candidate], logged)
    if len(trainings) == 2:
        names = ", ".join(differing_settings(*trainings)) or "nothing"
        lines.append(f"The two trainings differ in {names}, which the gate cannot see.")
    return CheckResult(TO_READ, finding.verdict, lines, runs=[run.name for run in (baseline, candidate, *trainings)])


def find_run(side: str, page: _Page, logged: Sequence[LoggedRun]) -> LoggedRun:
    """The newest run in the student's log that the page names."""
    for run in logged:
        if re.search(rf"(?:^|[\s`/\\]){re.escape(run.folder)}(?:$|[\s`,;:])", page[side]):
            return run
    raise fault_of(side, page, f"the name of a run that is in your log and whole, such as runs/{side}")


def refuse_expectation(page: _Page, candidate: LoggedRun) -> None:
    """Raise UserError where no design was registered before the candidate, or where two expectations differ."""
    designs = read_designs(candidate.number)
    if not designs:
        raise UserError(
            f"{SHEET}: no design was registered before {candidate.name} was measured. Register it ({REGISTER}), and "
            "measure the candidate under another name"
        )
    registered = designs[-1].expect or ""
    planned = read_guess(registered, _NUMBER)
    for where, expect in (("the run", candidate.manifest.expect or ""), ("the page", page["expect"])):
        value = read_guess(expect, _NUMBER)
        if value is None or planned is None or not isclose(value, planned):
            expected = f"{quote(registered)}, as registered before {candidate.name} was measured"
            raise UserError(f"{SHEET}: expect: expected {expected}, and {where} says {quote(expect) or 'nothing'}")


def read_designs(before: int | None = None) -> list[LogLine]:
    """The designs in the log, the newest last. ``before``: up to this line."""
    return [line for line in run_log.read_log(run_log.LOG)[:before] if line.run == SHEET.as_posix()]


def ask_gate(baseline: LoggedRun, candidate: LoggedRun) -> tuple[Finding, Numbers]:
    """What the gate finds of both runs. Raises UserError where it compares nothing."""
    finding = examine(LAB / baseline.name, LAB / candidate.name, MIN_DELTA, run_log.read_log(run_log.LOG))
    if finding.numbers is None:
        raise UserError(f"{SHEET}: the gate compares nothing: {finding.reasons[0]}. Change that, run again")
    if finding.knob == "nothing":
        raise UserError(f"{SHEET}: The one knob: expected a policy or a rule of choice that differs, got none")
    return finding, finding.numbers


# ---- The trainings behind two policies, of which the gate sees the policies alone


def trainings_of(runs: Sequence[LoggedRun], logged: Sequence[LoggedRun]) -> list[LoggedRun]:
    """The trainings that ended in the policies of these runs, as far as the log has them."""
    trained = {}
    for run in logged:
        if "policy.npz" in run.manifest.outputs:
            trained[f"token_policy {run.manifest.outputs['policy.npz'][:12]}"] = run
    return [trained[run.manifest.policy] for run in runs if run.manifest.policy in trained]


def differing_settings(before: LoggedRun, after: LoggedRun) -> list[str]:
    first, second = ({**run.manifest.settings, "seed": run.manifest.seed} for run in (before, after))
    return [name for name in {**first, **second} if first.get(name) != second.get(name)]
