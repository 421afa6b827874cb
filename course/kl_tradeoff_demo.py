"""Machinery: Loop C with a KL penalty. How much reward a policy gains, and how far it goes from its reference policy.

    python3 -m course.kl_tradeoff_demo
    python3 -m course.kl_tradeoff_demo --rewards graded

A reference policy chooses among six completions of one prompt. For each beta the demo computes the policy where
training with that penalty ends, the one that maximises

    J = mean reward − beta · KL(policy ‖ reference)

Best-of-N of the reference stands beside it, to compare learning (Loop C) with choosing (Loop B) at the same KL.
Nothing is sampled: every number is exact.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from course.artifacts.learning import TradeoffRow, learning_result
from course.artifacts.records import RESULTS
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.publishing import conditions_of, publish
from course.reports.kl_tradeoff_demo import csv_text, kl_tradeoff_figure, kl_tradeoff_text
from course.stats import best_of_n_kl_bound

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

SPREADSHEET, FIGURE = "kl_tradeoff.csv", "kl_tradeoff.png"

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
        mean_reward, verifier_reward = (float(expected_reward(p, kind)) for kind in (rewards, verifier))
        bound = None if n is None else best_of_n_kl_bound(n)
        top3 = np.argsort(-p, kind="stable")[:3].tolist()
        return TradeoffRow(beta, n, mean_reward, verifier_reward, float(kl(p, reference)), bound, top3, p.tolist())

    optima = [row(closed_form(reference, rewards, beta), beta=beta) for beta in betas]
    return [row(reference), *optima, *(row(best_of_n(reference, rewards, n), n=n) for n in BEST_OF)]


def main() -> None:
    parser = Parser("course.kl_tradeoff_demo", "Loop C with a KL penalty: reward against KL from a reference policy.")
    help_ = "0 and 1 from the verifier (default), or invented grades"
    parser.add_argument("--rewards", choices=("verifier", "graded"), default="verifier", help=help_)
    parser.add_run_options()
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
        publish(run, conditions_of(args, settings), summary, report, read=[FIGURE, SPREADSHEET])


if __name__ == "__main__":
    run_command(main)
