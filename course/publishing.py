"""Machinery: the one ending of a run. Manifest, page, the look at the holdout, what is printed when all is on disk.

Every command that leaves a run ends here, so that what a run holds is decided in one place.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from course.artifacts.holdout import HOLDOUT, looks
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import RESULTS, SCHEMA_VERSION, SUMMARY, Manifest, Result
from course.artifacts.scorer_identity import installed
from course.artifacts.writing import RUNS, RunWriter
from course.datasets.records import Provenance
from course.datasets.sources import Dataset
from course.reports.run_page import run_page
from course.text import visible, visible_path


class Conditions(NamedTuple):
    """What a command says of its run. What can be derived (scorer, fingerprints, digests) is not asked for.

    ``change``: the one thing changed since the run before, in the student's words. ``dataset``: read to its end.
    ``holdout``: a second dataset that was measured beside it. ``seed``: of what the run itself draws; Loops A and B
    draw nothing. ``knob``: what was turned, where it is not what the loop turns.
    """

    loop: Literal["A", "B", "C"]
    command: str
    settings: dict[str, Any]
    change: str | None
    dataset: Dataset | None = None
    holdout: Dataset | None = None
    completions_fingerprint: str | None = None
    samples_per_prompt: int | None = None
    source: Provenance | None = None
    seed: int | None = None
    knob: str | None = None


def publish(
    run: RunWriter,
    conditions: Conditions,
    summary: dict[str, Any],
    report: str,
    *,
    examples: Sequence[Result] = (),
    read: Sequence[str] = (),
    next_command: str = "",
) -> Path:
    """Seal the run, put it in its place, then print ``report`` and where the run is. Returns the place.

    ``summary``: what summary.json holds. ``examples``: rows for the run's page. ``read``: names of files to look at.
    ``next_command``: what to type next, with ``{run}`` for the run's folder. The report is printed only when the
    run is on disk.
    """
    if RESULTS not in run.outputs:
        raise ValueError(f"every run has {RESULTS}: {conditions.command} wrote none")
    run.write_json(SUMMARY, summary)
    manifest = manifest_of(conditions, run.outputs)
    holdout = opened_holdout(conditions)
    look = looks(RUNS, holdout) + 1 if holdout else 0
    page = run_page(
        conditions.loop, summary, room_conditions(manifest), manifest.change, examples, look, conditions.knob
    )
    path = run.commit(manifest, page, holdout)

    print(f"{report}\n")
    if look:
        print(f"holdout: this was look number {look} at it; each look is a chance to tune on it")
    print(f"run: {visible_path(path)}")
    if read:
        print(f"read: {', '.join([visible_path(path / read[0]), *read[1:]])}")
    if next_command:
        print(f"next: {next_command.replace('{run}', visible_path(path))}")
    return path


def opened_holdout(conditions: Conditions) -> str | None:
    """The fingerprint of the holdout that this run measured, or None. Loop C only learns on its own dataset."""
    if conditions.holdout:
        return conditions.holdout.fingerprint
    dataset = conditions.dataset
    return dataset.fingerprint if dataset and dataset.split == HOLDOUT and conditions.loop != "C" else None


def manifest_of(conditions: Conditions, outputs: dict[str, str]) -> Manifest:
    """The manifest. ``outputs``: name -> SHA-256 of every file that is evidence."""
    scorer, dataset, source = installed(), conditions.dataset, conditions.source
    return Manifest(
        schema_version=SCHEMA_VERSION,
        loop=conditions.loop,
        command=conditions.command,
        settings=conditions.settings,
        split=dataset.split if dataset else None,
        dataset_fingerprint=dataset.fingerprint if dataset else None,
        prompts_fingerprint=dataset.prompts_fingerprint if dataset else None,
        completions_fingerprint=conditions.completions_fingerprint,
        samples_per_prompt=conditions.samples_per_prompt,
        policy=source.policy if source else None,
        sampling=source.sampling if source else None,
        seed=conditions.seed,
        scorer_name=scorer.name,
        scorer_version=scorer.version,
        scorer_fingerprint=scorer.fingerprint,
        spec=scorer.spec,
        golden=scorer.golden,
        change=None if conditions.change is None else visible(conditions.change),
        outputs=outputs,
    )
