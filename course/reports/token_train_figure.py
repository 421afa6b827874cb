"""What became of a token policy, as a figure."""

from collections.abc import Sequence

from course.artifacts.token_rows import Measured
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, png


def learning_curves(rows: Sequence[Measured], rubric: str) -> bytes:
    """Rewards over updates, of the rubric and of the strict scorer, on the prompts learned on and on the holdout;

    and beside them how far the policy drifted and how much it writes.
    """
    sheet = figure(8.4, 3.8)
    rewards, drift = sheet.subplots(1, 2, width_ratios=(3, 2))
    steps = [row.step for row in rows]
    curves = [("strict scorer", BLUE, [row.true_reward for row in rows], [row.holdout_true_reward for row in rows])]
    if rubric != "score":
        paid = [row.proxy_reward for row in rows], [row.holdout_proxy_reward for row in rows]
        curves.insert(0, (f"{rubric}, which it is trained on", ORANGE, *paid))
    for name, color, train, holdout in curves:
        rewards.plot(steps, train, color=color, label=name)
        if None not in holdout:
            rewards.plot(steps, holdout, "--", color=color, label=f"{name.partition(',')[0]}, holdout")
    dress(rewards, "updates", "mean reward")
    rewards.set_ylim(-0.03, 1.03)

    drift.plot(steps, [row.kl for row in rows], color=GREY, label="KL from the start, in nats")
    drift.plot(steps, [row.mean_length for row in rows], ":", color="black", label="tokens a completion")
    dress(drift, "updates", "nats, tokens")
    drift.set_ylim(bottom=0)
    for axes in (rewards, drift):
        axes.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False, fontsize=8, ncols=1 + (axes is rewards)
        )
    return png(sheet)
