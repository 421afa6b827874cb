"""Machinery: what makes one run of several shards, each a run of Loop A of its own in the folder ``shards/``.

The results of the whole are those of its shards, one after the other in the order of their names; no second copy of
them is written. Whoever writes a sharded run and whoever verifies one ask the same functions.
"""

import hashlib
from collections.abc import Sequence
from typing import Any

import msgspec

from course.artifacts.records import RESULTS, Manifest

COMMAND = "course.eval_shards"
FINGERPRINTS = ("prompts_fingerprint", "examples_fingerprint", "dataset_fingerprint", "completions_fingerprint")


def merged_fingerprints(shards: Sequence[Manifest]) -> dict[str, str]:
    """Each fingerprint of the whole, and that of its results: SHA-256 over those of its shards in order, as lines."""
    columns = {name: [getattr(shard, name) for shard in shards] for name in FINGERPRINTS}
    columns[RESULTS] = [shard.outputs[RESULTS] for shard in shards]
    lines = {name: "".join(f"{one}\n" for one in column) for name, column in columns.items()}
    return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in lines.items()}


def conditions_shared(manifest: Manifest) -> Manifest:
    """What has to be equal in all shards and in the whole: every condition but which examples, and the seed."""
    sampling = manifest.sampling and msgspec.structs.replace(manifest.sampling, seed=None)
    trained_on = manifest.trained_on and msgspec.structs.replace(manifest.trained_on, measured_here=0)
    changes: dict[str, Any] = {"command": "", "sampling": sampling, "trained_on": trained_on, "outputs": {}}
    return msgspec.structs.replace(manifest, **dict.fromkeys(FINGERPRINTS), **changes)
