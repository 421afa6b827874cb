"""Machinery: build, predict, sabotage, reflect, repair; a prediction is a probability, and is scored.

Covered
    Only a sabotage after the prediction counts, and the event is decided from the runs that the log has sealed.
Not covered
    What a run of that name measured. Whoever edits ``runs/predictions.json`` or the log. Both are the student's own, to
    learn from, and may be deleted.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from check.result import NOT_STARTED, CheckResult
from check.runs import read_logged_runs
from check.sheets import read_sheet
from course.artifacts import run_log
from course.artifacts.run_log import LogLine
from course.datasets.files import LAB, open_regular, write_whole
from course.errors import UserError, reason
from course.starting import PYTHON, program_name
from course.text import quote

LEVELS: dict[str, dict[str, Any]] = tomllib.loads((LAB / "data" / "levels.toml").read_text(encoding="utf-8"))
SHEET = Path("notes") / "levels.md"
_FEWEST_WORDS = 12  # words of a reflection
_KEPT = "predictions.json"  # beside the log of runs
# level -> a probability, and how many lines the log of runs had when it was given
_Predictions = dict[str, tuple[Annotated[float, Meta(ge=0, le=1)], Annotated[int, Meta(ge=0)]]]


def record_prediction(name: str, probability: float) -> str:
    """Keep how likely a student holds the level's event; says so. Raises UserError once a sabotage has followed one."""
    path = run_log.LOG.with_name(_KEPT)
    predictions = _read_predictions()
    _, late = _split_sabotages(name)
    if late:
        raise UserError(f"{name}: expected a prediction before the sabotage, got another after it; the first stays")
    predictions[name] = probability, len(run_log.read_log(run_log.LOG))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_whole(path, json.dumps(predictions).encode("ascii") + b"\n")
    except OSError as error:
        raise UserError(f"{path}: cannot write the prediction: {reason(error)}; nothing was changed") from None
    return f"recorded: {probability:g} that {LEVELS[name]['event']}; next: {program_name('check')} {name}"


def check_level(name: str) -> CheckResult:
    """Which of the five steps of a level are done, the next one, and what the predictions were worth."""
    numbers = _read_numbers(name)
    predictions = _read_predictions()
    reflection = read_sheet(SHEET, list(LEVELS))[name].text
    done = {
        "build": "build" in numbers,
        "predict": name in predictions,
        "sabotage": "sabotage" in numbers,
        "reflect": len(reflection.split()) >= _FEWEST_WORDS,
        "repair": "repair" in numbers and numbers["repair"] == numbers.get("build"),
    }
    left = [step for step in done if not done[step]]
    early, late = _split_sabotages(name)
    lines = [f"The event: {LEVELS[name]['event']}.", *_outcome_lines(name, numbers)]
    if early and not late:
        lines.append("Your sabotage came before your prediction, and does not count: run it again after it.")
    runs = [line.run for line, manifest, _ in read_logged_runs() if (manifest.change or "").startswith(f"{name} ")]
    details: dict[str, object] = {"runs": runs}
    if left:
        lines.append(f"Next: {left[0]}.")
        details["step"] = left[0]
    short = f"{len(done) - len(left)} of {len(done)} steps"
    if not left:
        state = "done"
    elif numbers or early or name in predictions:
        state = "started"
    else:
        state = NOT_STARTED
        short = ""
    return CheckResult(state, short, lines, {step: describe_step(name, step) for step in done}, details)


def _outcome_lines(name: str, numbers: Mapping[str, float]) -> list[str]:
    """Whether the event came about, and the Brier score of each prediction that is decided; nothing before that."""
    outcome = _outcome(name)
    if outcome is None:
        return []
    event = "came about" if outcome else "did not come about"
    scores = []
    words = []
    predictions = _read_predictions()
    for level in LEVELS:
        decided = _outcome(level)
        if level in predictions and decided is not None:
            probability, _ = predictions[level]
            score = (probability - decided) ** 2
            scores.append(score)
            words.append(f"{level} ({probability:g} - {decided})² = {score:.2f}")
    return [
        f"It {event}: {LEVELS[name]['number']} was {numbers['build']:.3f}, then {numbers['sabotage']:.3f}.",
        f"Brier scores: {'; '.join(words)}. Mean {mean(scores):.2f}; 0 is best, always saying 0.5 gets 0.25.",
    ]


def describe_step(name: str, step: str) -> str:
    """What to do for a step, a line each: sentences, and commands to be pasted."""
    if step == "predict":
        return f"Put your own probability in place of 0.5.\n{PYTHON} -m check {name} --predict 0.5"
    level = LEVELS[name]
    lines = []
    if f"before_{step}" in level:
        lines.append(level[f"before_{step}"].replace("python3", PYTHON))
    command = re.sub(r"(--\w+) (runs/\w+)", _number_folder, level[step])
    lines.append(f"{PYTHON} -m {command}")
    if step == "reflect":
        lines.append(f"Then write what you saw below ## {name} in {SHEET}.")
    return "\n".join(lines)


def _number_folder(match: re.Match[str]) -> str:
    """An option and its run, for --outdir the next free name, else the newest: runs/x, runs/x_2, runs/x_3."""
    option, newest = match.groups()
    free = newest
    number = 1
    while Path(free).exists():
        newest = free
        number += 1
        free = f"{match[2]}_{number}"
    return f"{option} {free if option == '--outdir' else newest}"


def _split_sabotages(name: str) -> tuple[list[LogLine], list[LogLine]]:
    """Those in the log that came before the level's prediction, and those since; only the latter count."""
    log = run_log.read_log(run_log.LOG)
    predictions = _read_predictions()
    start = len(log)
    if name in predictions:
        _, start = predictions[name]
    change = f"{name} sabotage"
    early = [line for line in log[:start] if line.change == change]
    late = [line for line in log[start:] if line.change == change]
    return early, late


def _read_numbers(name: str) -> dict[str, float]:
    """Step -> the level's number in the newest run of that step; of sabotages, those since the prediction."""
    level = LEVELS[name]
    _, late = _split_sabotages(name)
    numbers: dict[str, float] = {}
    for line, manifest, summary in read_logged_runs():
        change, _, step = (manifest.change or "").rpartition(" ")
        command = str(level.get(step, "")).split(" ")[0]
        value = summary.get(level["number"])
        if (change, manifest.command) != (name, command):
            continue
        if step == "sabotage" and line not in late:
            continue
        if isinstance(value, int | float):
            numbers.setdefault(step, value)
    return numbers


def _outcome(name: str) -> int | None:
    """1 if the event came about, 0 if it did not, None as long as a run is missing."""
    numbers = _read_numbers(name)
    if "build" not in numbers or "sabotage" not in numbers:
        return None
    return int(numbers["build"] - numbers["sabotage"] > LEVELS[name]["points"] / 100)


def _read_predictions() -> _Predictions:
    path = run_log.LOG.with_name(_KEPT)
    try:
        with open_regular(path) as file:
            return msgspec.json.decode(file.read(1 << 16), type=_Predictions)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: expected levels and probabilities, got: {quote(str(error))}; delete it") from None
