"""Machinery: what course.token_train prints, each part as soon as it is known.

The heading, the updates token by token, the evaluations row by row, the last completions and their pass rates.
"""

from collections.abc import Sequence
from itertools import count

from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow, TokenUpdateRow, proxy_of
from course.policies.train_config import TrainConfig
from course.show.figures import BLUE, GREY, ORANGE, figure, label_axes, png
from course.show.tables import GrowingTable, interval, percent, table, text_shape
from course.stats import wilson_interval
from course.text import clipped, one_line

EVALUATION_TABLE = GrowingTable(
    ("updates", "rubric", "strict", "KL", "tokens"),
    ("100000", "0.000", "0.000", "100.0", "100.0"),
    range(5),
)
_ROWS = 9  # of that table
_KINDS = 4  # kinds of text that are shown
_PAID_FOR = {None: "", "other_form": "other form", "several": "several", "wrong": "wrong"}
SLOW = """\
Each completion gets one reward, at its end. Its advantage multiplies the
gradient of all its tokens alike. All completions of an update change the same
weights, so a token can rise although its own advantage is negative."""


def token_train_heading(config: TrainConfig, dataset: str, own_step: str = "") -> str:
    """The first lines, before anything is computed."""
    update = f"update: {own_step}, your own\n" if own_step else ""
    updates = "1 update" if config.steps == 1 else f"{config.steps} updates"
    return (
        "Loop C, learn: a policy that writes tokens learns from a verifier's rewards.\n\n"
        f"{config.sft_steps} steps of fine-tuning on careless demonstrations, then {updates}\n"
        f"prompts: {clipped(dataset, 60)}\n{update}"
        f"reward: {config.rubric}; the strict scorer enters no update\n"
        "Ctrl-C ends the training. Once the table below has a row, the run is kept, with\n"
        "the policy of the last row.\n"
    )


def steps_shown(config: TrainConfig) -> set[int]:
    """The steps of up to nine of the evaluations, the first and the last among them."""
    steps = [*range(0, config.steps, config.eval_every), config.steps]
    return {steps[round(part * (len(steps) - 1) / (_ROWS - 1))] for part in range(_ROWS)}


def evaluation_text(row: EvaluationRow) -> str:
    rates = (f"{row.proxy_reward:.3f}", f"{row.true_reward:.3f}")
    return EVALUATION_TABLE.row((row.step, *rates, f"{row.kl:.1f}", f"{row.mean_length:.1f}"))


def token_train_ending(config: TrainConfig, last: EvaluationRow, written: Sequence[LearningResult]) -> str:
    """The last completions, ``written``, and the strict pass rate with its interval."""
    lines = ["", texts_table(written), ""]
    if last.step < config.steps:
        kept = f"the policy after update {last.step} is kept"
        lines.append(f"interrupted after {last.step} of {config.steps} updates: {kept}")
    bounds = interval(wilson_interval(round(last.true_reward * last.n), last.n))
    rate = percent(last.true_reward)
    lines.append(f"strict, training prompts (n = {last.n}): {rate} (95 % interval {bounds})")
    return "\n".join(lines)


def texts_table(written: Sequence[LearningResult]) -> str:
    """The policy's most common kinds of text, each with both rewards and an example."""
    kinds: dict[tuple[str, float, float, str], list[str]] = {}
    for row in written:
        text = row.completion or ""
        kinds.setdefault((text_shape(text), proxy_of(row), row.reward, _PAID_FOR[row.kind]), []).append(text)
    rows = [
        (f"{len(texts)} of {len(written)}", f"{proxy:g}", f"{true:g}", says, one_line(texts[0], 38))
        for (_, proxy, true, says), texts in sorted(kinds.items(), key=lambda kind: -len(kind[1]))[:_KINDS]
    ]
    return table(("count", "rubric", "strict", "paid for", "such as"), rows, right=(0, 1, 2))


def slow_text(rows: Sequence[TokenUpdateRow]) -> str:
    """One update token by token: the completions with the highest and the lowest advantage."""
    ranked = sorted(rows, key=lambda row: (row.advantage, len(row.tokens)))
    head = f"update {rows[0].step}, {len(rows)} completions"
    return "\n\n".join([head, *map(_completion_text, (ranked[-1], ranked[0]))]) + "\n"


def _completion_text(row: TokenUpdateRow) -> str:
    return_ = f"{row.reward:g}"
    if row.kl_coef:
        return_ = f"({row.reward:g} - {row.kl_coef:g} * {row.log_ratio:.3f})"
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


def learning_curves(rows: Sequence[EvaluationRow], rubric: str) -> bytes:
    """Left: rewards of rubric and strict scorer. Right: KL, and tokens a completion."""
    fig = figure(8.4, 4.0, f"Trained on {rubric}: the rewards, and how far the policy went")
    rewards, kl = fig.subplots(1, 2, width_ratios=(3, 2))
    steps = [row.step for row in rows]
    if rubric != "score":
        rewards.plot(steps, [row.proxy_reward for row in rows], color=ORANGE, label=f"{rubric}, trained on")
    rewards.plot(steps, [row.true_reward for row in rows], color=BLUE, label="strict scorer")
    label_axes(rewards, "updates", "mean reward")
    kl.plot(steps, [row.kl for row in rows], color=GREY, label="KL from the reference, nats")
    kl.plot(steps, [row.mean_length for row in rows], ":", color="black", label="tokens a completion")
    label_axes(kl, "updates", "nats, tokens", rates=False)
    for axes, columns in ((rewards, 2), (kl, 1)):
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8, ncols=columns)
    return png(fig)
