"""What course.kl_tradeoff_demo prints, and its rows for a spreadsheet."""

import csv
from collections.abc import Mapping, Sequence
from io import StringIO
from textwrap import fill
from typing import Any

from course.artifacts.learning import TradeoffRow
from course.reports.tables import WIDTH, table
from course.text import clipped


def kl_tradeoff_text(
    rows: Sequence[TradeoffRow], summary: Mapping[str, Any], actions: Sequence[tuple[str, float, float, float]]
) -> str:
    """The actions, the optimum for each beta, best-of-N, and how to read them.

    ``actions``: completion, probability under the reference, reward, reward by the verifier.
    """
    choices = [
        (action, f"{p:.2f}", f"{reward:.2f}", f"{verifier:.0f}", clipped(text, 42))
        for action, (text, p, reward, verifier) in enumerate(actions)
    ]
    optima = [
        ("infinite" if row.beta is None else f"{row.beta:g}", *_cells(row))
        for row in rows
        if row.kind in ("reference", "closed_form", "best_action")
    ]
    best_of_n = [(row.n, *_cells(row), f"{row.kl_bound:.3f}") for row in rows if row.kind == "best_of_n"]
    numbers = ("reward", "KL", "verifier", "top three actions")
    return "\n\n".join(
        [
            "Loop C, learn: the policy itself changes, and a KL penalty holds it back.",
            table(("action", "reference", "reward", "verifier", "completion"), choices, right=(0, 1, 2, 3)),
            "The optimum of mean reward - beta * KL, from a strong penalty to none:",
            table(("beta", *numbers), optima, right=(0, 1, 2, 3)),
            "Loop B beside it: best-of-N of the reference, which does not change:",
            table(("N", *numbers, "KL at most"), best_of_n, right=(0, 1, 2, 3, 5)),
            _reading(rows, summary),
        ]
    )


def csv_text(rows: Sequence[TradeoffRow]) -> str:
    """The rows for a spreadsheet: numbers and the kind only, so no cell can be taken for a formula."""
    out = StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    names = ("kind", "beta", "n", "mean_reward", "verifier_reward", "kl", "kl_bound")
    tops = [name for place in (1, 2, 3) for name in (f"top{place}", f"top{place}_prob")]
    writer.writerow([*names, *tops, *(f"p{action}" for action in range(len(rows[0].probs)))])
    for row in rows:
        writer.writerow(
            [*(getattr(row, name) for name in names), *(cell for top in row.top3 for cell in top), *row.probs]
        )
    return out.getvalue()


def _reading(rows: Sequence[TradeoffRow], summary: Mapping[str, Any]) -> str:
    optima = [row for row in rows if row.kind == "closed_form"]
    first, last, best = optima[0], optima[-1], max(optima, key=lambda row: row.verifier_reward)
    best_of_n = [row for row in rows if row.kind == "best_of_n"][-1]
    graded = summary["rewards"] == "graded"
    sentences = [
        f"A weaker penalty means more reward and more KL: from beta {first.beta:g} to {last.beta:g} the mean "
        f"reward goes from {first.mean_reward:.3f} to {last.mean_reward:.3f} and the KL from {first.kl:.3f} to "
        f"{last.kl:.3f} nats. No other policy gets as much reward at the same KL.",
        "Gradient ascent ends at the closed form: no probability differs by more than "
        f"{summary['ascent_max_difference']:.0e}.",
        f"Best-of-N trains nothing, and yet what it delivers is {best_of_n.kl:.3f} nats from the reference at N = "
        f"{best_of_n.n}, where the bound is {best_of_n.kl_bound:.3f}. "
        + ("It is never above the curve." if graded else "With rewards of 0 or 1 it lies on the curve."),
    ]
    if graded:
        sentences.append(
            "The grades are invented, as a careless judge might give them. As the penalty weakens, the verifier's "
            f"reward rises to {best.verifier_reward:.3f} at beta {best.beta:g} and then falls to "
            f"{last.verifier_reward:.3f} at beta {last.beta:g}, while the judge's keeps rising: what the judge "
            "overrates wins."
        )
    else:
        sentences.append(
            "beta = 0 has no row: several actions have the highest reward, and any mix of them is optimal."
        )
    return "\n".join(fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ") for sentence in sentences)


def _cells(row: TradeoffRow) -> tuple[str, ...]:
    top = "  ".join(f"{action} {p:.3f}" for action, p in row.top3 if p > 0)
    return f"{row.mean_reward:.3f}", f"{row.kl:.3f}", f"{row.verifier_reward:.3f}", top
