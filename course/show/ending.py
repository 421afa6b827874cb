"""Machinery: the one ending of a run: manifest, README, line in the log of runs, what is printed when all is on disk.

Every command that leaves a run ends here, so that what a run holds is decided in one place.
"""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course.artifacts import run_log
from course.artifacts.conditions import Conditions, holdouts_measured, manifest_of
from course.artifacts.locked_room import room_digest
from course.artifacts.prediction import main_number
from course.artifacts.records import RESULTS, SUMMARY, json_for_terminal
from course.artifacts.run_log import LogLine, log_lock, looks, read_log
from course.artifacts.writing import RunWriter
from course.errors import written_runs
from course.show.readme import prediction, run_readme
from course.show.terminal import command_line, show
from course.text import shell_word, visible, visible_path

RUN = Path("{run}")  # in a next command: the run's folder
INSPECT = ("course.inspect_run", "--run", RUN, "--only-fails", "--top-k", "5")  # the next command after Loops A and B


def end_run(
    run: RunWriter,
    conditions: Conditions,
    summary: dict[str, Any],
    report: str,
    *,
    read: Sequence[str] = (),
    next_command: Sequence[str | Path] = (),
    shown: Sequence[str] = (),
    as_json: bool = False,
) -> Path:
    """Write the manifest, publish the run, and only then show ``report`` and where the run is. Returns the place.

    ``summary``: what summary.json holds. ``report``: also in the run's README, after what was ``shown`` already.
    ``read``: names of files to look at. ``next_command``: the words to type next after ``python3 -m``, the run's folder
    as ``RUN``. ``as_json``: print the run's place, digest, summary and manifest instead, as one JSON object.
    """
    if RESULTS not in run.outputs:
        raise ValueError(f"every run has {RESULTS}: {conditions.command} wrote none")
    run.write_json(SUMMARY, summary)
    manifest = manifest_of(conditions, run.outputs)
    digest = run.write_manifest(manifest)
    holdouts = holdouts_measured(conditions)
    line = LogLine(
        run="",
        manifest=digest,
        loop=conditions.loop,
        command=conditions.command,
        change=manifest.change,
        expect=manifest.expect,
        number=main_number(summary),
        room=room_digest(manifest) if conditions.loop != "C" else None,
        holdouts=holdouts,
    )
    with log_lock(run_log.LOG) as log:
        before = read_log(run_log.LOG)
        look = max([looks(before, holdout) + 1 for holdout in holdouts], default=0)
        typed = command_line([conditions.command, *(shlex.quote(visible(word)) for word in conditions.typed)])
        report_whole = "\n".join([*shown, report]).strip("\n")
        readme = run_readme(manifest, line, report_whole, typed, run.examples, look, conditions.knob)
        path = run.publish(log, line, readme)
    written_runs.append(path)

    if as_json:
        facts = {
            "run": str(path),
            "digest": digest,
            "summary": summary,
            "manifest": manifest,
            "holdout_look": look,
        }
        print(json_for_terminal(facts))
        return path
    show(f"{report}\n" if report else "")
    if line.expect:
        show(f"{prediction(line.expect, line.number)}\n")
    if look:
        show(f"holdout: this was look number {look} at it; each look is a chance to tune on it")
    print(f"run: {visible_path(path)}")
    print(f"digest: {digest}")
    if read:
        print(f"read: {', '.join([visible_path(path / read[0]), *read[1:]])}")
    if next_command:
        print(f"next: {command_line([word_of(word, path) for word in next_command])}")
    print(f"page: {command_line(['course.report', shell_word(path)])}")
    return path


def word_of(word: str | Path, run: Path) -> str:
    """A word of a command line, to be pasted; ``RUN`` in front of a path is the run's folder."""
    if isinstance(word, str):
        return word
    if word.is_relative_to(RUN):
        word = run / word.relative_to(RUN)
    return shell_word(word)
