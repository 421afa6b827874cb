"""Loop C with a KL penalty: how much reward a policy gains, and how far it goes from its reference policy.

    python -m course.kl_tradeoff_demo
    python -m course.kl_tradeoff_demo --rewards graded

A reference policy chooses among six completions of one prompt. For each beta the policy that maximises

    J = mean reward − beta · KL(policy ‖ reference)

is computed twice: in closed form, and by gradient ascent from the reference. Best-of-N of the reference stands beside
them, to compare learning (Loop C) with choosing (Loop B) at the same KL. Nothing is sampled: every number is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from course.artifacts.learning import TradeoffKind, TradeoffRow, learning_result
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.publishing import Conditions, publish
from course.reports.kl_tradeoff_demo import csv_text, kl_tradeoff_text
from course.reports.kl_tradeoff_demo_figure import kl_tradeoff_figure
from course.stats import best_of_n_kl_bound

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

SPREADSHEET, LOG, FIGURE = "kl_tradeoff.csv", "kl_tradeoff.jsonl", "kl_tradeoff.png"

# Completions of the bandit's prompt, the reference's probability of each, and a graded reward. The grades are invented,
# such as a careless judge might give: they like the right value, and they like it best said three times.
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
ASCENT_STEPS = 60  # each halves the distance to the optimum


def ascend(reference: Floats, rewards: Floats, beta: float) -> Floats:
    """Loop C, whole: gradient ascent on J, from the reference.

    It follows the natural gradient. The plain one hardly changes what the reference seldom writes: for beta below 0.1,
    20,000 steps of 1 / beta still end 1e-5 from the optimum.
    """
    import numpy as np

    from course.policies.kl_regularised import natural_gradient
    from course.policies.reinforce import apply_gradient
    from course.policies.softmax import softmax

    theta = np.log(reference)
    for _ in range(ASCENT_STEPS):
        direction = natural_gradient(softmax(theta), reference, rewards, beta)
        theta = apply_gradient(theta, direction, lr=1 / (2 * beta))
    return softmax(theta)


def tradeoff_rows(
    reference: Floats, rewards: Floats, verifier: Floats, betas: Sequence[float] = BETA_SWEEP
) -> list[TradeoffRow]:
    """Every policy of the demo: the reference, the optimum from a large beta to beta = 0, and best-of-N."""
    import numpy as np

    from course.policies.kl_regularised import best_of_n, closed_form
    from course.policies.softmax import expected_reward, kl

    def row(kind: TradeoffKind, p: Floats, beta: float | None = None, n: int | None = None) -> TradeoffRow:
        return TradeoffRow(
            kind=kind,
            beta=beta,
            n=n,
            mean_reward=float(expected_reward(p, rewards)),
            verifier_reward=float(expected_reward(p, verifier)),
            kl=float(kl(p, reference)),
            kl_bound=None if n is None else best_of_n_kl_bound(n),
            top3=[(action, float(p[action])) for action in np.argsort(-p, kind="stable")[:3].tolist()],
            probs=p.tolist(),
        )

    rows = [row("reference", reference)]
    for beta in betas:
        rows.append(row("closed_form", closed_form(reference, rewards, beta), beta))
        rows.append(row("gradient_ascent", ascend(reference, rewards, beta), beta))
    best = rewards == rewards.max()
    if best.sum() == 1:  # of several best actions, every mix is optimal at beta = 0: no single policy is
        rows.append(row("best_action", best.astype(np.float64), 0.0))
    return rows + [row("best_of_n", best_of_n(reference, rewards, n), n=n) for n in BEST_OF]


def main() -> int:
    parser = Parser(
        "course.kl_tradeoff_demo", "Loop C with a KL penalty: reward against the distance from a reference policy."
    )
    parser.add_argument(
        "--rewards",
        choices=("verifier", "graded"),
        default="verifier",
        help="0 and 1 from the verifier (default), or invented grades",
    )
    parser.add_run_options()
    args = parser.parse_args()

    import numpy as np

    from course.policies.bandit import EXAMPLE

    completions, probabilities, grades = zip(*COMPLETIONS, strict=True)
    with RunWriter(args.outdir) as run:
        results = [learning_result(EXAMPLE, completion, 0) for completion in completions]
        verifier = [result.reward for result in results]
        rewards = grades if args.rewards == "graded" else verifier
        arrays = np.array(probabilities), np.array(rewards), np.array(verifier)
        rows = tradeoff_rows(*arrays)
        optima, ascents = ([row for row in rows if row.kind == kind] for kind in ("closed_form", "gradient_ascent"))
        difference = np.subtract([row.probs for row in optima], [row.probs for row in ascents])
        many_betas = np.geomspace(100, 0.005, 200).tolist()
        curve = [row for row in tradeoff_rows(*arrays, many_betas) if row.kind == "closed_form"]
        summary: dict[str, Any] = {
            "rewards": args.rewards,
            "reference_reward": rows[0].mean_reward,
            "highest_verifier_reward": max(row.verifier_reward for row in optima),
            "ascent_max_difference": float(np.abs(difference).max()),
        }
        actions = list(zip(completions, probabilities, rewards, verifier, strict=True))
        run.write_rows(RESULTS, results)
        run.write_rows(LOG, rows)
        run.write_bytes(SPREADSHEET, csv_text(rows).encode("utf-8"))
        run.write_bytes(FIGURE, kl_tradeoff_figure(rows, curve, args.rewards))
        settings = {"rewards": args.rewards, "actions": actions, "betas": BETA_SWEEP}
        publish(
            run,
            Conditions("C", "course.kl_tradeoff_demo", settings, args.change),
            summary,
            kl_tradeoff_text(rows, summary, actions),
            read=[FIGURE, SPREADSHEET],
        )
    return 0


if __name__ == "__main__":
    run_command(main)
