"""Machinery: the conditions of a run, what a command says of it, and the manifest that is made of them."""

from argparse import Namespace
from collections.abc import Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from course.artifacts.records import SCHEMA_VERSION, Manifest, TrainedOn
from course.artifacts.scorer_identity import scorer_identity
from course.datasets.plain import FORM, display_name
from course.datasets.records import Provenance
from course.datasets.sources import HOLDOUT, Dataset, holdouts_in, prompts_trained_on
from course.text import visible


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


def holdouts_measured(conditions: Conditions) -> list[str]:
    """Which holdouts this run measured. Loop C only learns on its own dataset, or samples from it."""
    measured = [*conditions.holdouts]
    if conditions.loop != "C" and conditions.dataset and conditions.dataset.split == HOLDOUT:
        measured.append(conditions.dataset)
    return [*dict.fromkeys(chain.from_iterable(holdouts_in(holdout.prompts) for holdout in measured))]


def manifest_of(conditions: Conditions, outputs: dict[str, str]) -> Manifest:
    """The manifest. ``outputs``: name -> SHA-256 of every file that is evidence."""
    dataset, source = conditions.dataset, conditions.source
    is_bound = source is not None and source.completions_sha256 is not None
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
        policy=visible(display_name(source.policy)) if source else None,
        template=source.template if source and is_bound else None,
        sampling=source.sampling if source and is_bound else None,
        trained_on=training_overlap(source, dataset),
        seed=conditions.seed,
        **scorer_identity()._asdict(),
        change=None if conditions.change is None else visible(conditions.change),
        expect=conditions.expect,
        outputs=dict(sorted(outputs.items())),  # the order of writing must not change the digest
    )


def training_overlap(source: Provenance | None, dataset: Dataset | None) -> TrainedOn | None:
    """What the policy was trained on, and how much of it this dataset shares."""
    if source is None or source.training is None or dataset is None:
        return None
    training = source.training
    rubric = None if training.rubric is None else visible(training.rubric)
    return TrainedOn(rubric, len(training.prompts), prompts_trained_on(dataset.prompts, training), FORM)
