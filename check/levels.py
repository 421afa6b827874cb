"""Machinery: the four levels, a table of steps in ``data/levels.toml``, each held against the log of runs.

A step is a run whose numbers stand in relations, words in the README of a run, the gate's page, or tests that lock a
repair. Any run that fits counts, so what was done stays done.
"""

import operator
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from msgspec.structs import asdict

from check.functions import check_functions
from check.lock import fault_of_cases, fault_of_tests
from check.own_spec import check_my_score
from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import LoggedRun, WantedRun, fault_of_readme, meets, read_logged_runs
from course.artifacts.records import PICK_SOURCE, RUBRIC_SOURCE, UPDATE_SOURCE
from course.datasets.files import LAB
from course.errors import UserError
from course.starting import PYTHON
from course.text import clipped, shell_word

_MISSING = "not done yet"
_OPERATORS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, ">=": operator.ge}
_WIDTH = 230  # of a sentence on a function: three lines of a terminal


class Step(NamedTuple):
    """One row of the table. Its fields are explained at the top of ``data/levels.toml``."""

    do: Sequence[str]
    run: str = ""
    conditions: Mapping[str, Any] = {}
    holds: Sequence[str] = ()
    otherwise: str = ""
    readme_of: str = ""
    page_of: str = ""
    lock: bool = False


class Function(NamedTuple):
    """What a level asks for: a file of ``exercises/``, how it is judged, its name in a run, and what locks it."""

    file: str
    name: str
    check: Callable[[Path], CheckResult]  # of the file wherever it lies
    kept: str
    fault_of_lock: Callable[[str, Path, Path], str]


Found = dict[str, list[LoggedRun]]  # step -> the runs that do it, the newest first
LEVELS: dict[str, dict[str, Step]] = {
    level: {name: Step(**row) for name, row in steps.items()}
    for level, steps in tomllib.loads((LAB / "data" / "levels.toml").read_text(encoding="utf-8")).items()
}
_check_pick_best = partial(check_functions, "pick_best")
_check_reinforce = partial(check_functions, "reinforce")
FUNCTIONS = {
    "level_1": Function("my_score.py", "score", check_my_score, RUBRIC_SOURCE, fault_of_cases),
    "level_2": Function("pick_best.py", "pick_best", _check_pick_best, PICK_SOURCE, fault_of_tests),
    "level_3": Function("reinforce.py", "reinforce_step", _check_reinforce, UPDATE_SOURCE, fault_of_tests),
}


def check_level(level: str) -> CheckResult:
    """Which steps of a level are done, and what is missing of the next one."""
    steps = LEVELS[level]
    log = [*read_logged_runs()]
    found: Found = {}
    done = 0
    fault = ""
    for name in steps:
        fault = _fault_of_step(level, name, log, found)
        if fault:
            break
        done += 1
    runs = [*dict.fromkeys(run.name for step_runs in found.values() for run in step_runs)]
    parts = {name: describe_step(level, name, found) for name in steps}
    short = f"{done} of {len(steps)} steps"
    if not fault:
        return CheckResult(TO_READ, f"{short}; your words are to be read", parts=parts, runs=runs)
    step = [*steps][done]
    lines = [] if fault == _MISSING else [f"{step}: {fault}"]
    is_begun = bool(done or lines)
    if level in FUNCTIONS and not found.get("sabotage"):  # from then on the file is spoiled on purpose
        function = _judge_function(level)
        is_begun = is_begun or function.state != NOT_STARTED
        if done and function.lines:
            lines.append(f"Is exercises/{FUNCTIONS[level].file} spoiled on purpose? Then measure it. As it stands:")
        lines += function.lines
        if function.state == "done" and not done and not lines:
            lines = [f"exercises/{FUNCTIONS[level].file} is right. Now measure with it."]
    state, short = ("started", f"{short}, {step} comes next") if is_begun else (NOT_STARTED, "")
    return CheckResult(state, short, lines, parts, runs, command=f"check {level} --id {step}")


def _judge_function(level: str) -> CheckResult:
    """The level's file as it is today, with lines that fit a terminal."""
    function = FUNCTIONS[level]
    path = Path("exercises") / function.file
    result = function.check(path)
    if result.state == NOT_STARTED:
        return result._replace(lines=[f"{path} is still to be written."])
    return result._replace(lines=[clipped(line, _WIDTH) for line in result.lines])


def _fault_of_step(level: str, name: str, log: Sequence[LoggedRun], found: Found) -> str:
    """Why a step is not done, in a sentence or two; an empty text if it is. ``found``: gets the runs that do it."""
    step = LEVELS[level][name]
    faults = []
    if step.readme_of:
        faults = [fault_of_readme(run) for run in found[step.readme_of]]
    elif step.page_of:
        has_page = any((LAB / run.name / "gate.html").is_file() for run in found[step.page_of])
        faults = ["" if has_page else _MISSING]
    elif step.lock:
        for sabotage, repair in product(reversed(found["sabotage"]), found["repair"]):  # a later one undoes no lock
            faults.append(_fault_of_lock(FUNCTIONS[level], LAB / sabotage.name, LAB / repair.name))
            if not faults[-1]:
                break
    else:
        wanted = WantedRun(step.run, step.conditions or {"change": f"{level} {name}"})
        found[name] = []
        for run in log:
            if meets(run, wanted):
                faults.append(_fault_of_run(step, run, found))
                if not faults[-1]:
                    found[name].append(run)
    return "" if "" in faults else next(iter(faults), _MISSING)


def _fault_of_lock(function: Function, sabotage: Path, repair: Path) -> str:
    """Why the file that a run kept is not whole, or not locked against the one that another kept."""
    try:
        repaired = repair / function.kept
        wrong = function.check(repaired).lines
        return wrong[0] if wrong else function.fault_of_lock(function.name, sabotage / function.kept, repaired)
    except UserError as error:  # of a file of tests or cases, or of one that does not load
        return str(error)


def _fault_of_run(step: Step, run: LoggedRun, found: Found) -> str:
    """Why a run does not do the step; an empty text if it does. Of earlier steps the last run before it counts."""
    if "--expect" in step.run and run.manifest.expect is None:
        return f"expected {run.name} to have a prediction, got none; measure again, with --expect and your number"
    for relation in step.holds:
        field, sign, operand = relation.split(" ")
        value = _facts_of(run).get(field)
        earlier, _, other = operand.partition(".")
        where = ""
        expected: Any = operand
        if earlier in found:
            base = next((one for one in found[earlier] if one.number < run.number), None)
            if base is None:
                return f"expected {run.name} to come after your {earlier}, got it before; run it again"
            expected = _facts_of(base)[other]
            where = f" as in {base.name}"
        elif re.fullmatch(r"[0-9.]+", operand):
            expected = float(operand)
        elif operand in _facts_of(run):
            expected = _facts_of(run)[operand]
        if value is None or not _OPERATORS[sign](value, expected):
            got = f"got {_shorten(value)} in {run.name}"
            return f"expected {field} {sign} {_shorten(expected)}{where}, {got}. {step.otherwise}"
    return ""


def _facts_of(run: LoggedRun) -> dict[str, Any]:
    """The digests of its files, its conditions, its settings and its numbers, each under its own name."""
    return {**run.manifest.outputs, **asdict(run.manifest), **run.manifest.settings, **run.summary}


def _shorten(value: object) -> str:
    if value is None:
        return "none"
    return f"{value:.6g}" if isinstance(value, float) else clipped(str(value), 32)


def describe_step(level: str, name: str, found: Found) -> str:
    """What to do for a step: sentences, and commands to paste, one per line."""
    step = LEVELS[level][name]
    lines = [*step.do, f"python3 -m {step.run}"] if step.run else step.do
    places = {}
    for one in LEVELS[level]:
        places[one] = shell_word(Path(found[one][0].name)) if found.get(one) else f"runs/{level}_{one}"
    return "\n".join(line.format_map(places).replace("python3", PYTHON) for line in lines)
