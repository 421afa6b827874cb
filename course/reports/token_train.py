"""Machinery: what course.token_train prints: updates token by token, the evaluations, what the policy writes."""

from collections.abc import Sequence
from itertools import count, groupby

from course.artifacts.inference import pooled_interval
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow, TokenUpdateRow
from course.policies.presets import Plan
from course.reports.tables import interval, percent, shape, table
from course.text import clipped, one_line

_EVALUATIONS = 9  # rows of that table
_KINDS = 4  # kinds of text that are shown


def token_train_text(
    plan: Plan,
    dataset: str,
    rubric: str,
    slow: Sequence[TokenUpdateRow],
    rows: Sequence[EvaluationRow],
    written: Sequence[LearningResult],
) -> str:
    """The report. ``slow``: updates to show token by token; ``rows``: the log; ``written``: the last completions."""
    last = rows[-1].step
    ended = [f"interrupted after {last} of {plan.steps} updates: the policy after update {last} is kept"]
    return "\n\n".join(
        [
            "Loop C, learn: a policy made of tokens learns from a verifier's rewards.",
            f"{plan.sft_steps} steps of fine-tuning on careless demonstrations, then {plan.steps} updates\n"
            f"prompts: {clipped(dataset, 60)}\n"
            f"reward: {rubric}; the strict scorer and the holdout enter no update",
            *([slow_text(slow)] if slow else []),
            evaluations_table(rows),
            *(ended if last < plan.steps else []),
            written_table(written),
        ]
    )


def evaluations_table(rows: Sequence[EvaluationRow]) -> str:
    """Up to nine evaluations as a table, and the intervals of the last one's strict pass rates."""
    last = rows[-1]
    places = sorted({round(part * (len(rows) - 1) / (_EVALUATIONS - 1)) for part in range(_EVALUATIONS)})
    cells = []
    for row in map(rows.__getitem__, places):
        rates = row.proxy_reward, row.true_reward, row.holdout_proxy_reward, row.holdout_true_reward
        shown = ["-" if rate is None else f"{rate:.3f}" for rate in rates]
        cells.append((row.step, *shown, f"{row.kl:.1f}", f"{row.mean_length:.1f}"))
    header = ("updates", "rubric", "strict", "rubric, holdout", "strict, holdout", "KL", "tokens")
    lines = [table(header, cells, right=range(7)), ""]
    for name, n, share in (
        ("trained on", last.n, "true_reward"),
        ("never seen", last.holdout_n, "holdout_true_reward"),
    ):
        if n:
            bounds = interval(pooled_interval([last], share))
            lines.append(f"strict, {name} (n = {n}): {percent(getattr(last, share))} (95 % {bounds})")
    return "\n".join(lines)


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
        f"{clipped(row.id, 20)} wrote {one_line(''.join(row.tokens), 50)}\n"
        f"advantage = {return_} - {row.baseline:.3f} = {row.advantage:+.3f}\n\n"
        + table(("token", "text", "log p before", "log p after", "change"), cells, right=(0, 2, 3, 4))
    )
