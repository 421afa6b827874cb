"""Machinery: learning curves of a token policy."""

from collections.abc import Sequence

from course.artifacts.token_rows import EvaluationRow
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png


def learning_curves(rows: Sequence[EvaluationRow], rubric: str) -> bytes:
    """Left: rewards of rubric and strict scorer, dashed on the holdout. Right: KL, and tokens a completion."""
    sheet = figure(8.4, 4.0, f"Trained on {rubric}: the rewards, and how far the policy went")
    rewards, kl = sheet.subplots(1, 2, width_ratios=(3, 2))
    steps = [row.step for row in rows]
    curves = [("strict scorer", BLUE, [row.true_reward for row in rows], [row.holdout_true_reward for row in rows])]
    if rubric != "score":
        proxy = [row.proxy_reward for row in rows], [row.holdout_proxy_reward for row in rows]
        curves.insert(0, (f"{rubric}, trained on", ORANGE, *proxy))
    for name, color, train, holdout in curves:
        rewards.plot(steps, train, color=color, label=name)
        if None not in holdout:
            rewards.plot(steps, holdout, "--", color=color, label=f"{name.partition(',')[0]}, holdout")
    dress(rewards, "updates", "mean reward")
    rewards.set_ylim(-0.03, 1.03)
    kl.plot(steps, [row.kl for row in rows], color=GREY, label="KL from the reference, nats")
    kl.plot(steps, [row.mean_length for row in rows], ":", color="black", label="tokens a completion")
    dress(kl, "updates", "nats, tokens")
    kl.set_ylim(bottom=0)
    for axes, columns in ((rewards, 2), (kl, 1)):
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8, ncols=columns)
    return png(sheet)
