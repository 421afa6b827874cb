"""Loop C with tokens as text: the looks at a policy, what it writes, and an update token by token."""

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from course.artifacts.token_rows import Measured, Pushed, measured_row
from course.reports.tables import interval, percent, shape, table
from course.stats import wilson_interval
from course.text import clipped, one_line

if TYPE_CHECKING:
    from course.policies.evaluation import Moment, Probe
    from course.policies.presets import Plan

_LOOKS = 9  # rows of the table of looks
_KINDS = 4  # kinds of text that are shown


def live(moment: "Moment") -> str:
    """A look in a few words, beside the progress bar."""
    row = measured_row(moment)
    return f"reward {row.proxy_reward:.2f}, true {row.true_reward:.2f}, KL {row.kl:.1f}, length {row.mean_length:.1f}"


def plan_text(plan: "Plan", dataset: str, rubric: str, look: int) -> str:
    """What was trained, on what, and what was only looked at. ``look``: which one at the holdout, or 0."""
    batch = f"{plan.steps} updates, each of up to {plan.prompts_a_step} prompts x {plan.group_size} completions"
    lines = [
        f"prompts    {clipped(dataset, 60)}",
        f"start      {plan.sft_steps} steps of imitating careless demonstrations",
        f"learning   {batch}",
        f"           lr {plan.lr:g}, baseline {plan.baseline}, kl_coef {plan.kl_coef:g}",
        f"paid by    {rubric}; the strict scorer and the holdout are only measured",
    ]
    if look:
        lines.append(f"holdout    look number {look} at it; each look is a chance to tune on it")
    return "\n".join(lines)


def looks_text(rows: Sequence[Measured], prompts: int, unseen: int) -> str:
    """The looks as a table, and the strict scorer's first and last word with its interval."""
    last = len(rows) - 1
    picked = sorted({round(place * last / (_LOOKS - 1)) for place in range(_LOOKS)})
    cells = (
        (
            row.step,
            rate(row.proxy_reward),
            rate(row.true_reward),
            rate(row.holdout_proxy_reward),
            rate(row.holdout_true_reward),
            f"{row.kl:.1f}",
            f"{row.mean_length:.1f}",
        )
        for row in (rows[place] for place in picked)
    )
    header = ("updates", "rubric", "strict", "rubric, holdout", "strict, holdout", "KL", "tokens")
    lines = [
        table(header, cells, right=range(len(header))),
        "",
        f"strict, learned on (n = {prompts}): {rise(rows[0].true_reward, rows[-1].true_reward, prompts)}",
    ]
    before, after = rows[0].holdout_true_reward, rows[-1].holdout_true_reward
    if before is not None and after is not None:
        lines.append(f"strict, never seen (n = {unseen}): {rise(before, after, unseen)}")
    return "\n".join(lines)


def rate(reward: float | None) -> str:
    return "-" if reward is None else f"{reward:.3f}"


def rise(before: float, after: float, n: int) -> str:
    """Two pass rates over n prompts, the second with its interval."""
    return f"{percent(before)} -> {percent(after)} (95 % {interval(wilson_interval(round(after * n), n))})"


def written_text(probe: "Probe") -> str:
    """What the policy writes: its most common kinds of text, each with what both verifiers pay and an example."""
    kinds: dict[tuple[str, float, float], list[str]] = {}
    for text, proxy, true in zip(probe.texts, probe.proxy.tolist(), probe.true.tolist(), strict=True):
        kinds.setdefault((shape(text), proxy, true), []).append(text)
    rows = [
        (f"{len(texts)} of {len(probe.texts)}", f"{proxy:g}", f"{true:g}", one_line(texts[0], 46))
        for (_, proxy, true), texts in sorted(kinds.items(), key=lambda kind: -len(kind[1]))[:_KINDS]
    ]
    return table(("it writes", "rubric", "strict", "such as"), rows, right=(0, 1, 2))


def slow_text(rows: Sequence[Pushed]) -> str:
    """Updates token by token: of each the completions with the highest and the lowest advantage."""
    parts = [
        "One reward, at the end; its advantage multiplies the push on every token alike.\n"
        "All completions of an update push the same weights: a token can rise against its\n"
        "own push where others push it harder."
    ]
    for step, group in groupby(rows, key=lambda row: row.step):
        ranked = sorted(group, key=lambda row: (row.advantage, len(row.pieces)))
        parts += [f"update {step}, {len(ranked)} completions", pushed_text(ranked[-1]), pushed_text(ranked[0])]
    return "\n\n".join(parts)


def pushed_text(row: Pushed) -> str:
    """One completion of an update: what it was paid, and what became of each of its tokens."""
    worth = f"{row.reward:g}"
    if row.kl_coef:
        worth = f"({row.reward:g} - {row.kl_coef:g} * {row.drift:.3f})"
    lines = [
        f"{clipped(row.id, 20)} wrote {one_line(row.completion, 50)}",
        f"advantage = {worth} - {row.baseline:.3f} = {row.advantage:+.3f}",
        "",
    ]
    cells = (
        (
            place,
            f"'{one_line(piece, 16)}'" if piece else "end of text",
            f"{before:+.3f}",
            f"{after:+.3f}",
            f"{after - before:+.4f}",
        )
        for place, (piece, before, after) in enumerate(
            zip(row.pieces, row.log_probs, row.new_log_probs, strict=True), 1
        )
    )
    lines.append(table(("token", "piece", "log p before", "log p after", "change"), cells, right=(0, 2, 3, 4)))
    return "\n".join(lines)
