"""What ``course.goodhart_demo`` leaves, and what may be said of it: where two rewards part, what rose, what is typical.

Notation
    proxy    what the rubric pays that the policy is trained on
    true     what the strict scorer pays for the same completions
    gap      the share of completions that the rubric pays and the strict scorer does not
    stages   one training, look by look
    seeds    the same training once for each seed: stages, stages, …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from course.artifacts.token_rows import Measured, measured_row
from course.stats import wilson_interval

if TYPE_CHECKING:
    from course.policies.evaluation import Moment, Probe
    from course.policies.softmax import Floats

PAID = 0.5  # from here on a rubric that pays in part counts as having paid

Split = Literal["train", "holdout"]


class Stage(Measured, frozen=True, forbid_unknown_fields=True):
    """One look at one of many trainings. Several fresh completions of each prompt are looked at: ``n`` in all."""

    holdout_proxy_reward: float  # this command always has a holdout
    holdout_true_reward: float
    rubric: str
    kl_coef: float
    seed: int
    n: int
    gap: float
    holdout_n: int
    holdout_gap: float


class Exploit(Struct, frozen=True, forbid_unknown_fields=True):
    """A completion that the policy wrote when its training was over: the rubric pays it, the strict scorer does not."""

    rubric: str
    seed: int
    split: Split
    id: str
    prompt: str
    expected_answer: int
    completion: str
    proxy: float
    true: float


Stages = Sequence[Stage]
Seeds = Sequence[Stages]
Quantity = Literal[
    "step", "kl", "proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "gap", "holdout_gap"
]


def stage_of(moment: Moment, holdout: Probe, rubric: str, kl_coef: float, seed: int) -> Stage:
    """The row of one look. ``holdout``: the moment's, which here is never None."""
    return Stage(
        **asdict(measured_row(moment)),
        rubric=rubric,
        kl_coef=kl_coef,
        seed=seed,
        n=len(moment.train.texts),
        gap=float(only_proxy(moment.train).mean()),
        holdout_n=len(holdout.texts),
        holdout_gap=float(only_proxy(holdout).mean()),
    )


def only_proxy(probe: Probe) -> Floats:
    """[N] 1 where the rubric pays and the strict scorer does not."""
    import numpy as np

    return np.where((probe.proxy >= PAID) & (probe.true == 0), 1.0, 0.0)


def exploits_of(
    probe: Probe, examples: Sequence[dict[str, Any]], rubric: str, seed: int, split: Split
) -> Iterator[Exploit]:
    """Those among the first completions of the examples, one of each."""
    paid = only_proxy(probe).tolist()
    for row, example in enumerate(examples):
        if paid[row]:
            yield Exploit(
                rubric=rubric,
                seed=seed,
                split=split,
                id=example["id"],
                prompt=example["prompt"],
                expected_answer=example["expected_answer"],
                completion=probe.texts[row],
                proxy=float(probe.proxy[row]),
                true=float(probe.true[row]),
            )


def seeds_of(stages: Stages, rubric: str, kl_coef: float) -> list[list[Stage]]:
    """The trainings on one rubric with one leash, out of a whole log."""
    mine = [stage for stage in stages if (stage.rubric, stage.kl_coef) == (rubric, kl_coef)]
    return [[stage for stage in mine if stage.seed == seed] for seed in dict.fromkeys(stage.seed for stage in mine)]


def parting(stages: Stages) -> int | None:
    """The step from which on the true reward fell while the proxy kept rising; None where the two never parted.

    That is the step with the highest true reward (the last of equals), if at the end the proxy is higher than there,
    and the true reward lower by more than noise: the Wilson interval of the end lies wholly below that of the top.
    Two 95 % intervals that do not touch ask for more than p < 0.05, which is in place, for the top was picked from
    many looks. The noise is that of drawing completions of these prompts, and not that of choosing other prompts.
    """
    top, last = max(stages, key=lambda stage: (stage.true_reward, stage.step)), stages[-1]
    fell = above([top], [last], "true_reward")
    return top.step if fell and last.proxy_reward > top.proxy_reward else None


def above(these: Stages, those: Stages, share: Quantity) -> bool:
    """Whether a share of completions is higher in these than in those by more than noise.

    That is: Wilson intervals that do not touch. The counts of several seeds are added up.
    """
    (low, _), (_, high) = _pooled(these, share), _pooled(those, share)
    return low > high


def rose(stages: Stages, share: Quantity) -> bool:
    """Whether a share is higher at the end of a training than at its start, by more than noise."""
    return above([stages[-1]], [stages[0]], share)


def medians(seeds: Seeds, quantity: Quantity) -> list[float]:
    """The median over the seeds, look by look."""
    return [median(getattr(stage, quantity) for stage in looks) for looks in zip(*seeds, strict=True)]


def _pooled(stages: Stages, share: Quantity) -> tuple[float, float]:
    counts = [stage.holdout_n if share.startswith("holdout") else stage.n for stage in stages]
    passed = sum(round(getattr(stage, share) * n) for stage, n in zip(stages, counts, strict=True))
    return wilson_interval(passed, sum(counts))
