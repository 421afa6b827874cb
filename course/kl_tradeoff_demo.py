"""Machinery: Loop C with a KL penalty: how much reward a policy gains, and how far it goes from its reference policy.

    python3 -m course.kl_tradeoff_demo
    python3 -m course.kl_tradeoff_demo --rewards verifier

A reference policy chooses among six completions of one prompt. For each beta the demo computes the policy where
training with that penalty ends, the one that maximises

    J = mean reward − beta · KL(policy ‖ reference)

The rewards are the grades of a careless judge, which overrates one wrong completion: far from the reference, the policy
earns more and is right less often. With ``--rewards verifier`` nothing is overrated, and the distance costs nothing.
Best-of-N of the reference policy is shown too, to compare learning (Loop C) with choosing (Loop B) at the same KL.
Nothing is sampled: every number is exact.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import TradeoffRow, learning_result
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.show.ending import end_run
from course.show.figures import BLUE, GREY, ORANGE, figure, label_axes, legend_below, png
from course.show.tables import WIDTH, table
from course.stats import best_of_n_kl_bound
from course.text import clipped

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

SPREADSHEET, FIGURE = "kl_tradeoff.csv", "kl_tradeoff.png"

# Completions of the bandit's prompt, the reference's probability of each, and a graded reward. The grades are invented,
# such as a careless judge might give: high for the right value, and highest for the right value said three times.
COMPLETIONS = (
    ("17 * 19 is 323.", 0.34, 0.35),
    ("The answer is 332.", 0.24, 0.0),
    ("Final: 332", 0.20, 0.2),
    ("Final: 323", 0.15, 0.8),
    ("Final: 323\n", 0.05, 0.7),
    ("Final: 323, 323, 323!", 0.02, 1.0),
)
BETA_SWEEP = (10.0, 5.0, 2.0, 1.0, 0.7, 0.5, 0.3, 0.2, 0.15, 0.1, 0.07, 0.05, 0.03)
BEST_OF = (1, 2, 4, 8, 16, 32)
_WHOSE_REWARDS = {
    "graded": "The rewards are a careless judge's grades; the verifier's stand beside them.",
    "verifier": "The rewards are the verifier's.",
}
_APART = 0.12  # nats between two labelled betas, at least


def tradeoff_rows(
    reference: "Floats", rewards: "Floats", verifier: "Floats", betas: Sequence[float]
) -> list[TradeoffRow]:
    """Every policy of the demo: the reference, the optimum for each beta, and best-of-N.

    ``reference``: [K] probabilities. ``rewards``: [K] what is maximised. ``verifier``: [K] the verifier's rewards.
    """
    import numpy as np

    from course.policies.kl_regularised import best_of_n, closed_form
    from course.policies.softmax import expected_reward, kl

    def row(p: "Floats", beta: float | None = None, n: int | None = None) -> TradeoffRow:
        mean_reward = float(expected_reward(p, rewards))
        verifier_reward = float(expected_reward(p, verifier))
        bound = None if n is None else best_of_n_kl_bound(n)
        top3 = np.argsort(-p, kind="stable")[:3].tolist()
        return TradeoffRow(beta, n, mean_reward, verifier_reward, float(kl(p, reference)), bound, top3, p.tolist())

    optima = [row(closed_form(reference, rewards, beta), beta=beta) for beta in betas]
    choices = [row(best_of_n(reference, rewards, n), n=n) for n in BEST_OF]
    return [row(reference), *optima, *choices]


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
            "Loop C, learn: the policy itself changes, and a KL penalty holds it back.\n" + _WHOSE_REWARDS[rewards],
            table(("action", "reference", "reward", "verifier", "completion"), choices, right=(0, 1, 2, 3)),
            "The optimum of mean reward - beta * KL, from a strong penalty to a weak one:",
            table(("beta", *numbers), optima, right=(0, 1, 2, 3)),
            "For comparison, Loop B: best-of-N of the reference policy, which stays the same:",
            table(("N", *numbers, "KL at most"), best_of_n, right=(0, 1, 2, 3, 5)),
            _how_to_read(rows, rewards),
        ]
    )


def csv_text(rows: Sequence[TradeoffRow]) -> str:
    """The rows for a spreadsheet: numbers only, so no cell can be taken for a formula."""
    numbers = [name for name in TradeoffRow.__struct_fields__ if name not in ("top3", "probs")]
    header = [*numbers, "top1", "top2", "top3"]
    header += [f"p{action}" for action in range(len(rows[0].probs))]
    lines = [",".join(header)]
    for row in rows:
        cells = [getattr(row, name) for name in numbers] + row.top3 + row.probs
        lines.append(",".join("" if cell is None else str(cell) for cell in cells))
    return "".join(f"{line}\n" for line in lines)


def _how_to_read(rows: Sequence[TradeoffRow], rewards: str) -> str:
    optima = [row for row in rows if row.beta]
    first = optima[0]
    last = optima[-1]
    best = max(optima, key=lambda row: row.verifier_reward)
    sentences = [
        f"A weaker penalty means more reward and more KL: from beta {first.beta:g} to {last.beta:g} the mean "
        f"reward goes from {first.mean_reward:.3f} to {last.mean_reward:.3f} and the KL from {first.kl:.3f} to "
        f"{last.kl:.3f} nats. No other policy gets as much reward at the same KL.",
        "Best-of-N trains nothing, yet its output also moves away from the reference.",
    ]
    if rewards == "graded":
        sentences.append(
            f"As the penalty weakens, the verifier's reward rises to {best.verifier_reward:.3f} at beta "
            f"{best.beta:g} and then falls to {last.verifier_reward:.3f} at beta {last.beta:g}, while the graded "
            "reward keeps rising: the completion that the careless judge overrates wins."
        )
    return "\n".join(fill(sentence, WIDTH, initial_indent="- ", subsequent_indent="  ") for sentence in sentences)


def _cells(row: TradeoffRow) -> tuple[str, ...]:
    top = "  ".join(f"{action} {row.probs[action]:.3f}" for action in row.top3)
    return f"{row.mean_reward:.3f}", f"{row.kl:.3f}", f"{row.verifier_reward:.3f}", top


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
    optima = [row for row in rows if row.beta]
    choices = [row for row in rows if row.n]
    for points, marker, color, label in ((optima, "o", BLUE, None), (choices, "D", ORANGE, "best-of-N")):
        axes.plot([row.kl for row in points], [row.mean_reward for row in points], marker, color=color, label=label)

    for row in choices:
        axes.annotate(f"N = {row.n}", (row.kl, row.mean_reward), (8, -9), textcoords="offset points", color=ORANGE)
    free_from = _APART
    for row in optima:
        if row.kl > free_from:
            axes.annotate(f"{row.beta:g}", (row.kl, row.mean_reward), (-5, 5), textcoords="offset points", ha="right")
            free_from = row.kl + _APART
    label_axes(axes, "KL from the reference policy, in nats", f"mean reward ({rewards})")
    axes.margins(x=0.09)
    legend_below(fig, 3)
    return png(fig)


def main() -> None:
    parser = Parser("course.kl_tradeoff_demo", "Loop C with a KL penalty: reward against KL from a reference policy.")
    help_ = "invented grades of a careless judge (default), or the verifier's 0 and 1"
    parser.add_argument("--rewards", choices=("graded", "verifier"), default="graded", help=help_)
    parser.add_run_options("highest_verifier_reward")
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import EXAMPLE

    completions, probabilities, grades = zip(*COMPLETIONS, strict=True)
    with RunWriter(args.outdir) as run:
        results = [learning_result(EXAMPLE, completion, 0) for completion in completions]
        verifier = [result.reward for result in results]
        rewards = grades if args.rewards == "graded" else verifier
        actions = list(zip(completions, probabilities, rewards, verifier, strict=True))
        arrays = np.array(probabilities), np.array(rewards), np.array(verifier)
        rows = tradeoff_rows(*arrays, BETA_SWEEP)
        curve = tradeoff_rows(*arrays, np.geomspace(100, 0.005, 200).tolist())
        summary = {
            "reference_reward": rows[0].mean_reward,
            "highest_verifier_reward": max(row.verifier_reward for row in rows if row.beta),
        }
        run.write_rows(RESULTS, results)
        run.write_bytes(SPREADSHEET, csv_text(rows).encode("utf-8"))
        run.write_bytes(FIGURE, kl_tradeoff_figure(rows, curve, args.rewards))
        settings = {"rewards": args.rewards, "actions": actions, "betas": BETA_SWEEP, "best_of": BEST_OF}
        report = kl_tradeoff_text(rows, actions, args.rewards)
        end_run(run, conditions_of(args, settings), summary, report, read=[FIGURE, SPREADSHEET])


if __name__ == "__main__":
    run_command(main)
