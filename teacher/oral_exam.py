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
from collections.abc import Iterator, Mapping
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
    for line in _lines(files.get("runs/log.jsonl", b"")):
        run, command = str(line.get("run")), str(line.get("command")).removeprefix("course.")
        summary = _published(files, run, line.get("manifest"))
        if summary is None:
            left_out.append(run)
            continue
        number = ", ".join(f"{name} {_safe(value)}" for name, value in _mapping(line.get("number")).items())
        said = {"run": run, "command": command, "number": number or None}
        said |= {name: line.get(name) for name in ("change", "expect")}
        facts[command] = summary | said
        if said["expect"] and number:
            facts["predicted"] = said
        if command == "eval":
            rows = _lines(files.get(f"{run}/results.jsonl", b""))
            failed = [row | _mapping(row.get("details")) for row in rows if row.get("reward") == 0]
            facts |= dict(zip(("failure", "other_failure"), [*failed[:1], *failed[-1:]], strict=False))
        elif command == "kl_tradeoff_demo":
            table = csv.DictReader(files.get(f"{run}/kl_tradeoff.csv", b"").decode(errors="replace").split("\n"))
            with suppress(KeyError, ValueError, TypeError):
                rows = ({key: float(row[key]) for key in _KL} for row in table if row["beta"])
                by_beta = sorted(rows, key=lambda row: row["beta"])
                facts |= dict(zip(("loose", "tight"), [*by_beta[:1], *by_beta[-1:]], strict=False))
    return {name: {key: _safe(value) for key, value in fact.items()} for name, fact in facts.items()}, left_out


def _published(files: Mapping[str, bytes], run: str, digest: object) -> dict[str, Any] | None:
    """The run's summary, if manifest and summary are those that were published."""
    with suppress(KeyError, ValueError, TypeError, RecursionError):
        manifest, summary = files[f"{run}/manifest.json"], files[f"{run}/summary.json"]
        outputs = json.loads(manifest)["outputs"]
        whole = all(hashlib.sha256(files[f"{run}/{name}"]).hexdigest() == sha for name, sha in outputs.items())
        if whole and hashlib.sha256(manifest).hexdigest() == digest and "summary.json" in outputs:
            return _mapping(json.loads(summary))
    return None


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        with suppress(ValueError, RecursionError):
            yield _mapping(json.loads(line))


def _mapping(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _safe(value: object) -> Any:
    """A number as it is; anything else as one line that is safe to print; None, which fills no place, stays None."""
    return value if value is None or type(value) in (int, float) else one_line(str(value), _QUOTED)


def sheet(questions: list[dict[str, Any]], facts: Mapping[str, Mapping[str, Any]], left_out: list[str]) -> str:
    """The exam, ready to print. A question whose numbers are not there is asked without."""
    lines = ["Ten minutes, in the student's own words; a question that is answered well needs no second one.", ""]
    for number, question in enumerate(questions, 1):
        filled = [text for template in question["own"] if (text := _filled(template, facts))]
        lines += [f"{number}. {question['ask']}", *filled[:1]]
        lines += [f"- listen for: {text}" for one in question["listen"] if (text := _filled(one, facts))]
        lines += [f"- if it sounds right: {question['probe']}", ""]
    runs = ", ".join(quote(run) for run in left_out[:10])
    lines += [f"Not quoted, since they are not there as the log has them: {runs}"] if left_out else []
    return "\n".join(wrap_sentence(line) if line else "" for line in lines)


def _filled(template: str, facts: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The text with its places filled; None where a fact is missing, or is no number where one belongs."""
    known = {name: {key: one for key, one in fact.items() if one is not None} for name, fact in facts.items()}
    try:
        return template.format_map(known)
    except (KeyError, ValueError, TypeError):
        return None


if __name__ == "__main__":
    run_command(main)
