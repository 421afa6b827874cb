"""Completions that a token policy drew, as files that Loops A and B take, each with the word on who drew it and how."""

import hashlib
from collections.abc import Iterable, Sequence

from msgspec import Struct

from course.artifacts.writing import RunWriter
from course.datasets.records import Provenance, Rollout, SampleGroup, Sampling


def policy_name(content: bytes) -> str:
    """What a policy is called that is stored as these bytes: a name that no other policy has."""
    return f"token_policy {hashlib.sha256(content).hexdigest()[:12]}"


def write_drawn(
    writer: RunWriter,
    name: str,
    drawn: Iterable[tuple[str, Sequence[str]]],
    *,
    policy: str,
    sampling: Sampling,
    note: str,
) -> None:
    """Write ``NAME.jsonl`` and ``NAME.meta.json``: rollouts where one completion was drawn of each id, else a pack.

    No date is told: the same policy and settings draw the same completions on any day.
    """

    def record(id_: str, texts: Sequence[str]) -> Struct:
        return Rollout(id_, texts[0]) if sampling.n == 1 else SampleGroup(id_, list(texts))

    writer.write_rows(f"{name}.jsonl", (record(id_, texts) for id_, texts in drawn))
    writer.write_json(f"{name}.meta.json", Provenance(policy, None, sampling, note))
