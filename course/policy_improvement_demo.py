"""Machinery: Loops B and C side by side. Both raise the reward of the delivered samples; only C changes the policy.

    python3 -m course.policy_improvement_demo --mode selection
    python3 -m course.policy_improvement_demo --mode learning

Each round samples N completions of one prompt from a toy policy. Selection delivers the best of them and keeps the
policy; learning delivers the first, and updates the policy from the rewards of all of them. ``pass@1`` is the exact
probability that one fresh sample of the policy gets reward 1. It changes only in the mode "learning".

``--mode selection`` also chooses among the first N of the lab's recorded samples (``PACK``), whose policy nobody can
change any more. These choices are the run's results; the rounds of the toy policy are its log.

The command combines two others. The loop of ``selection_demo``, with the course's own rule, chooses among the recorded
samples. The toy policy is the bandit of ``bandit_train``, and one round is its update with the mean of the group as the
baseline.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from course.artifacts.conditions import conditions_of
from course.artifacts.learning_rows import RoundRow, learning_result
from course.artifacts.records import RESULTS, Result, Selection
from course.artifacts.summary import choice_of, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.files import LAB
from course.datasets.pairing import pair_by_id
from course.datasets.sources import Dataset, SelectionPack, provenance
from course.errors import UserError
from course.selection_demo import select
from course.show.ending import end_run
from course.show.tables import percent, table
from course.show.updates import has_changed, knob_of
from course.stats import mean
from course.text import clipped

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.softmax import Floats

LOG = "policy_improvement.jsonl"
START = (1.0, -0.5, 0.5, -1.0)  # logits of the arms at the start: the right one is no favourite
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
        yield RoundRow(
            round=number,
            pass_at_1=float(expected_reward(p, rewards)),
            probs=p.tolist(),
            actions=action.tolist(),
            completions=texts,
            rewards=reward.tolist(),
            delivered=delivered,
            new_probs=new_p.tolist(),
            new_pass_at_1=float(expected_reward(new_p, rewards)),
        )


def choose_recorded(n: int) -> tuple[list[Selection], dict[str, Any]]:
    """Loop B of ``selection_demo`` on the recorded samples: its choices, and the conditions of such a run."""
    dataset, pack = Dataset(DATASET), SelectionPack(PACK, n)
    pairs = pair_by_id(dataset, pack, missing_allowed=False, dataset=dataset.path, completions=pack.path)
    choices = list(select(pairs, n))
    conditions = {
        "dataset": dataset,
        "samples_per_prompt": n,
        "source": provenance(pack.completions),
        "completions_fingerprint": pack.completions.sha256,
    }
    return choices, conditions


def main() -> None:
    parser = Parser("course.policy_improvement_demo", "Loops B and C side by side: which of them changes the policy?")
    help_ = "choose among the samples, or learn from them"
    parser.add_argument("--mode", choices=("selection", "learning"), required=True, help=help_)
    parser.add_argument("--rounds", type=positive_int, default=40, help="number of rounds (default: 40)")
    parser.add_argument("--n", type=positive_int, default=4, help="samples in each round (default: 4)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="seed of the random draws (default: 0)")
    parser.add_run_options("pass_at_1_after")
    args = parser.parse_args()
    if args.mode == "learning" and args.n == 1:
        raise UserError("--n: expected 2 or more, because learning compares the samples of a round, got 1")

    import numpy as np

    from course.policies.bandit import ARMS, EXAMPLE

    with RunWriter(args.outdir) as run:
        rows = list(improve(args.mode, np.random.default_rng(args.seed).random((args.rounds, args.n))))
        results: Sequence[Result]
        summary: dict[str, Any]
        if args.mode == "selection":
            choices, more = choose_recorded(args.n)
            results = choices
            outcomes = Counter(choice.details.outcome for choice in choices)
            summary = summary_of(outcomes, Counter(choice_of(choice) for choice in choices))
        else:
            more = {"knob": knob_of(rows)}
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
        end_run(run, conditions, summary, report, read=[LOG])


def policy_improvement_text(rows: Sequence[RoundRow], summary: Mapping[str, Any], mode: str, prompt: str) -> str:
    """Rounds 1, 2, 5, 10, 20 and the last; the mean reward of the delivered samples; the policy before and after."""
    cells = [
        (row.round, percent(row.pass_at_1), " ".join(f"{r:.0f}" for r in row.rewards[:16]), f"{row.delivered:.0f}")
        for row in rows
        if row.round in (1, 2, 5, 10, 20, len(rows))
    ]
    change = "changed" if has_changed(rows) else "stayed the same"
    if mode == "learning":
        head = f"Loop C, learn: the policy {change}"
        if not has_changed(rows) and all(len(set(row.rewards)) == 1 for row in rows):
            head += ": no round had two different rewards"
        head += "."
    else:
        head = f"Loop B, choose: the policy {change}.{recording_text(summary)}"
    return (
        f"{head}\n\n"
        f"A toy policy and one prompt:\n  {clipped(prompt, 74)}\n\n"
        f"{table(('round', 'pass@1 of the policy', 'rewards of its samples', 'delivered'), cells, right=(0, 1, 3))}\n\n"
        f"mean reward of the delivered samples: {percent(mean([row.delivered for row in rows]))}\n"
        f"pass@1 of the policy: {percent(rows[0].pass_at_1)} -> {percent(rows[-1].new_pass_at_1)}"
    )


def recording_text(summary: Mapping[str, Any]) -> str:
    """What choosing gained on the recorded samples, and the pass@1 that it did not change."""
    return f"""

Pass rates on recorded samples of {summary["n"]} prompts:
  {percent(summary["first_sample_accuracy"]):>7}  the first sample alone (N = 1)
  {percent(summary["selected_accuracy"]):>7}  the first of the best of {summary["samples_per_prompt"]}
  {percent(summary["pass_at_k"]["1"]):>7}  an average sample: the policy's pass@1, which no choice changes"""


if __name__ == "__main__":
    run_command(main)
