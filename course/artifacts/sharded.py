"""Machinery: what makes one run of several shards, each a run of Loop A of its own in the folder ``shards/``.

The results of the whole are those of its shards, one after the other in the order of their names; no second copy of
them is written. Whoever writes a sharded run and whoever verifies one ask the same functions.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from course.artifacts.records import RESULTS, Manifest

COMMAND = "course.eval_shards"
FINGERPRINTS = ("prompts_fingerprint", "examples_fingerprint", "dataset_fingerprint", "completions_fingerprint")


def merged_fingerprint(fingerprints: Iterable[str | None]) -> str | None:
    """SHA-256 over the fingerprints, a line each in the order of the shards' names; None where one is not known."""
    known = list(fingerprints)
    return None if None in known else hashlib.sha256("".join(f"{one}\n" for one in known).encode()).hexdigest()


def merged_fingerprints(shards: Sequence[Manifest]) -> dict[str, str | None]:
    """Each fingerprint of a sharded run; that of its results too."""
    found = {name: merged_fingerprint(getattr(shard, name) for shard in shards) for name in FINGERPRINTS}
    return found | {RESULTS: merged_fingerprint(shard.outputs[RESULTS] for shard in shards)}


def conditions_shared(manifest: Manifest) -> Manifest:
    """What has to be equal in all shards and in the whole: every condition but which examples, and the seed."""
    sampling = manifest.sampling and msgspec.structs.replace(manifest.sampling, seed=None)
    trained_on = manifest.trained_on and msgspec.structs.replace(manifest.trained_on, measured_here=0)
    changes: dict[str, Any] = {"command": "", "sampling": sampling, "trained_on": trained_on, "outputs": {}}
    return msgspec.structs.replace(manifest, **dict.fromkeys(FINGERPRINTS), **changes)
