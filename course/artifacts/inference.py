"""Machinery: what may be inferred from the logs of token commands: what rose, what diverged, where two curves cross.

Notation as in ``token_rows``, and
    training     the rows of one training in order; trainings: the same training once for each seed
    quantity     a column of the log; a share is one that is a share of completions, and has Wilson intervals
    P, K         prompts; the largest k of pass@k
    gain         [P, K] pass@k after learning − pass@k before it, prompt by prompt; several seeds are averaged first
"""

from collections.abc import Sequence
from statistics import median, median_low
from typing import TYPE_CHECKING, NamedTuple

from course.artifacts.token_rows import CountedSamples, EvaluationRow
from course.stats import mean, pass_at_k, wilson_interval

if TYPE_CHECKING:
    import numpy as np

    from course.policies.softmax import Floats

TrainingLog = Sequence[EvaluationRow]
Trainings = Sequence[TrainingLog]


def divergence_step(training: TrainingLog) -> int | None:
    """The step from which on the true reward fell while the proxy kept rising; None where the two never diverged.

    That is the step with the highest true reward (the last of equals), if at the end the proxy is higher than there,
    and the true reward lower by more than noise: the Wilson interval of the end lies wholly below that of the top.
    Two 95 % intervals that do not touch ask for more than p < 0.05, which is in place, for the top was picked from
    many evaluations. The noise is that of sampling completions of these prompts, not that of choosing other prompts.
    """
    top, last = max(training, key=lambda row: (row.true_reward, row.step)), training[-1]
    fell = exceeds([top], [last], "true_reward")
    return top.step if fell and last.proxy_reward > top.proxy_reward else None


def rose(trainings: Trainings, share: str) -> bool:
    """Whether a share is higher at the end than at the start, by more than noise."""
    return exceeds([training[-1] for training in trainings], [training[0] for training in trainings], share)


def exceeds(these: TrainingLog, those: TrainingLog, share: str) -> bool:
    """Whether a share is higher in these rows than in those by more than noise: two intervals that do not touch."""
    return pooled_interval(these, share)[0] > pooled_interval(those, share)[1]


def pooled_interval(rows: TrainingLog, share: str) -> tuple[float, float]:
    """Wilson's 95 % interval of a share; the counts of several rows, one a seed, are added up."""
    counts = [row.holdout_n if share.startswith("holdout") else row.n for row in rows]
    passes = sum(round(rate * n) for rate, n in zip(column(rows, share), counts, strict=True))
    return wilson_interval(passes, sum(counts))


def median_of(rows: TrainingLog, quantity: str) -> float:
    return median(column(rows, quantity))


def medians(trainings: Trainings, quantity: str) -> list[float]:
    """The median over the seeds at each evaluation."""
    return [median(column(rows, quantity)) for rows in zip(*trainings, strict=True)]


def column(rows: TrainingLog, quantity: str) -> list[float]:
    return [getattr(row, quantity) for row in rows]


class CoveragePoint(NamedTuple):
    """All trainings on so many prompts, strictly scored: medians over the seeds, the lower of two in the middle."""

    prompts: int
    train: float  # pass rate on the prompts that it was trained on, at the end
    holdout: float
    holdout_ci95: tuple[float, float]  # Wilson's, of the median seed: what other prompts might have given
    holdout_each: list[float]  # seed by seed
    holdout_before: float  # of the reference policy
    pairs_seen: float  # share of the holdout's prompts of which training showed every digit pair
    times_seen: float  # how often training showed a prompt's rarest digit pair: median over the holdout


def coverage_point(trainings: Trainings, times: Sequence[int]) -> CoveragePoint:
    """``times``: for each prompt of the holdout, how often training showed its rarest digit pair."""
    before, after = ([training[place] for training in trainings] for place in (0, -1))
    each = column(after, "holdout_true_reward")
    return CoveragePoint(
        prompts=after[0].n,
        train=median_low(column(after, "true_reward")),
        holdout=median_low(each),
        holdout_ci95=wilson_interval(round(median_low(each) * len(times)), len(times)),
        holdout_each=each,
        holdout_before=median_low(column(before, "holdout_true_reward")),
        pairs_seen=sum(time > 0 for time in times) / len(times),
        times_seen=median(times),
    )


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
