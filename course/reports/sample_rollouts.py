"""What course.sample_rollouts prints."""

from collections.abc import Sequence

from course.datasets.records import Provenance
from course.text import clipped


def sample_rollouts_text(source: Provenance, rows: Sequence[tuple[str, Sequence[str]]]) -> str:
    """Who sampled, how, and the first completion of the first three prompts."""
    settings = source.sampling
    return "\n".join(
        [
            f"Sampled from {source.policy}: nothing was scored, nothing was learned.",
            "",
            f"{len(rows)} prompts, {settings.n} of each, "
            f"temperature {settings.temperature:g}, top_p {settings.top_p:g}, seed {settings.seed}",
            *(f"  {clipped(id_, 20)}  {clipped(samples[0], 54)}" for id_, samples in rows[:3]),
        ]
    )
