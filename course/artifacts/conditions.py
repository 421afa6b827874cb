"""What a run starts from and what it adds up to: its manifest and the part of its summary that all loops share."""

from collections.abc import Mapping
from typing import Any, Literal

from course.artifacts.instrument import installed
from course.artifacts.records import MISSING, SCHEMA_VERSION, Manifest
from course.datasets.records import Provenance
from course.datasets.sources import Dataset
from course.score import FAMILIES, visible
from course.stats import wilson_interval

_FAMILY_OF = FAMILIES | {MISSING: "data"}


def manifest_of(
    *,
    loop: Literal["A", "B", "C"],
    command: str,
    settings: dict[str, Any],
    change: str | None,
    outputs: dict[str, str],
    dataset: Dataset | None = None,
    completions_fingerprint: str | None = None,
    samples_per_prompt: int | None = None,
    source: Provenance | None = None,
    seed: int | None = None,
) -> Manifest:
    """The conditions of a run. A dataset must have been read to its end; a small learner of Loop C has none.

    ``seed`` is of what the run itself draws: Loops A and B draw nothing, what they measure was drawn before.
    """
    instrument = installed()
    return Manifest(
        schema_version=SCHEMA_VERSION,
        loop=loop,
        command=command,
        settings=settings,
        split=dataset.split if dataset else None,
        dataset_fingerprint=dataset.fingerprint if dataset else None,
        prompts_fingerprint=dataset.prompts_fingerprint if dataset else None,
        completions_fingerprint=completions_fingerprint,
        samples_per_prompt=samples_per_prompt,
        policy=source.policy if source else None,
        sampling=source.sampling if source else None,
        seed=seed,
        scorer_name=instrument.name,
        scorer_version=instrument.version,
        scorer_fingerprint=instrument.fingerprint,
        spec=instrument.spec,
        golden=instrument.golden,
        change=None if change is None else visible(change),
        outputs=outputs,
    )


def summary_of(outcomes: Mapping[str, int]) -> dict[str, Any]:
    """Counts by outcome, made into the numbers every run reports. ``outcomes`` counts each example once."""
    n, passes = sum(outcomes.values()), outcomes.get("ok", 0)
    families: dict[str, int] = {}
    for outcome, family in _FAMILY_OF.items():
        if family is not None and outcomes.get(outcome):
            families[family] = families.get(family, 0) + outcomes[outcome]
    return {
        "n": n,
        "passes": passes,
        "pass_rate": passes / n,
        "pass_rate_ci95": list(wilson_interval(passes, n)),
        "mean_reward": passes / n,
        "outcomes": {outcome: outcomes[outcome] for outcome in _FAMILY_OF if outcomes.get(outcome)},
        "families": families,
    }
