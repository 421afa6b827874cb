"""Machinery: what course.kl_tradeoff_demo prints, and its rows for a spreadsheet."""

from collections.abc import Sequence
from textwrap import fill

from msgspec.structs import astuple

from course.artifacts.learning import TradeoffRow
from course.reports.figures import BLUE, GREY, ORANGE, dress, figure, legend_below, png
from course.reports.tables import WIDTH, table
from course.text import clipped


def kl_tradeoff_text(
    rows: Sequence[TradeoffRow], actions: Sequence[tuple[str, float, float, float]], rewards: str
) -> str:
    """The actions, the optimum for each beta, best-of-N, and how to read them.

    ``actions``: completion, probability under the reference, reward, reward by the verifier. ``rewards``: where the
    rewards come from, "verifier" or "graded".
    """
    choices = [
        (action, f"{p:.2f}", f"{reward:.2f}", f"{verifier:.0f}", clipped(text, 42))
        for action, (text, p, reward, verifier) in enumerate(actions)
    ]
    optima = [(f"{row.beta:g}" if row.beta else "infinite", *_cells(row)) for row in rows if not row.n]
    best_of_n = [(row.n, *_cells(row), f"{row.kl_bound:.3f}") for row in rows if row.n]
    numbers = ("reward", "KL", "verifier", "top three actions")
    return "\n\n".join(
        [
            "Loop C, learn: the policy itself changes, and a KL penalty holds it back.",
            table(("action", "reference", "reward", "verifier", "completion"), choices, right=(0, 1, 2, 3)),
            "The optimum of mean reward - beta * KL, from a strong penalty to a weak one:",
            table(("beta", *numbers), optima, right=(0, 1, 2, 3)),
            "Loop B beside it: best-of-N of the reference, which does not change:",
            table(("N", *numbers, "KL at most"), best_of_n, right=(0, 1, 2, 3, 5)),
            _reading(rows, rewards),
        ]
    )


def csv_text(rows: Sequence[TradeoffRow]) -> str:
    """The rows for a spreadsheet: numbers only, so no cell can be taken for a formula."""
    *names, _, _ = TradeoffRow.__struct_fields__
    lines = [[*names, "top1", "top2", "top3", *(f"p{action}" for action in range(len(rows[0].probs)))]]
    lines += [[*numbers, *top3, *probs] for *numbers, top3, probs in map(astuple, rows)]
    return "".join(",".join("" if cell is None else str(cell) for cell in line) + "\n" for line in lines)


def _reading(rows: Sequence[TradeoffRow], rewards: str) -> str:
    optima = [row for row in rows if row.beta]
    first, last, best = optima[0], optima[-1], max(optima, key=lambda row: row.verifier_reward)
    sentences = [
        f"A weaker penalty means more reward and more KL: from beta {first.beta:g} to {last.beta:g} the mean "
        f"reward goes from {first.mean_reward:.3f} to {last.mean_reward:.3f} and the KL from {first.kl:.3f} to "
        f"{last.kl:.3f} nats. No other policy gets as much reward at the same KL.",
        "Best-of-N trains nothing, and yet what it delivers goes as far from the reference.",
    ]
    if rewards == "graded":
        sentences.append(
            f"As the penalty weakens, the verifier's reward rises to {best.verifier_reward:.3f} at beta "
            f"{best.beta:g} and then falls to {last.verifier_reward:.3f} at beta {last.beta:g}, while the graded one "
            "keeps rising: what the careless judge overrates wins."
        )
    return "\n".join(fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ") for sentence in sentences)


def _cells(row: TradeoffRow) -> tuple[str, ...]:
    top = "  ".join(f"{action} {row.probs[action]:.3f}" for action in row.top3)
    return f"{row.mean_reward:.3f}", f"{row.kl:.3f}", f"{row.verifier_reward:.3f}", top


_APART = 0.12  # nats between two labelled betas, at least


def kl_tradeoff_figure(rows: Sequence[TradeoffRow], curve: Sequence[TradeoffRow], rewards: str) -> bytes:
    """Mean reward against KL from the reference: the optimum for each beta, and best-of-N.

    ``curve``: the same rows for enough betas to make a smooth line. ``rewards``: "verifier" or "graded".
    """
    fig = figure(7.2, 4.8, "How much reward a policy can get for how much KL")
    axes = fig.subplots()
    smooth = [row for row in curve if row.beta]
    kls = [row.kl for row in smooth]
    axes.plot(kls, [row.mean_reward for row in smooth], color=BLUE, label="optimum, for betas from ∞ to 0")
    if rewards == "graded":
        axes.plot(kls, [row.verifier_reward for row in smooth], "--", color=GREY, label="its reward by the verifier")
    optima, choices = [row for row in rows if row.beta], [row for row in rows if row.n]
    for points, marker, color in ((optima, "o", BLUE), (choices, "D", ORANGE)):
        label = "best-of-N" if points is choices else None
        axes.plot([row.kl for row in points], [row.mean_reward for row in points], marker, color=color, label=label)

    for row in choices:
        axes.annotate(f"N = {row.n}", (row.kl, row.mean_reward), (8, -9), textcoords="offset points", color=ORANGE)
    free_from = _APART
    for row in optima:
        if row.kl > free_from:
            axes.annotate(f"{row.beta:g}", (row.kl, row.mean_reward), (-5, 5), textcoords="offset points", ha="right")
            free_from = row.kl + _APART
    dress(axes, "KL from the reference policy, in nats", f"mean reward ({rewards})")
    axes.margins(x=0.09)
    legend_below(fig, 3)
    return png(fig)
