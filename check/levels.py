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
from check.lock import Files, fault_of_pick_tests, fault_of_rubric_tests, fault_of_step_tests
from check.own_spec import check_my_score
from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import LoggedRun, WantedRun, fault_of_readme, meets, read_logged_runs
from course.artifacts.records import PICK_SOURCE, RUBRIC_SOURCE, UPDATE_SOURCE
from course.datasets.files import LAB
from course.starting import PYTHON
from course.text import clipped

_MISSING = "not done yet"
_OPERATORS = {"==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, ">=": operator.ge}
_WIDTH = 230  # of a sentence on a function: three lines of a terminal
_TESTS = Path("tests")


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
    check: Callable[[Path, int], CheckResult]
    kept: str
    fault_of_tests: Callable[[Files], str]


Found = dict[str, list[LoggedRun]]  # step -> the runs that do it, the newest first
LEVELS: dict[str, dict[str, Step]] = {
    level: {name: Step(**row) for name, row in steps.items()}
    for level, steps in tomllib.loads((LAB / "data" / "levels.toml").read_text(encoding="utf-8")).items()
}
FUNCTIONS = {
    "level_1": Function(
        "my_score.py",
        check_my_score,
        RUBRIC_SOURCE,
        partial(fault_of_rubric_tests, _TESTS / "test_rubric.py", Path("exercises") / "exploits.jsonl"),
    ),
    "level_2": Function(
        "pick_best.py", check_functions, PICK_SOURCE, partial(fault_of_pick_tests, _TESTS / "test_pick_best.py")
    ),
    "level_3": Function(
        "reinforce.py", check_functions, UPDATE_SOURCE, partial(fault_of_step_tests, _TESTS / "test_reinforce.py")
    ),
}


def check_level(level: str, seed: int = 0) -> CheckResult:
    """Which steps of a level are done, and what is missing of the next one. ``seed``: of what the function is asked."""
    steps = LEVELS[level]
    log = [*read_logged_runs()]
    found: Found = {}
    fault = ""
    done = 0
    for name in steps:
        fault = _fault_of_step(level, name, log, found)
        if fault:
            break
        done += 1
    runs = dict.fromkeys(run.name for step_runs in found.values() for run in step_runs)
    details: dict[str, object] = {"runs": [*runs]} if runs else {}
    parts = {name: describe_step(level, name, found) for name in steps}
    short = f"{done} of {len(steps)} steps"
    if not fault:
        return CheckResult(TO_READ, f"{short}; your words are to be read", parts=parts, numbers=details)
    step = [*steps][done]
    details["step"] = step
    lines = [] if fault == _MISSING else [f"{step}: {fault}"]
    is_begun = bool(done or lines)
    if level in FUNCTIONS and not found.get("sabotage"):  # from then on the file is spoiled on purpose
        function = _judge_function(level, seed)
        is_begun = is_begun or function.state != NOT_STARTED
        if done and function.lines:
            lines.append(f"Is exercises/{FUNCTIONS[level].file} spoiled on purpose? Then measure it. As it stands:")
        lines += function.lines
    command = f"check {level} --id {step}"
    if not is_begun:
        return CheckResult(NOT_STARTED, lines=lines, parts=parts, command=command)
    return CheckResult("started", f"{short}, {step} comes next", lines, parts, details, command=command)


def _judge_function(level: str, seed: int) -> CheckResult:
    """The level's file as it is today, with lines that fit a terminal."""
    function = FUNCTIONS[level]
    path = Path("exercises") / function.file
    result = function.check(path, seed)
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
        function = FUNCTIONS[level]
        spoiled = found["sabotage"][-1].read(function.kept)  # the first: a later one undoes no lock
        for repair in found["repair"]:
            faults.append(function.fault_of_tests(Files(spoiled, repair.read(function.kept))))
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


def _fault_of_run(step: Step, run: LoggedRun, found: Found) -> str:
    """Why a run does not do the step; an empty text if it does, compared with some runs of the earlier steps."""
    if "--expect" in step.run and run.manifest.expect is None:
        return f"expected {run.name} to have a prediction, got none; measure again, with --expect and your number"
    named = [relation.split(" ")[2].partition(".")[0] for relation in step.holds]
    earlier = {name: [one for one in found[name] if one.number < run.number] for name in named if name in found}
    for name, runs in earlier.items():
        if not runs:
            return f"expected {run.name} to come after your {name}, got it before; run it again"
    faults = []
    for some in product(*earlier.values()):
        bases = dict(zip(earlier, some, strict=True))
        faults.append(next((fault for relation in step.holds if (fault := _fault_of(relation, run, bases))), ""))
    return "" if "" in faults else f"{faults[0]}. {step.otherwise}"


def _fault_of(relation: str, run: LoggedRun, earlier: Mapping[str, LoggedRun]) -> str:
    """Why a relation does not hold, such as ``passes > build.passes``; an empty text if it does."""
    field, sign, operand = relation.split(" ")
    value = _facts_of(run).get(field)
    step, _, other = operand.partition(".")
    expected: Any = operand
    where = ""
    if step in earlier:
        expected = _facts_of(earlier[step])[other]
        where = f" as in {earlier[step].name}"
    elif re.fullmatch(r"[0-9.]+", operand):
        expected = float(operand)
    elif operand in _facts_of(run):
        expected = _facts_of(run)[operand]
    if value is not None and _OPERATORS[sign](value, expected):
        return ""
    return f"expected {field} {sign} {_shorten(expected)}{where}, got {_shorten(value)} in {run.name}"


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
    places = {one: runs[0].name if (runs := found.get(one)) else f"runs/{level}_{one}" for one in LEVELS[level]}
    return "\n".join(line.format_map(places).replace("python3", PYTHON) for line in lines)
