"""Machinery: a level, from its build to its lock, in the order in which the log of runs has its steps.

A prediction is a probability, and is scored. What each step has to show stands in ``check/level_steps.py``.

Covered
    A sabotage before its prediction, also where its folder was deleted; a repair before its sabotage, a run of that
    name with another file, an edited run.
    A reflection without the numbers of the student's own runs after their names, or with a list of many numbers.
Not covered
    Whether a reflection explains anything: a teacher reads it. Whoever edits ``runs/predictions.json`` or writes a log
    of their own. Both are the student's, to learn from, and may be deleted.
    A sabotage that was seen before its prediction under another --change, with a comment more in its file, or with its
    folder deleted and another --expect. These cheat the student of their own score only.
"""

import json
import re
import tomllib
from pathlib import Path
from statistics import mean
from string import punctuation
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from check.level_functions import FUNCTIONS_OF, UNWRITTEN, faults_of_function
from check.level_steps import (
    ONE_RUN,
    OUTCOMES,
    STEPS,
    History,
    differing_choices,
    digests_that_noticed,
    what_was_spoiled,
)
from check.result import NOT_STARTED, TO_READ, CheckResult
from check.runs import LoggedRun, names_number, read_logged_runs
from check.sheets import read_sheet
from course.artifacts import run_log
from course.datasets.files import LAB, open_regular, write_whole
from course.errors import UserError, reason
from course.starting import PYTHON, program_name
from course.text import quote

LEVELS: dict[str, dict[str, Any]] = tomllib.loads((LAB / "data" / "levels.toml").read_text(encoding="utf-8"))
SHEET = Path("notes") / "levels.md"
PREDICT = "predict"
REFLECT = "reflect"
_KEPT = "predictions.json"  # beside the log of runs
# level -> a probability, and how many lines the log of runs had when it was given
_Predictions = dict[str, tuple[Annotated[float, Meta(ge=0, le=1)], Annotated[int, Meta(ge=0)]]]
_MISSING = "not done yet"
_WITHOUT_A_RUN = ("gate", "lock")  # steps of which no run says whether they were begun
_FEWEST = 12  # different words of a reflection


def list_steps(name: str) -> list[str]:
    """The steps of a level in their order: those of its table, and the prediction after the build."""
    steps = [step for step in LEVELS[name] if step not in ("title", "event")]
    return [steps[0], PREDICT, *steps[1:]]


def record_prediction(name: str, probability: float) -> str:
    """Store the probability that a student gives the level's event, and return a line that confirms it.

    Raises UserError if a sabotage came after an earlier prediction.
    """
    path = run_log.LOG.with_name(_KEPT)
    predictions = _read_predictions()
    if name in predictions and any(number >= predictions[name][1] for number, _ in _lines_of(name, "sabotage")):
        raise UserError(f"{name}: expected a prediction before the sabotage, got another after it; the earlier stays")
    predictions[name] = probability, len(run_log.read_log(run_log.LOG))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_whole(path, json.dumps(predictions).encode("ascii") + b"\n")
    except OSError as error:
        raise UserError(f"{path}: cannot write the prediction: {reason(error)}; nothing was changed") from None
    return f"recorded: {probability:g} that {LEVELS[name]['event']}; next: {program_name('check')} {name}"


def check_level(name: str, seed: int = 0) -> CheckResult:
    """Which steps of a level are done, why the next one is not, and what the predictions were worth.

    ``seed``: of what is asked of the student's function.
    """
    steps = list_steps(name)
    history = _read_history(name, seed)
    done = 0
    fault = ""
    for step in steps:
        fault = _fault_of_step(name, step, history)
        if fault:
            break
        done += 1
    is_written = False
    if history is None and name in FUNCTIONS_OF:
        faults = faults_of_function(name, None, seed)
        fault = "\n".join(faults) or fault
        is_written = not faults
    parts = {step: describe_step(name, step) for step in steps}
    lines = _outcome_lines(name, seed)
    details: dict[str, object] = {}
    if history:
        runs = [history.build, *history.sabotages, *history.trainings, *history.repairs]
        details["runs"] = [run.name for run in runs]
    short = f"{done} of {len(steps)} steps"
    if not fault:
        return CheckResult(TO_READ, f"{short}; your words are to be read", lines, parts, details)
    step = steps[done]
    details["step"] = step
    command = f"check {name} --id {step}"
    if fault != _MISSING:
        lines = [f"{line.rstrip('.')}." for line in f"{step}: {fault}".split("\n")]
    elif is_written:
        lines = [f"exercises/{FUNCTIONS_OF[name][0]} is right. Now measure with it."]
    if not history and name not in _read_predictions() and (fault == _MISSING or UNWRITTEN in fault):
        state = "started" if is_written else NOT_STARTED
        return CheckResult(state, short if is_written else "", lines, parts, details, command=command)
    if fault != _MISSING:
        is_open = step in _WITHOUT_A_RUN or fault == ONE_RUN
        short += f", {step} comes next" if is_open else f", {step} is not right"
    return CheckResult("started", short, lines, parts, details, command=command)


def _fault_of_step(name: str, step: str, history: History | None) -> str:
    """Why a step is not done, or an empty text if it is done. The steps before it are done."""
    if step == PREDICT:
        return "" if name in _read_predictions() else _MISSING
    if history is None:
        return _MISSING
    if step == "sabotage":
        fault = _fault_of_order(name, history)
        if fault:
            return fault
    if step == "train" and not history.trainings:
        return _MISSING
    if step == "repair" and not history.repairs:
        if _read_runs(name, "repair", 0):
            return "your repair came before your sabotage and does not count; run it again"
        return _MISSING
    if step == REFLECT:
        return _fault_of_reflection(name, history)
    return STEPS[name][step](history)


def _fault_of_order(name: str, history: History) -> str:
    """Why there is no sabotage yet that its student did not know before the prediction; an empty text if there is.

    The lines of the log decide, because a folder can be deleted when its numbers are known.
    """
    predictions = _read_predictions()
    if name not in predictions:
        return _MISSING
    _, start = predictions[name]
    early = [line for number, line in _lines_of(name, "sabotage") if number < start]
    if not history.sabotages:
        if early:
            return "your sabotage came before your prediction and does not count; spoil something else"
        return _MISSING
    sabotage = history.sabotage
    runs = [run for run in _read_runs(name, "sabotage", 0) if run.number < start]
    is_known = any(what_was_spoiled(run) == what_was_spoiled(sabotage) for run in runs)
    digest = run_log.read_log(run_log.LOG)[sabotage.number].manifest
    if is_known or any(line.manifest == digest for line in early):
        return "you measured this sabotage before your prediction, and know how it ends; spoil something else"
    return ""


def _fault_of_reflection(name: str, history: History) -> str:
    """Why the reflection is not done: words are missing, or what it has to say of the build and of a spoiled run."""
    text = read_sheet(SHEET, list(LEVELS))[name].text
    if not text:
        return _MISSING
    words = {word for token in text.lower().split() if (word := token.strip(punctuation)).isalpha()}
    if len(words) < _FEWEST:
        return f"{SHEET}, {name}: expected {_FEWEST} different words or more that say why, got {len(words)}"
    key = OUTCOMES[name].number
    for runs in ([history.build], history.sabotages):
        if not any(names_number(text, run, run.summary[key]) for run in runs):
            run = runs[-1]
            return f"{SHEET}, {name}: expected {run.folder}, followed by its {key}, got neither or another number"
    if name == "level_0":
        pairs = digests_that_noticed(history)
        if not any(before in text and after in text for before, after in pairs):
            expected = "expected the two digests of the dataset that the gate's REJECT names, eight characters of each"
            return f"{SHEET}, {name}: {expected}; those of the runs, as in the log, do not count"
    if name == "level_2" and not any(id_ in text for id_ in differing_choices(history)):
        return f"{SHEET}, {name}: expected the id of a prompt whose choice changed between your last two spoiled runs"
    return ""


def _outcome_lines(name: str, seed: int) -> list[str]:
    """The event; once it is decided whether it came about, and the Brier score of each prediction that is decided."""
    outcome = _outcome(name, seed)
    event = LEVELS[name]["event"]
    if outcome is None:
        return [f"The event: {event}."]
    scores = []
    words = []
    predictions = _read_predictions()
    for level in LEVELS:
        decided = _outcome(level, seed)
        if level in predictions and decided is not None:
            probability, _ = predictions[level]
            score = (probability - decided) ** 2
            scores.append(score)
            words.append(f"{level} ({probability:g} - {decided})² = {score:.2f}")
    return [
        f"It {'came about' if outcome else 'did not come about'}: {event}.",
        f"Brier scores: {'; '.join(words)}. Mean {mean(scores):.2f}; 0 is best, always saying 0.5 gets 0.25.",
    ]


def describe_step(name: str, step: str) -> str:
    """What to do for a step: sentences, and commands to paste, one per line."""
    if step == PREDICT:
        event = f"The event: {LEVELS[name]['event']}."
        return f"{event}\nPut your own probability in place of 0.5.\n{PYTHON} -m check {name} --predict 0.5"
    table = LEVELS[name][step]
    lines = [line.replace("python3", PYTHON) for line in table["do"]]
    for command in table["run"]:
        numbered = re.sub(r"(--\w+) (runs/\w+)", _number_folder, command)
        lines.append(f"{PYTHON} -m {numbered}")
    return "\n".join(lines)


def _number_folder(match: re.Match[str]) -> str:
    """An option and its run: the next free of runs/x, runs/x_2, … for --outdir, the newest for any other."""
    option, newest = match.groups()
    free = newest
    number = 1
    while Path(free).exists():
        newest = free
        number += 1
        free = f"{match[2]}_{number}"
    return f"{option} {free if option == '--outdir' else newest}"


def _read_history(name: str, seed: int) -> History | None:
    """The runs that count, to be judged with this seed; None without a build."""
    predictions = _read_predictions()
    sabotages: list[LoggedRun] = []
    if name in predictions:
        _, start = predictions[name]
        sabotages = _read_runs(name, "sabotage", start)
    first = sabotages[0].number if sabotages else len(run_log.read_log(run_log.LOG))
    builds = [run for run in _read_runs(name, "build", 0) if run.number < first]
    if not builds:
        return None
    if not sabotages:
        return History(builds[-1], [], seed=seed)
    last = sabotages[-1].number
    return History(
        build=builds[-1],
        sabotages=sabotages,
        trainings=_read_runs(name, "train", first),
        repairs=_read_runs(name, "repair", last),
        seed=seed,
    )


def _read_runs(name: str, step: str, start: int) -> list[LoggedRun]:
    """The runs of a step, from this line of the log on, the newest last. What ``--change`` says is the run's own."""
    commands = _commands_of(name, step)
    runs = [
        run
        for run in read_logged_runs()
        if run.number >= start and run.manifest.change == f"{name} {step}" and run.manifest.command in commands
    ]
    return runs[::-1]


def _lines_of(name: str, step: str) -> list[tuple[int, run_log.LogLine]]:
    """The lines of the log that are of a step, with their places from 0; the run of a line may be gone."""
    commands = _commands_of(name, step)
    log = enumerate(run_log.read_log(run_log.LOG))
    return [(number, line) for number, line in log if line.change == f"{name} {step}" and line.command in commands]


def _commands_of(name: str, step: str) -> set[str]:
    """The commands whose runs a step has; none where the level lacks the step."""
    commands = LEVELS[name][step]["run"] if step in LEVELS[name] else []
    return {command.split(" ")[0] for command in commands}


def _outcome(name: str, seed: int) -> int | None:
    """1 if the event came about, 0 if it did not, None as long as a run is missing or is not what it should be."""
    history = _read_history(name, seed)
    if history is None:
        return None
    outcome = OUTCOMES[name]
    for step in ("build", "sabotage", outcome.last):
        if _fault_of_step(name, step, history):
            return None
    return int(outcome.event(history))


def _read_predictions() -> _Predictions:
    path = run_log.LOG.with_name(_KEPT)
    try:
        with open_regular(path) as file:
            return msgspec.json.decode(file.read(1 << 16), type=_Predictions)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: expected levels and probabilities, got: {quote(str(error))}; delete it") from None
