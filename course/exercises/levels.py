"""Machinery: build, predict, sabotage, reflect, repair; a prediction is a probability, and is scored.

Covered
    Only a sabotage after its prediction counts, and the event is decided from the runs that the log has sealed.
Not covered
    Whoever edits ``runs/predictions.json`` or the log. Both are the student's own, to learn from, and may be deleted.
"""

import json
import tomllib
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from course.artifacts import run_log
from course.datasets.files import LAB, open_regular
from course.errors import UserError
from course.exercises.runs import logged_runs
from course.exercises.sheets import read_sheet
from course.reports.check import Checked
from course.starting import PYTHON
from course.text import quoted

LEVELS: dict[str, dict[str, Any]] = tomllib.loads((LAB / "data" / "levels.toml").read_text(encoding="utf-8"))
SHEET = Path("notes") / "levels.md"
_FEWEST_WORDS = 12  # words of a reflection
_Kept = tuple[Annotated[float, Meta(ge=0, le=1)], Annotated[int, Meta(ge=0)]]


def record_prediction(name: str, probability: float) -> str:
    """Keep how likely a student holds the event; says what was kept. Raises UserError once a sabotage counts."""
    if _sabotages(name, later=True):
        raise UserError(f"{name}: expected a prediction before the sabotage, got one after: see {run_log.LOG}")
    path = _predictions_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = _predictions() | {name: (probability, len(run_log.read_log(run_log.LOG)))}
    path.write_text(json.dumps(kept) + "\n", encoding="utf-8", newline="\n")
    return f"recorded: {probability:g} that {LEVELS[name]['event']}; next: {PYTHON} -m course.check {name}"


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
    parts = {step: f"{level.get(f'before_{step}', '')}\n{_typed(name, step)}".strip() for step in done}
    lines = [f"The event: {level['event']}."]
    if (outcome := _outcome(name)) is not None:
        fell = f"{level['number']} was {number['build']:.3f}, then {number['sabotage']:.3f}"
        lines.append(f"It {'came about' if outcome else 'did not come about'}: {fell}.")
    if outcome is not None and name in predicted:
        decided = {
            one: (predicted[one], now) for one in LEVELS if one in predicted and (now := _outcome(one)) is not None
        }
        scores = [f"{one} ({p:g} - {now})² = {(p - now) ** 2:.2f}" for one, (p, now) in decided.items()]
        average = mean((p - now) ** 2 for p, now in decided.values())
        lines.append(f"Brier scores: {'; '.join(scores)}. Mean {average:.2f}; 0 is best, always saying 0.5 gets 0.25.")
    if _sabotages(name, later=False) and not _sabotages(name, later=True):
        lines.append("A sabotage before its prediction does not count: predict, then run it again, in another folder.")
    if left:
        lines.append(f"Next: {left[0]}. {PYTHON} -m course.check {name} --id {left[0]} shows what to type.")
    if not number and name not in predicted:
        return Checked("not started", "", lines, parts)
    return Checked("started" if left else "done", f"{len(done) - len(left)} of {len(done)} steps", lines, parts)


def _typed(name: str, step: str) -> str:
    if step == "predict":
        return f"{PYTHON} -m course.check {name} --predict 0.5\nwith your own probability in place of 0.5"
    after = f"\nthen write what you saw below ## {name} in {SHEET}" if step == "reflect" else ""
    folder = shipped = f"runs/{name}_{step}"
    while Path(folder).exists():  # no run is written over
        folder += "_2"
    return f"{PYTHON} -m {LEVELS[name][step].replace(shipped, folder)}{after}"


def _sabotages(name: str, *, later: bool) -> set[str]:
    """The runs of the level's sabotage that the log names; with ``later`` those after the prediction alone."""
    lines = run_log.read_log(run_log.LOG)
    _, seen = _predictions().get(name, (None, len(lines)))
    return {line.run for line in lines[seen if later else 0 :] if line.change == f"{name} sabotage"}


def _numbers(name: str) -> dict[str, float]:
    """Step -> the level's number in the newest run of that step."""
    found, counted = dict[str, float](), _sabotages(name, later=True)
    for line, manifest, summary in logged_runs():
        level, _, step = (manifest.change or "").rpartition(" ")
        command, value = str(LEVELS[name].get(step, "")).split(" ")[0], summary.get(LEVELS[name]["number"])
        counts = step != "sabotage" or line.run in counted
        if counts and (level, manifest.command) == (name, command) and isinstance(value, int | float):
            found.setdefault(step, value)
    return found


def _outcome(name: str) -> int | None:
    """1 if the event came about, 0 if it did not, None as long as a run is missing."""
    number = _numbers(name)
    if not {"build", "sabotage"} <= number.keys():
        return None
    return int(number["build"] - number["sabotage"] > LEVELS[name]["points"] / 100)


def _predictions_path() -> Path:
    return run_log.LOG.with_name("predictions.json")


def _predictions() -> dict[str, _Kept]:
    """Level -> how likely its event was held, and how many lines the log of runs had then."""
    path = _predictions_path()
    try:
        with open_regular(path) as file:
            return msgspec.json.decode(file.read(1 << 16), type=dict[str, _Kept])
    except FileNotFoundError:
        return {}
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: expected levels and probabilities, got: {quoted(str(error))}; delete it") from None
