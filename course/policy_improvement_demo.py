"""Machinery: Loops B and C side by side. Both raise the reward of what is delivered, only one changes the policy.

    python3 -m course.policy_improvement_demo --mode selection
    python3 -m course.policy_improvement_demo --mode learning

Each round samples N completions of one prompt from a toy policy. Selection delivers the best of them and keeps the
policy; learning delivers the first, and updates the policy from the rewards of all of them. ``pass@1`` is the policy's
own, exact: the probability that one fresh sample gets reward 1. It changes in one mode only.

``--mode selection`` also chooses among the first N of the lab's recorded samples (``PACK``), whose policy nobody can
change any more. These choices are the run's results; the rounds of the toy policy are its log.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

from course.artifacts.learning import RoundRow, learning_result
from course.artifacts.records import RESULTS, Details, Result, Selection
from course.artifacts.summary import choice_of, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.files import LAB
from course.datasets.pairing import paired
from course.datasets.sources import Dataset, SelectionPack, provenance
from course.errors import UserError
from course.publishing import conditions_of, publish
from course.reports.policy_improvement_demo import policy_improvement_text
from course.reports.updates import knob_of
from course.score import measure
from course.stats import mean

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

LOG = "policy_improvement.jsonl"
START = (1.0, -0.5, 0.5, -1.0)  # logits of the arms at the start: the right ones are not the favourites
LEARNING_RATE = 0.5
DATASET = LAB / "data" / "datasets" / "math_dev.jsonl"
PACK = LAB / "data" / "rollouts" / "selection_pack_dev.jsonl"


def improve(mode: Literal["selection", "learning"], draws: "Floats") -> Iterator[RoundRow]:
    """Both loops in one place, a round for each row of the uniform ``draws`` [rounds, N]: only the end differs."""
    import numpy as np

    from course.policies.bandit import ARMS, arm_rewards
    from course.policies.reinforce import apply_gradient
    from course.policies.softmax import expected_reward, grad_log_prob, sample, softmax

    rewards = arm_rewards()
    theta = np.array(START)
    for number, u in enumerate(draws, 1):
        p = softmax(theta)
        action = sample(p, u)
        reward = rewards[action]
        delivered = float(reward.max() if mode == "selection" else reward[0])
        if mode == "learning":
            advantage = reward - reward.mean()
            direction = (advantage[:, None] * grad_log_prob(p, action)).mean(axis=0)
            theta = apply_gradient(theta, direction, LEARNING_RATE)
        new_p = softmax(theta)
        texts = [ARMS[a] for a in action]
        before, after = (float(expected_reward(policy, rewards)) for policy in (p, new_p))
        numbers = (p.tolist(), action.tolist(), texts, reward.tolist(), delivered, new_p.tolist())
        yield RoundRow(number, before, *numbers, after)


def select_first_best(dataset: Dataset, pack: SelectionPack) -> Iterator[Selection]:
    """Loop B on recorded samples: of the first ``pack.n`` of each prompt, the first of the best."""
    for example, samples in paired(dataset, pack, missing_allowed=False, dataset=dataset.path, completions=pack.path):
        if samples is None:
            continue  # paired() refuses the run at its end
        measured = [measure(example.expected_answer, sample) for sample in samples]
        rewards = [measurement.reward for measurement in measured]
        best = rewards.index(max(rewards[: pack.n]))
        reward, outcome, parsed = measured[best]
        scored = (example.id, example.prompt, example.expected_answer, samples[best], reward, Details(outcome, parsed))
        yield Selection(*scored, samples[: pack.n], rewards[: pack.n], best, samples[pack.n :], rewards[pack.n :])


def main() -> None:
    parser = Parser("course.policy_improvement_demo", "Loops B and C side by side: which of them changes the policy?")
    help_ = "choose among samples, or learn from them"
    parser.add_argument("--mode", choices=("selection", "learning"), required=True, help=help_)
    parser.add_argument("--rounds", type=positive_int, default=40, help="how many (default: 40)")
    parser.add_argument("--n", type=positive_int, default=4, help="samples a round (default: 4)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of the draws (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()
    if args.mode == "learning" and args.n == 1:
        raise UserError("--n 1: expected 2 or more, a sample learns by comparison with the others of its round, got 1")

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE

    with RunWriter(args.outdir) as run:
        rows = list(improve(args.mode, np.random.default_rng(args.seed).random((args.rounds, args.n))))
        results: Sequence[Result]
        summary: dict[str, Any]
        more: dict[str, Any] = {"knob": knob_of(rows)} if args.mode == "learning" else {}
        if args.mode == "selection":
            dataset, pack = Dataset(DATASET, None), SelectionPack(PACK, args.n)
            results = choices = list(select_first_best(dataset, pack))
            outcomes = Counter(choice.details.outcome for choice in choices)
            summary = summary_of(outcomes, Counter(map(choice_of, choices)))
            more = {"dataset": dataset, "samples_per_prompt": args.n, "source": provenance(pack.completions)}
            more["completions_fingerprint"] = pack.completions.sha256
        else:
            pairs = [(text, row.round - 1) for row in rows for text in row.completions]
            results = [learning_result(EXAMPLE, text, step) for text, step in pairs]
            summary = {
                "pass_at_1_before": rows[0].pass_at_1,
                "pass_at_1_after": rows[-1].new_pass_at_1,
                "delivered": mean([row.delivered for row in rows]),
            }
        run.write_rows(LOG, rows)
        run.write_rows(RESULTS, results)
        settings = {"mode": args.mode, "prompt": EXAMPLE["prompt"], "rounds": args.rounds, "n": args.n}
        settings |= {"completions": ARMS, "start": START, "lr": LEARNING_RATE}
        conditions = conditions_of(args, settings, **more)._replace(loop="B" if args.mode == "selection" else "C")
        report = policy_improvement_text(rows, summary, args.mode, EXAMPLE["prompt"])
        publish(run, conditions, summary, report, read=[LOG])


if __name__ == "__main__":
    run_command(main)
