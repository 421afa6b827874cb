"""Machinery: everything that decides what a training gives, in one record; and the presets of the course.

Two presets differ in coverage. Of the 100 sums of one digit, 75 are trained on: what 3 + 4 is says nothing about 4 + 5,
so each has to be memorised. Two-digit sums without a carry are two sums of one digit side by side; a thousand of them
show each digit pair many times over, and what is learned holds for others. Only a holdout tells which of the two
happened; ``course.experiment coverage`` measures what lies between them. The third is ``MEMORISE`` in small: a run
takes some three seconds, so that one can try what a line of one's own update does.
"""

from typing import Any, Literal, NamedTuple

Baseline = Literal["none", "running", "group"]


class TrainConfig(NamedTuple):
    """One training: on which prompts, paid by which rubric, how it learns, and how it is measured on the way.

    All but the seed: with that, and on one machine with one NumPy, the same bytes come out.
    """

    dataset: str  # the file of the prompts to train on
    holdout: str | None  # that of prompts that are never trained on
    prompts: int | None = None  # train on the first so many of the dataset; None for all
    rubric: str = "score"
    sft_steps: int = 800
    sft_lr: float = 0.3
    steps: int = 600
    prompts_a_step: int = 32
    group_size: int = 8  # completions of each prompt in a step
    lr: float = 0.5
    baseline: Baseline = "group"
    kl_coef: float = 0.0  # beta: what a nat of KL from the reference policy costs
    max_tokens: int = 40  # of a completion
    width: int = 8  # of a token's vector
    hidden: int = 64  # units
    false_positives: float = 0.0  # how often what the rubric does not pay is paid by mistake, at random
    false_negatives: float = 0.0  # and how often what it pays is not
    eval_every: int = 25  # updates from one evaluation to the next
    samples: int = 1  # completions of each prompt in an evaluation

    def settings(self) -> dict[str, Any]:
        """What a manifest keeps: all but the names of the files, of which it has the fingerprints."""
        return {name: value for name, value in self._asdict().items() if name not in ("dataset", "holdout")}

    def evaluations(self) -> int:
        """How many there are: before the first update, after each ``eval_every``, and after the last."""
        full, rest = divmod(self.steps, self.eval_every)
        return 1 + full + (1 if rest else 0)


MEMORISE = TrainConfig("data/datasets/one_digit_sums_dev.jsonl", "data/datasets/one_digit_sums_holdout.jsonl")
GENERALISE = TrainConfig(
    "data/datasets/two_digit_sums_dev.jsonl",
    "data/datasets/two_digit_sums_holdout.jsonl",
    prompts_a_step=64,
    max_tokens=16,
    width=16,
    hidden=128,
)
SMALL = TrainConfig(
    "data/datasets/one_digit_sums_small.jsonl", holdout=None, sft_steps=300, steps=200, prompts_a_step=8
)
PRESETS = {"generalise": GENERALISE, "memorise": MEMORISE, "small": SMALL}
