"""Machinery: what may be inferred from counted samples: pass@k before and after learning, and where the curves cross.

Notation
    P, K    prompts; the largest k
    gain    [P, K] pass@k after learning − pass@k before it, prompt by prompt; several seeds are averaged first
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from course.artifacts.token_rows import CountedSamples
from course.stats import mean, pass_at_k

if TYPE_CHECKING:
    import numpy as np

    from course.policies.softmax import Floats

RESAMPLES = 2_000


class Comparison(NamedTuple):
    """A policy before and after learning, on the same P prompts."""

    prompts: int
    before: list[float]  # [K] pass@1, pass@2, …: means over the prompts
    after: list[float]
    entropy_before: float  # of the next token, in nats
    entropy_after: float
    crossing: int | None  # the k from which on the trained policy is lower; None where it ends no lower
    crossing_ci95: tuple[int | None, int | None]
    last_gain: float  # at k = K
    last_gain_ci95: tuple[float, float]


def comparisons(log: Sequence[CountedSamples], last: int, rng: "np.random.Generator") -> dict[str, Comparison]:
    """Each preset and split of a log, compared up to k = ``last``."""
    found = {}
    for preset, split in dict.fromkeys((row.preset, row.split) for row in log):
        rows = [row for row in log if (row.preset, row.split) == (preset, split)]
        before, after = ([row for row in rows if (row.step > 0) == learned] for learned in (False, True))
        found[f"{preset}, {split}"] = compare_policies(before, after, last, rng)
    return found


def compare_policies(
    before: Sequence[CountedSamples], after: Sequence[CountedSamples], last: int, rng: "np.random.Generator"
) -> Comparison:
    """The intervals hold 95 % of the resamples, which draw prompts with all their samples before and after.

    Not covered: another training. And a handful of prompts makes such an interval too narrow.
    """
    import numpy as np

    old, new = pass_at_ks(before, last), pass_at_ks(after, last)
    prompts = len(old)
    gains = rng.multinomial(prompts, [1 / prompts] * prompts, RESAMPLES) @ (new - old) / prompts  # [RESAMPLES, K]
    low, high = np.quantile([crossing(gain) or last + 1 for gain in gains], [0.025, 0.975], method="nearest").tolist()
    mean_old, mean_new = old.mean(axis=0), new.mean(axis=0)
    return Comparison(
        prompts,
        mean_old.tolist(),
        mean_new.tolist(),
        mean([row.entropy for row in before]),
        mean([row.entropy for row in after]),
        crossing(mean_new - mean_old),
        (low if low <= last else None, high if high <= last else None),
        float(mean_new[-1] - mean_old[-1]),
        tuple(np.quantile(gains[:, -1], [0.025, 0.975]).tolist()),
    )


def pass_at_ks(rows: Sequence[CountedSamples], last: int) -> "Floats":
    """[P, last] unbiased pass@1, pass@2, … of each prompt: the mean over its rows, one a seed."""
    import numpy as np

    curves = {(row.n, row.correct): [pass_at_k(row.n, row.correct, k) for k in range(1, last + 1)] for row in rows}
    ids = dict.fromkeys(row.id for row in rows)
    return np.array([np.mean([curves[row.n, row.correct] for row in rows if row.id == id_], axis=0) for id_ in ids])


def crossing(gain: "Sequence[float] | Floats") -> int | None:
    """The k from which on every gain is below 0, up to the last; None if the last is not. ``gain``: k = 1, 2, …"""
    kept = max((k for k, value in enumerate(gain, 1) if value >= 0), default=0)
    return kept + 1 if kept < len(gain) else None
