"""Machinery: what learning takes away. pass@k for k from 1 to 128, before and after the same training.

Each policy is trained on the strict scorer. Before the first update and after the last it writes 256 completions of
each prompt, for training prompts and for a holdout. Is the chance that k completions contain a right one higher after
learning for every k? (For large models see Yue et al., arXiv 2504.13837.) Beside this chance stands the entropy of the
next token. If right texts are lost, pass@k falls for large k, and this is called mode collapse; a lower entropy alone
does not show it.

``results.jsonl`` has each different completion of a prompt once, with its count; ``log.jsonl`` has the counts from
which every pass@k follows.

Notation
    P, K    prompts; the largest k of pass@k
    gain    [P, K] pass@k after learning − pass@k before it, prompt by prompt; several seeds are averaged first
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple

from course.artifacts.learning_rows import learning_result
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import CountedSamples
from course.datasets.records import Task
from course.experiments.driver import Evaluation, Experiment, Report, Training
from course.policies.train_config import GENERALISE, MEMORISE, TrainConfig
from course.score import score
from course.show.figures import BLUE, GREY, ORANGE, figure, label_axes, legend_below, png
from course.show.tables import WIDTH, percent, table
from course.stats import mean, pass_at_k

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    import numpy as np

    from course.policies.softmax import Floats
    from course.policies.token_policy import Policy

PRESETS = {"generalise": GENERALISE, "memorise": MEMORISE}
CONFIGS = (
    GENERALISE._replace(steps=600, eval_every=600, samples=256),
    MEMORISE._replace(steps=600, eval_every=600, samples=256),
)
PROMPTS = 75  # at most so many prompts of each split are measured, the first ones
LAST_K = 128
RESAMPLES = 2_000

_KS = (1, 8, 32, 128)
_LEGEND = (
    "entropy: entropy of the next token, in nats. crossing: from this k up to the last k, k samples of the trained "
    "policy contain a right answer less often than k samples of the untrained policy. The 95 % intervals are a "
    "bootstrap over the prompts; they do not cover different trainings."
)


class LearningEffect(NamedTuple):
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


def name_of(config: TrainConfig) -> str:
    """The name of the preset whose prompts these are."""
    (name,) = (name for name, preset in PRESETS.items() if preset.dataset == config.dataset)
    return name


def measure(reference: Policy, training: Training) -> Iterator[Evaluation[CountedSamples]]:
    """The counts of each prompt before the first update and after the last, and what was scored."""
    from course.policies.token_learner import learn

    yield count_samples(reference, training, 0)
    (last,) = deque(learn(reference, training.examples, score, training.config, training.seed), maxlen=1)
    yield count_samples(last.new_policy, training, training.config.steps)


def count_samples(policy: Policy, training: Training, step: int) -> Evaluation[CountedSamples]:
    """What the policy writes after ``step`` updates: a row of the log for each prompt, and its completions."""
    from course.policies.token_learner import generator

    config = training.config
    counted: list[CountedSamples] = []
    results: list[LearningResult] = []
    for split, examples in (("train", training.examples), ("holdout", training.holdout)):
        rng = generator(training.seed, "evaluation")
        for example in examples[:PROMPTS]:
            texts, entropy = sample_and_count(policy, example, config.samples, rng)
            correct = 0
            for text, count in texts.items():
                result = learning_result(example, text, step, training=training.name, split=split, count=count)
                results.append(result)
                if result.reward == 1:
                    correct += count
            row = CountedSamples(
                preset=name_of(config),
                seed=training.seed,
                step=step,
                split=split,
                id=example["id"],
                n=config.samples,
                correct=correct,
                entropy=entropy,
            )
            counted.append(row)
    return counted, results


def sample_and_count(
    policy: Policy, example: Task, samples: int, rng: np.random.Generator
) -> tuple[Counter[str], float]:
    """Completions with how often each came, and the mean entropy of the next token along them, in nats."""
    from course.policies.token_policy import forward_completions, sample_completions

    prompts = policy.encode_prompts([example["prompt"]] * samples)
    completions = sample_completions(policy, prompts, rng.random((samples, policy.max_tokens)))
    network = forward_completions(policy, prompts, completions)
    entropy = -(network.p * network.log_p).sum(axis=1).mean()
    return Counter(policy.decode_completions(completions)), float(entropy)


def report(experiment: Experiment[CountedSamples]) -> Report:
    """pass@k before and after, for each preset and split, and where the two curves cross."""
    from course.policies.token_learner import generator

    log = [row for config in experiment.configs for rows in experiment.logs(config) for row in rows]
    compared = compare_splits(log, LAST_K, generator(experiment.seeds[0], "bootstrap"))
    summary = {name: comparison._asdict() for name, comparison in compared.items()}
    first = experiment.configs[0]
    ending = pass_at_k_text(compared, first.steps, first.samples, len(experiment.seeds))
    return Report([], ending, {"pass_at_k.png": pass_at_k_figure(compared)}, summary)


def compare_splits(log: Sequence[CountedSamples], last: int, rng: np.random.Generator) -> dict[str, LearningEffect]:
    """Each preset and split of a log, compared up to k = ``last``."""
    compared = {}
    for preset, split in dict.fromkeys((row.preset, row.split) for row in log):
        rows = [row for row in log if (row.preset, row.split) == (preset, split)]
        before = [row for row in rows if row.step == 0]
        after = [row for row in rows if row.step > 0]
        compared[f"{preset}, {split}"] = compare_policies(before, after, last, rng)
    return compared


def compare_policies(
    before: Sequence[CountedSamples], after: Sequence[CountedSamples], last: int, rng: np.random.Generator
) -> LearningEffect:
    """The intervals hold 95 % of the resamples, which draw prompts with all their samples before and after.

    Not covered: another training. And a handful of prompts makes such an interval too narrow.
    """
    import numpy as np

    old = pass_at_ks(before, last)
    new = pass_at_ks(after, last)
    prompts = len(old)
    gains = rng.multinomial(prompts, [1 / prompts] * prompts, RESAMPLES) @ (new - old) / prompts  # [RESAMPLES, K]
    crossings = [crossing(gain) or last + 1 for gain in gains]
    low, high = np.quantile(crossings, [0.025, 0.975], method="nearest").tolist()
    mean_old = old.mean(axis=0)
    mean_new = new.mean(axis=0)
    return LearningEffect(
        prompts=prompts,
        before=mean_old.tolist(),
        after=mean_new.tolist(),
        entropy_before=mean([row.entropy for row in before]),
        entropy_after=mean([row.entropy for row in after]),
        crossing=crossing(mean_new - mean_old),
        crossing_ci95=(low if low <= last else None, high if high <= last else None),
        last_gain=float(mean_new[-1] - mean_old[-1]),
        last_gain_ci95=tuple(np.quantile(gains[:, -1], [0.025, 0.975]).tolist()),
    )


def pass_at_ks(rows: Sequence[CountedSamples], last: int) -> Floats:
    """[P, last] unbiased pass@1, pass@2, … of each prompt: the mean over its rows, one a seed."""
    import numpy as np

    curves = {(row.n, row.correct): [pass_at_k(row.n, row.correct, k) for k in range(1, last + 1)] for row in rows}
    ids = dict.fromkeys(row.id for row in rows)
    return np.array([np.mean([curves[row.n, row.correct] for row in rows if row.id == id_], axis=0) for id_ in ids])


def crossing(gain: Sequence[float] | Floats) -> int | None:
    """The k from which on every gain is below 0, up to the last; None if the last is not. ``gain``: k = 1, 2, …"""
    kept = max((k for k, value in enumerate(gain, 1) if value >= 0), default=0)
    return kept + 1 if kept < len(gain) else None


def pass_at_k_text(compared: Mapping[str, LearningEffect], steps: int, samples: int, seeds: int) -> str:
    """Two rows for each set of prompts, then where its two curves cross."""
    curves: list[tuple[object, ...]] = []
    crossings: list[tuple[object, ...]] = []
    for name, comparison in compared.items():
        for when, curve, nats in (
            ("before", comparison.before, comparison.entropy_before),
            ("after", comparison.after, comparison.entropy_after),
        ):
            curves.append((name, when, *(percent(curve[k - 1]) for k in _KS), f"{nats:.2f}"))
        bounds = " to ".join(dict.fromkeys(str(k or "none") for k in comparison.crossing_ci95))
        gain = f"{100 * comparison.last_gain:+.1f} points"
        gain_bounds = " to ".join(f"{100 * end:+.1f}" for end in comparison.last_gain_ci95)
        crossings.append((name, comparison.prompts, comparison.crossing or "none", bounds, gain, gain_bounds))
    last = len(next(iter(compared.values())).before)
    parts = [
        "Loop C, learn: does learning make one sample better, and many samples worse?",
        f"strict scorer, {steps} updates, {samples} completions a prompt, seeds: {seeds}",
        table(("prompts", "learning", *(f"pass@{k}" for k in _KS), "entropy"), curves, right=range(2, 7)),
        table(("prompts", "n", "crossing", "95 %", f"pass@{last}, gain", "95 %"), crossings, right=[1, 2, 4]),
        fill(_LEGEND, WIDTH),
    ]
    return "\n\n".join(parts)


def pass_at_k_figure(compared: Mapping[str, LearningEffect]) -> bytes:
    """Both curves over k; a dotted line where they cross, a shade over the 95 % interval of that k."""
    fig = figure(8.4, 1.2 + 1.4 * len(compared), "pass@k before and after learning")
    panels = fig.subplots((len(compared) + 1) // 2, 2, sharex=True, sharey=True, squeeze=False).flat
    for axes, (name, comparison) in zip(panels, compared.items(), strict=False):
        ks = range(1, len(comparison.before) + 1)
        low, high = comparison.crossing_ci95
        axes.plot(ks, comparison.before, color=GREY, label="before learning")
        axes.plot(ks, comparison.after, color=BLUE, label="after")
        if low is not None:
            axes.axvspan(low, high or len(comparison.before), color=ORANGE, alpha=0.15, linewidth=0)
        if comparison.crossing is not None:
            axes.axvline(
                comparison.crossing, color=ORANGE, linestyle=":", label="lower from here on, and its 95 % interval"
            )
        label_axes(
            axes,
            "",
            "",
            f"{name}: entropy {comparison.entropy_before:.2f} → {comparison.entropy_after:.2f} nats a token",
        )
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, 2, 4, 8, 16, 32, 64, 128], ["1", "2", "4", "8", "16", "32", "64", "128"])
    fig.supxlabel("k, samples of a prompt\n")  # room for the legend, which Matplotlib puts over it
    fig.supylabel("pass@k, strict scorer")
    legend_below(fig, 3)
    return png(fig)
