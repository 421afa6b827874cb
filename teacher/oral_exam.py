"""Machinery: a sheet for the ten-minute exam, its questions tied to the numbers of the student's own runs.

    python3 -m teacher.oral_exam --submission handed-in/anna.zip

Covered
    Only runs that are as they were published are quoted: manifest and summary have the digests that the student's log
    holds. The others are named.
Not covered
    A log that was written by hand together with its runs: ask for a second run with ``--seed``.
"""

import csv
import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from course.command import Parser, run_command
from course.datasets.files import LAB
from course.errors import UserError
from course.show.tables import wrap_sentence
from course.show.terminal import show
from course.text import one_line, quote, visible_path
from teacher.submissions import Refused, read_submission

_KL = ("beta", "mean_reward", "kl")  # of the columns of kl_tradeoff.csv
_QUOTED = 120  # characters of a student's text


def main() -> int:
    parser = Parser("teacher.oral_exam", "A sheet for the ten-minute exam, from what a student handed in.")
    parser.add_argument("--submission", type=Path, required=True, help="the student's folder or .zip")
    args = parser.parse_args()
    try:
        files = read_submission(args.submission)
    except Refused as error:
        raise UserError(f"{visible_path(args.submission)}: {error}") from None
    questions = tomllib.loads((LAB / "teacher" / "oral_exam.toml").read_text(encoding="utf-8"))["questions"]
    facts, left_out = facts_of(files)
    show(sheet(questions, facts, left_out))
    return 0


def facts_of(files: Mapping[str, bytes]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """A command's name -> the summary of its last run, with ``run``, ``change``, ``expect``, ``number``; then the runs
    that are not as the log has them.

    Besides: ``failure`` and ``other_failure``, rows of the last eval; ``tight`` and ``loose``, the rows with the most
    and the least penalty of the last kl_tradeoff_demo; ``predicted``, the last run with a prediction.
    """
    facts: dict[str, dict[str, Any]] = {}
    left_out = []
    for line in read_lines(files.get("runs/log.jsonl", b"")):
        if line.get("loop") == "":  # the design of an experiment, which is no run
            continue
        run = str(line.get("run"))
        command = str(line.get("command")).removeprefix("course.")
        summary = read_published_summary(files, run, line.get("manifest"))
        if summary is None:
            left_out.append(run)
            continue
        numbers = _mapping(line.get("number"))
        logged = {
            "run": run,
            "command": command,
            "number": ", ".join(f"{name} {make_safe(value)}" for name, value in numbers.items()) or None,
            "change": line.get("change"),
            "expect": line.get("expect"),
        }
        facts[command] = summary | logged
        if logged["expect"] and logged["number"]:
            facts["predicted"] = logged
        if command == "eval":
            facts |= find_failures(files.get(f"{run}/results.jsonl", b""))
        elif command == "kl_tradeoff_demo":
            facts |= find_extremes(files.get(f"{run}/kl_tradeoff.csv", b""))
    return {name: {key: make_safe(value) for key, value in fact.items()} for name, fact in facts.items()}, left_out


def find_failures(results: bytes) -> dict[str, dict[str, Any]]:
    """The first and the last row of an eval without a reward."""
    failed = [row | _mapping(row.get("details")) for row in read_lines(results) if row.get("reward") == 0]
    if not failed:
        return {}
    return {"failure": failed[0], "other_failure": failed[-1]}


def find_extremes(table: bytes) -> dict[str, dict[str, Any]]:
    """The rows of a table of penalties with the least and the most; none where it cannot be read."""
    try:
        rows = csv.DictReader(table.decode(errors="replace").split("\n"))
        numbers = [{key: float(row[key]) for key in _KL} for row in rows if row["beta"]]
    except (KeyError, ValueError, TypeError):
        return {}
    if not numbers:
        return {}
    by_beta = sorted(numbers, key=lambda row: row["beta"])
    return {"loose": by_beta[0], "tight": by_beta[-1]}


def read_published_summary(files: Mapping[str, bytes], run: str, digest: object) -> dict[str, Any] | None:
    """The run's summary, if manifest and summary are those that were published."""
    try:
        manifest = files[f"{run}/manifest.json"]
        summary = files[f"{run}/summary.json"]
        outputs = json.loads(manifest)["outputs"]
        if hashlib.sha256(manifest).hexdigest() != digest or "summary.json" not in outputs:
            return None
        for name, sha256 in outputs.items():
            if hashlib.sha256(files[f"{run}/{name}"]).hexdigest() != sha256:
                return None
        return _mapping(json.loads(summary))
    except (AttributeError, KeyError, ValueError, TypeError, RecursionError):
        return None


def read_lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            yield _mapping(json.loads(line))


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def make_safe(value: object) -> Any:
    """A number as it is; anything else as one line that is safe to print; None, which fills no place, stays None."""
    if value is None or type(value) in (int, float):
        return value
    return one_line(str(value), _QUOTED)


def sheet(questions: list[dict[str, Any]], facts: Mapping[str, Mapping[str, Any]], left_out: list[str]) -> str:
    """The exam, ready to print. A question whose numbers are not there is asked without."""
    lines = ["Ten minutes, in the student's own words; a question that is answered well needs no second one.", ""]
    for number, question in enumerate(questions, 1):
        lines.append(f"{number}. {question['ask']}")
        own = fill_templates(question["own"], facts)
        if own:
            lines.append(own[0])
        lines += [f"- listen for: {text}" for text in fill_templates(question["listen"], facts)]
        lines += [f"- if it sounds right: {question['probe']}", ""]
    if left_out:
        runs = ", ".join(quote(run) for run in left_out[:10])
        lines.append(f"Not quoted, since they are not there as the log has them: {runs}")
    return "\n".join(wrap_sentence(line) if line else "" for line in lines)


def fill_templates(templates: Sequence[str], facts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The texts with their places filled; one is left out where a fact is missing, or is no number but has to be."""
    known = {name: {key: value for key, value in fact.items() if value is not None} for name, fact in facts.items()}
    texts = []
    for template in templates:
        with suppress(KeyError, ValueError, TypeError):
            texts.append(template.format_map(known))
    return [text for text in texts if text]


if __name__ == "__main__":
    run_command(main)
