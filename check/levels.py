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
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from check.report import Checked
from check.runs import logged_runs
from check.sheets import read_sheet
from course.artifacts import run_log
from course.artifacts.run_log import LogLine
from course.datasets.files import LAB, open_regular, write_whole
from course.errors import UserError, reason
from course.show.terminal import command_line
from course.starting import PYTHON
from course.text import quote

LEVELS: dict[str, dict[str, Any]] = tomllib.loads((LAB / "data" / "levels.toml").read_text(encoding="utf-8"))
SHEET = Path("notes") / "levels.md"
_FEWEST_WORDS = 12  # words of a reflection
_KEPT = "predictions.json"  # beside the log of runs
# level -> a probability, and how many lines the log of runs had when it was given
_Predictions = dict[str, tuple[Annotated[float, Meta(ge=0, le=1)], Annotated[int, Meta(ge=0)]]]


def record_prediction(name: str, probability: float) -> str:
    """Keep how likely a student holds the level's event; says so. Raises UserError once a sabotage has followed one."""
    path, known = run_log.LOG.with_name(_KEPT), _predictions()
    if _sabotages(name)[1]:
        raise UserError(f"{name}: expected a prediction before the sabotage, got another after it; the first stays")
    known[name] = probability, len(run_log.read_log(run_log.LOG))
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        write_whole(path, json.dumps(known).encode("ascii") + b"\n")
    except OSError as error:
        raise UserError(f"{path}: cannot write the prediction: {reason(error)}; nothing was changed") from None
    return f"recorded: {probability:g} that {LEVELS[name]['event']}; next: {PYTHON} -m check {name}"


def check_level(name: str) -> Checked:
    """Which of the five steps of a level are done, the next one, and what the predictions were worth."""
    level, number, predicted = LEVELS[name], _numbers(name), {one: p for one, (p, _) in _predictions().items()}
    done = {
        "build": "build" in number,
        "predict": name in predicted,
        "sabotage": "sabotage" in number,
        "reflect": len(read_sheet(SHEET, list(LEVELS))[name].text.split()) >= _FEWEST_WORDS,
        "repair": "repair" in number and number["repair"] == number.get("build"),
    }
    left = [step for step in done if not done[step]]
    parts = {step: _typed(name, step) for step in done}
    lines = [f"The event: {level['event']}."]
    if (outcome := _outcome(name)) is not None:
        fell = f"{level['number']} was {number['build']:.3f}, then {number['sabotage']:.3f}"
        lines.append(f"It {'came about' if outcome else 'did not come about'}: {fell}.")
        decided = {
            one: (predicted[one], now) for one in LEVELS if one in predicted and (now := _outcome(one)) is not None
        }
        scores = [f"{one} ({p:g} - {now})² = {(p - now) ** 2:.2f}" for one, (p, now) in decided.items()]
        average = mean((p - now) ** 2 for p, now in decided.values())
        lines.append(f"Brier scores: {'; '.join(scores)}. Mean {average:.2f}; 0 is best, always saying 0.5 gets 0.25.")
    early, since = _sabotages(name)
    if early and not since:
        lines.append("Your sabotage came before your prediction, and does not count: run it again after it.")
    lines += [f"Next: {step}." for step in left[:1]]
    if not left:
        state = "done"
    elif number or early or name in predicted:
        state = "started"
    else:
        state = "not started"
    short = "" if state == "not started" else f"{len(done) - len(left)} of {len(done)} steps"
    runs = [line.run for line, manifest, _ in logged_runs() if (manifest.change or "").startswith(f"{name} ")]
    return Checked(state, short, lines, parts, {"runs": runs} | ({"step": left[0]} if left else {}))


def _typed(name: str, step: str) -> str:
    """What to do for a step: sentences, and commands to be pasted."""
    if step == "predict":
        return f"Put your own probability in place of 0.5.\n{PYTHON} -m check {name} --predict 0.5"
    before = LEVELS[name].get(f"before_{step}", "").replace("python3", PYTHON)
    after = f"\nThen write what you saw below ## {name} in {SHEET}." if step == "reflect" else ""
    words = re.sub(r"(--\w+) (runs/\w+)", _numbered, LEVELS[name][step]).split(" ")
    return f"{before}\n{command_line(words)}{after}".lstrip()


def _numbered(found: re.Match[str]) -> str:
    """An option and its run, for --outdir the next free name, else the newest: runs/x, runs/x_2, runs/x_3."""
    option, name = found.groups()
    names = [name, *(f"{name}_{i}" for i in range(2, 99))]
    taken = sum(Path(one).exists() for one in names)
    return f"{option} {names[taken if option == '--outdir' else max(taken - 1, 0)]}"


def _sabotages(name: str) -> tuple[list[LogLine], list[LogLine]]:
    """Those in the log that came before the level's prediction, and those since; only the latter count."""
    log = run_log.read_log(run_log.LOG)
    _, start = _predictions().get(name, (0.0, len(log)))
    found = [(at, line) for at, line in enumerate(log) if line.change == f"{name} sabotage"]
    return [line for at, line in found if at < start], [line for at, line in found if at >= start]


def _numbers(name: str) -> dict[str, float]:
    """Step -> the level's number in the newest run of that step; of sabotages, those since the prediction."""
    found: dict[str, float] = {}
    for line, manifest, summary in logged_runs():
        level, _, step = (manifest.change or "").rpartition(" ")
        command, value = str(LEVELS[name].get(step, "")).split(" ")[0], summary.get(LEVELS[name]["number"])
        ours = (level, manifest.command) == (name, command) and (step != "sabotage" or line in _sabotages(name)[1])
        if ours and isinstance(value, int | float):
            found.setdefault(step, value)
    return found


def _outcome(name: str) -> int | None:
    """1 if the event came about, 0 if it did not, None as long as a run is missing."""
    number = _numbers(name)
    if not {"build", "sabotage"} <= number.keys():
        return None
    return int(number["build"] - number["sabotage"] > LEVELS[name]["points"] / 100)


def _predictions() -> _Predictions:
    path = run_log.LOG.with_name(_KEPT)
    try:
        with open_regular(path) as file:
            return msgspec.json.decode(file.read(1 << 16), type=_Predictions)
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: expected levels and probabilities, got: {quote(str(error))}; delete it") from None
