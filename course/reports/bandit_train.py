"""Machinery: what course.bandit_train prints, and its log as a story to be annotated."""

from collections.abc import Mapping, Sequence
from typing import Any

from course.artifacts.learning import UpdateRow
from course.reports.tables import table
from course.reports.updates import before_and_after, heading, how_to_read, state_text, update_in_words, update_line
from course.text import clipped


def bandit_text(rows: Sequence[UpdateRow], summary: Mapping[str, Any], arms: Sequence[str]) -> str:
    """The policy before and after; the ablation if there was one."""
    parts = [
        heading(rows),
        before_and_after(rows, arms),
        f"expected reward {summary['expected_reward_before']:.3f} -> {summary['expected_reward_after']:.3f}",
    ]
    return "\n\n".join(parts + ([ablation_text(summary["ablation"])] if "ablation" in summary else []))


def ablation_text(ablation: Mapping[str, Any]) -> str:
    """What a baseline buys for certain, and when the mean reward lowers the variance."""
    sides, variances = ablation["learning"], ablation["variances"]
    ends = [
        (f"{side['offset']:g}", "yes" if side["baseline"] else "no", f"{side['mean']:.3f}", f"{side['below_half']:,}")
        for side in sides
    ]
    header = ("reward offset", "baseline", "expected reward at the end", "runs that end below 0.5")
    names = {"none": "0: no baseline", "running_mean": "the mean reward so far", "best_constant": "b*"}
    rows = [(name, f"{variances[key]:.4f}") for key, name in names.items()]
    best, expected = variances["best_baseline"], variances["expected_reward"]
    return f"""\
Ablation: {ablation["runs"]:,} runs on the same draws, with the baseline and without it.

{table(header, ends, right=(0, 2, 3))}

The first update sees a constant added to every reward in full, for its baseline
is 0; from the second on the baseline cancels it. Without one the constant
counts for whatever was sampled, right or wrong.

{table(("baseline b", "variance of an estimate, mean over the updates"), rows, right=(1,))}

Variances are for offset 0, at the policies of the runs with the baseline. A
baseline that does not depend on the sampled action never changes the mean of
the estimate. It lowers the variance only between 0 and 2 b*: with two arms, one
of them right, the mean reward is there until p = 2/3 (ablation.png). This
bandit has two right arms, so its 2 b* is another, {2 * best:.3f} on average, and the
expected reward is {expected:.3f}: here the baseline lowered it in {100 * variances["lowered"]:.1f} % of the
updates."""


def story_text(rows: Sequence[UpdateRow], arms: Sequence[str]) -> str:
    """The whole run as text: what each update reinforced or suppressed, and why."""
    arm_lines = (f"  {arm}  {clipped(text, 70)}" for arm, text in enumerate(arms))
    lines = [state_text(rows[0].prompt), "", "The arms", *arm_lines, "", how_to_read(rows[0].lr), ""]
    for row in rows:
        lines += [update_line(row), f"          {update_in_words(row)}"]
    return "\n".join(lines) + "\n"
