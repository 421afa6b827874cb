"""Machinery: what course.goodhart_demo prints. Notation as in ``course.artifacts.inference``."""

from collections.abc import Mapping
from statistics import median

from course.artifacts.inference import Trainings, divergence_step, medians, rose
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import STRICT
from course.reports.tables import percent, table
from course.text import clipped, one_line

QUANTITIES = ("proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "kl")
_HEADER = ("proxy", "true", "holdout\nproxy", "\ntrue", "KL", "diverged\nat step")


def goodhart_text(
    by_rubric: Mapping[str, Trainings], by_beta: Mapping[float, Trainings], found: Mapping[str, LearningResult]
) -> str:
    """The report. ``found``: rubric → an exploit that its policy wrote, if there is one."""
    trainings = next(iter(by_rubric.values()))
    exploited = {name: row for name, row in found.items() if name in by_rubric and rose(by_rubric[name], "gap")}
    first = trainings[0][0]
    return "\n\n".join(
        [
            "Loop C, learn: the policy itself changes, rewarded by careless verifiers.",
            "proxy: the rubric's reward; true: the strict scorer's, for the same completions.\n"
            f"Means of {first.n} completions, {first.holdout_n} on the holdout, every {trainings[0][1].step} updates. "
            f"Seeds: {len(trainings)}\n(medians)",
            ends_table("trained on", by_rubric),
            *([exploits_table(exploited)] if exploited else []),
            "what generalised to prompts that were never trained on",
            generalised_table(by_rubric),
            *(["a KL penalty: 'anywhere' again, where a nat of KL from the reference costs beta"] if by_beta else []),
            *([ends_table("beta", {f"{beta:g}": rows for beta, rows in by_beta.items()})] if by_beta else []),
        ]
    )


def ends_table(name: str, groups: Mapping[str, Trainings]) -> str:
    """A row for each group: the medians over its seeds at the end of training, and the step where the two diverged."""
    rows = [
        (group, *(f"{medians(trainings, quantity)[-1]:.2f}" for quantity in QUANTITIES), diverged_text(trainings))
        for group, trainings in groups.items()
    ]
    return table((name, *_HEADER), rows, right=range(1, 7))


def diverged_text(trainings: Trainings) -> str:
    """The step at which proxy and true reward diverged; of several seeds the median, and in how many they did."""
    steps = [step for training in trainings if (step := divergence_step(training)) is not None]
    return f"{median(steps):g} ({len(steps)}/{len(trainings)})" if steps else "never"


def exploits_table(found: Mapping[str, LearningResult]) -> str:
    """An exploit of each rubric that has one, as the policy wrote it. What is cut ends in …"""
    rows = [
        (name, clipped(row.prompt, 14), f"{row.proxy_reward:.1f}", one_line(row.completion or "", 32))
        for name, row in found.items()
    ]
    return table(("exploited", "prompt", "proxy", "completion, true reward 0"), rows, right=(2,))


def generalised_table(by_rubric: Mapping[str, Trainings]) -> str:
    """What was learned on the training prompts, and how much of that gain there is on the holdout.

    The skill is true reward under the strict scorer; a hack is the share of completions that its rubric pays
    at least half and the strict scorer nothing.
    """
    rows = []
    for name, trainings in by_rubric.items():
        share, what = ("true_reward", "the skill") if name == STRICT else ("gap", f"hack: {name}")
        if rose(trainings, share):
            seen, unseen = medians(trainings, share), medians(trainings, f"holdout_{share}")
            kept = (unseen[-1] - unseen[0]) / (seen[-1] - seen[0])
            ends = (f"{curve[0]:.2f} -> {curve[-1]:.2f}" for curve in (seen, unseen))
            rows.append((what, *ends, percent(kept, 0) if rose(trainings, f"holdout_{share}") else "only noise"))
    if not rows:
        return "nothing: on the training prompts, too, nothing rose by more than noise"
    head = table(("learned", "on its prompts", "on the holdout", "generalised"), rows, right=(1, 2, 3))
    legend = "(gain on the holdout by gain on its prompts; over 100 %: it gained more there;"
    return f"{head}\n{legend}\na hack counts from half the reward on)"
