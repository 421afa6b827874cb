"""What course.token_train prints: the plan, updates token by token, the evaluations, what the policy writes."""

from collections.abc import Sequence
from itertools import count, groupby
from typing import TYPE_CHECKING

from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow, TokenUpdateRow
from course.reports.tables import interval, percent, shape, table
from course.stats import wilson_interval
from course.text import clipped, one_line

if TYPE_CHECKING:
    from course.policies.presets import Plan

_EVALUATIONS = 9  # rows of that table
_KINDS = 4  # kinds of text that are shown


def token_train_text(
    plan: "Plan",
    dataset: str,
    rubric: str,
    slow: Sequence[TokenUpdateRow],
    rows: Sequence[EvaluationRow],
    written: Sequence[LearningResult],
    holdout_prompts: int,
) -> str:
    """The report. ``slow``: updates to show token by token; ``rows``: the log; ``written``: the last completions."""
    last = rows[-1].step
    ended = [f"interrupted after {last} of {plan.steps} updates: the policy after update {last} is kept"]
    return "\n\n".join(
        [
            "Loop C, learn: a policy made of tokens learns from a verifier's rewards.",
            plan_text(plan, dataset, rubric),
            *([slow_text(slow)] if slow else []),
            evaluations_table(rows, len(written), holdout_prompts),
            *(ended if last < plan.steps else []),
            written_table(written),
        ]
    )


def plan_text(plan: "Plan", dataset: str, rubric: str) -> str:
    """What the policy was trained on, and how."""
    batch = f"up to {plan.prompts_a_step} prompts x {plan.group_size} completions"
    return "\n".join(
        [
            f"prompts    {clipped(dataset, 60)}",
            f"start      {plan.sft_steps} steps of supervised fine-tuning on careless demonstrations",
            f"learning   {plan.steps} updates, each of {batch}",
            f"           lr {plan.lr:g}, baseline {plan.baseline}, kl_coef {plan.kl_coef:g}",
            f"reward     {rubric}; the strict scorer and the holdout enter no update",
        ]
    )


def evaluations_table(rows: Sequence[EvaluationRow], prompts: int, holdout_prompts: int) -> str:
    """Up to nine evaluations as a table, and the strict pass rates at both ends, with the interval of the last."""
    last = len(rows) - 1
    picked = [rows[i] for i in sorted({round(part * last / (_EVALUATIONS - 1)) for part in range(_EVALUATIONS)})]
    shares = ("proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward")
    cells = [
        (row.step, *(_rate(getattr(row, name)) for name in shares), f"{row.kl:.1f}", f"{row.mean_length:.1f}")
        for row in picked
    ]
    header = ("updates", "rubric", "strict", "rubric, holdout", "strict, holdout", "KL", "tokens")
    lines = [table(header, cells, right=range(len(header))), ""]
    lines.append(f"strict, trained on (n = {prompts}): {_rise(rows[0].true_reward, rows[-1].true_reward, prompts)}")
    before, after = rows[0].holdout_true_reward, rows[-1].holdout_true_reward
    if before is not None and after is not None:
        lines.append(f"strict, never seen (n = {holdout_prompts}): {_rise(before, after, holdout_prompts)}")
    return "\n".join(lines)


def _rate(reward: float | None) -> str:
    return "-" if reward is None else f"{reward:.3f}"


def _rise(before: float, after: float, n: int) -> str:
    return f"{percent(before)} -> {percent(after)} (95 % {interval(wilson_interval(round(after * n), n))})"


def written_table(written: Sequence[LearningResult]) -> str:
    """The policy's most common kinds of text, each with both rewards and an example."""
    kinds: dict[tuple[str, float, float], list[str]] = {}
    for row in written:
        proxy = row.reward if row.proxy_reward is None else row.proxy_reward
        kinds.setdefault((shape(row.completion or ""), proxy, row.reward), []).append(row.completion or "")
    rows = [
        (f"{len(texts)} of {len(written)}", f"{proxy:g}", f"{true:g}", one_line(texts[0], 46))
        for (_, proxy, true), texts in sorted(kinds.items(), key=lambda kind: -len(kind[1]))[:_KINDS]
    ]
    return table(("it writes", "rubric", "strict", "such as"), rows, right=(0, 1, 2))


def slow_text(rows: Sequence[TokenUpdateRow]) -> str:
    """Updates token by token: of each the completions with the highest and the lowest advantage."""
    parts = [
        "One reward, at the end; its advantage multiplies the gradient of every token\n"
        "alike. All completions of an update change the same weights: a token can rise\n"
        "although its own advantage is negative."
    ]
    for step, group in groupby(rows, key=lambda row: row.step):
        ranked = sorted(group, key=lambda row: (row.advantage, len(row.tokens)))
        parts += [f"update {step}, {len(ranked)} completions", *map(_completion_text, (ranked[-1], ranked[0]))]
    return "\n\n".join(parts)


def _completion_text(row: TokenUpdateRow) -> str:
    return_ = f"({row.reward:g} - {row.kl_coef:g} * {row.log_ratio:.3f})" if row.kl_coef else f"{row.reward:g}"
    texts = [f"'{one_line(token, 16)}'" if token else "end of text" for token in row.tokens]
    cells = (
        (place, text, f"{before:+.3f}", f"{after:+.3f}", f"{after - before:+.4f}")
        for place, text, before, after in zip(count(1), texts, row.log_probs, row.new_log_probs, strict=False)
    )
    return (
        f"{clipped(row.id, 20)} wrote {one_line(row.completion, 50)}\n"
        f"advantage = {return_} - {row.baseline:.3f} = {row.advantage:+.3f}\n\n"
        + table(("token", "text", "log p before", "log p after", "change"), cells, right=(0, 2, 3, 4))
    )
