"""Machinery: the one ending of a run: manifest, README, line in the log of runs, what is printed when all is on disk.

Every command that leaves a run ends here, so that what a run holds is decided in one place.
"""

import os
import shlex
from argparse import Namespace
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from course.artifacts import run_log
from course.artifacts.locked_room import room_digest
from course.artifacts.prediction import main_number
from course.artifacts.records import RESULTS, SCHEMA_VERSION, SUMMARY, Manifest, TrainedOn, printed_json
from course.artifacts.run_log import LogLine, locked, looks, read_log
from course.artifacts.scorer_identity import installed
from course.artifacts.writing import RunWriter
from course.datasets.records import Provenance
from course.datasets.sources import HOLDOUT, Dataset, holdouts_in, prompts_trained_on
from course.errors import written_runs
from course.run_readme import prediction, run_readme
from course.show.tables import WIDTH
from course.show.terminal import show
from course.starting import PYTHON
from course.text import shell_word, visible, visible_path

RUN = Path("{run}")  # in a next command: the run's folder
INSPECT = ("course.inspect_run", "--run", RUN, "--only-fails", "--top-k", "5")  # the next command after Loops A and B


class Conditions(NamedTuple):
    """What a command says of its run. What can be derived (scorer, fingerprints, digests) is not asked for.

    ``change``: the one thing changed since the run before, in the student's words; ``expect``: what they expected of
    it. ``dataset``: read to its end. ``holdouts``: what was measured beside it. ``seed``: of what the run itself draws;
    None where it draws nothing, as in course.eval. ``knob``: what was turned, where it is not what the loop turns.
    ``typed``: the words behind the command.
    """

    loop: Literal["A", "B", "C"]
    command: str
    settings: dict[str, Any]
    change: str | None
    expect: str | None
    dataset: Dataset | None = None
    holdouts: Sequence[Dataset] = ()
    completions_fingerprint: str | None = None
    samples_per_prompt: int | None = None
    source: Provenance | None = None
    seed: int | None = None
    knob: str | None = None
    typed: Sequence[str] = ()


def conditions_of(args: Namespace, settings: dict[str, Any], dataset: Dataset | None = None, **more: Any) -> Conditions:
    """Those of a run of Loop C, unless the caller replaces the loop, with what ``args`` hold of what was typed."""
    seed = getattr(args, "seed", None)
    return Conditions(
        "C", args.command, settings, args.change, args.expect, dataset, seed=seed, typed=args.typed, **more
    )


def publish(
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
    """Seal the run, put it in its place, and only then show ``report`` and where the run is. Returns the place.

    ``summary``: what summary.json holds. ``report``: also in the run's README, after what was ``shown`` already.
    ``read``: names of files to look at. ``next_command``: the words to type next after ``python3 -m``, the run's folder
    as ``RUN``. ``as_json``: print the run's place, digest, summary and manifest instead, as one JSON object.
    """
    if RESULTS not in run.outputs:
        raise ValueError(f"every run has {RESULTS}: {conditions.command} wrote none")
    run.write_json(SUMMARY, summary)
    manifest = manifest_of(conditions, run.outputs)
    digest = run.seal(manifest)
    holdouts = opened_holdouts(conditions)
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
    with locked(run_log.LOG) as log:
        before = read_log(run_log.LOG)
        look = max([looks(before, holdout) + 1 for holdout in holdouts], default=0)
        typed = command_line([conditions.command, *(shlex.quote(visible(word)) for word in conditions.typed)])
        report_whole = "\n".join([*shown, report]).strip("\n")
        readme = run_readme(manifest, line, report_whole, typed, run.examples, look, conditions.knob)
        path = run.publish(log, line, readme)
    written_runs.append(path)

    if as_json:
        found = {"run": str(path), "digest": digest, "summary": summary, "manifest": manifest, "holdout_look": look}
        print(printed_json(found))
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
    return shell_word(run / word.relative_to(RUN) if word.is_relative_to(RUN) else word)


def command_line(words: Sequence[str], windows: bool = os.name == "nt") -> str:
    """``python3 -m …``, on as many lines as a terminal asks for; its continuation is not one for Windows."""
    parts = [f"{PYTHON} -m"]  # each option with its values
    for word in words:
        parts += [word] if word.startswith("--") else [f"{parts.pop()} {word}"]
    lines = [parts[0]]
    for part in parts[1:]:
        if windows or len(lines[-1]) + len(part) < WIDTH - len("next:  \\"):
            lines[-1] += f" {part}"
        else:
            lines.append(f"    {part}")
    return " \\\n".join(lines)


def opened_holdouts(conditions: Conditions) -> list[str]:
    """Which holdouts this run measured. Loop C only learns on its own dataset, or samples from it."""
    measured = [*conditions.holdouts]
    if conditions.loop != "C" and conditions.dataset and conditions.dataset.split == HOLDOUT:
        measured.append(conditions.dataset)
    return [*dict.fromkeys(chain.from_iterable(holdouts_in(holdout.prompts) for holdout in measured))]


def manifest_of(conditions: Conditions, outputs: dict[str, str]) -> Manifest:
    """The manifest. ``outputs``: name -> SHA-256 of every file that is evidence."""
    dataset, source = conditions.dataset, conditions.source
    return Manifest(
        schema_version=SCHEMA_VERSION,
        loop=conditions.loop,
        command=conditions.command,
        settings=conditions.settings,
        split=dataset.split if dataset else None,
        dataset_fingerprint=dataset.fingerprint if dataset else None,
        prompts_fingerprint=dataset.prompts_fingerprint if dataset else None,
        examples_fingerprint=dataset.examples_fingerprint if dataset else None,
        completions_fingerprint=conditions.completions_fingerprint,
        samples_per_prompt=conditions.samples_per_prompt,
        policy=visible(source.policy) if source else None,
        sampling=source.sampling if source and source.completions_sha256 else None,
        trained_on=trained_on(source, dataset),
        seed=conditions.seed,
        **installed()._asdict(),
        change=None if conditions.change is None else visible(conditions.change),
        expect=None if conditions.expect is None else visible(conditions.expect),
        outputs=dict(sorted(outputs.items())),  # whatever came first
    )


def trained_on(source: Provenance | None, dataset: Dataset | None) -> TrainedOn | None:
    """What the policy was trained on, and how much of it this dataset shares."""
    if source is None or source.training is None or dataset is None:
        return None
    training = source.training
    rubric = None if training.rubric is None else visible(training.rubric)
    return TrainedOn(rubric, len(training.prompts), prompts_trained_on(dataset.prompts, training))
