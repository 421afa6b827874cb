"""Machinery: a reference policy as a file, and completions of a policy as files that Loops A and B take."""

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from course.artifacts.writing import RunWriter
from course.datasets.records import Provenance, Rollout, SampleGroup, Task, training_on

if TYPE_CHECKING:
    from course.policies.token_policy import Policy


def policy_name(content: bytes) -> str:
    """A name that no other policy has. ``content``: the bytes of the policy's file."""
    return f"token_policy {hashlib.sha256(content).hexdigest()[:12]}"


def write_reference(run: RunWriter, name: str, reference: "Policy", examples: Sequence[Task]) -> None:
    """The policy that a training started from: with the seed and the settings, all its numbers can be made again."""
    from course.policies.policy_file import policy_bytes

    run.write_bytes(name, policy_bytes(reference, training_on((example["prompt"] for example in examples), None)))


def write_rollouts(
    run: RunWriter, name: str, samples: Iterable[tuple[str, Sequence[str]]], source: Provenance
) -> Provenance:
    """Write ``NAME.jsonl`` and ``NAME.meta.json``, which is returned. ``samples``: each id with its n completions.

    With n of 1 the file holds rollouts, else it is a selection pack. The digest that binds the two files is added here.
    """
    one = source.sampling.n == 1
    records = (Rollout(id_, texts[0]) if one else SampleGroup(id_, list(texts)) for id_, texts in samples)
    run.write_rows(f"{name}.jsonl", records)
    source = replace(source, completions_sha256=run.outputs[f"{name}.jsonl"])
    run.write_json(f"{name}.meta.json", source)
    return source
