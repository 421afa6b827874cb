"""Loop C with tokens: a small policy learns from a verifier's rewards, right or wrong as the verifier may be.

    python -m course.token_train
    python -m course.token_train --preset memorise --rubric anywhere

The loop is that of ``bandit_train``, plus time, plus tokens; it stands in ``policies/token_learner.py``, on one screen.
The policy is trained on what ``--rubric`` pays. The strict scorer and the holdout are measured on the way and enter no
update. What comes out: a log, learning curves, ``policy.npz``, and what the policy wrote at each look, as rollouts that
Loop A measures and the gate compares. The policy kept is that of the log's last row, also where Ctrl-C ended it all.
"""

from __future__ import annotations

from argparse import Namespace
from collections import deque
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from course.artifacts.conditions import manifest_of
from course.artifacts.holdout import HOLDOUT
from course.artifacts.holdout import looks as looks_at
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.rollout_files import policy_name, write_drawn
from course.artifacts.token_rows import Measured, measured_row, pushed_rows
from course.artifacts.writing import RUNS, RunWriter
from course.command import Parser, finite_float, non_negative_float, non_negative_int, positive_int, run_command
from course.datasets.records import Sampling
from course.datasets.sources import Dataset
from course.errors import UserError
from course.policies.presets import PRESETS, Plan
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.reports.token_train import live, looks_text, plan_text, slow_text, written_text
from course.reports.token_train_figure import learning_curves
from course.rubrics.hackable import GAPS, RUBRICS
from course.text import visible, visible_path

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.evaluation import Moment
    from course.policies.token_learner import Example

RUBRIC_HELP = f"what pays: score, the strict scorer (default), or a wrong verifier: {', '.join(GAPS)}"
LOG, POLICY, CURVES, SLOW = "log.jsonl", "policy.npz", "learning_curves.png", "slow.jsonl"


def plan_of(args: Namespace) -> Plan:
    """The preset's plan, with whatever was asked for otherwise."""
    asked = {name: getattr(args, name) for name in ("sft_steps", "steps", "group_size", "lr", "baseline", "kl_coef")}
    plan = PRESETS[args.preset].plan._replace(**{name: value for name, value in asked.items() if value is not None})
    if plan.baseline == "group" and plan.group_size == 1:
        raise UserError("--baseline group: expected a --group-size of 2 or more to compare within a group, got 1")
    return plan


def read(dataset: Dataset, holdout: Dataset | None) -> tuple[list[Example], list[Example]]:
    """The examples to learn on, and those that are only measured."""
    examples = [example.asked() for example in dataset]
    unseen = [example.asked() for example in holdout or ()]
    if dataset.split == HOLDOUT:
        raise UserError(
            f"{visible_path(dataset.path)}: expected a dataset to learn on, got a holdout; name it with --holdout"
        )
    shared = {example["prompt"] for example in examples} & {example["prompt"] for example in unseen}
    if holdout and shared:
        raise UserError(
            f"{visible_path(holdout.path)}: expected prompts that are never learned on, got {len(shared)} of "
            f"{visible_path(dataset.path)} among them"
        )
    return examples, unseen


def main() -> int:
    args = parsed()
    plan, regime = plan_of(args), PRESETS[args.preset]
    dataset = Dataset(args.dataset or Path(regime.dataset), None)
    beside = args.holdout or (None if args.dataset else Path(regime.holdout))
    holdout = Dataset(beside, None) if beside else None

    from course.policies.evaluation import moments
    from course.policies.policy_file import policy_bytes
    from course.policies.token_learner import imitate, learn

    with RunWriter(args.outdir) as writer:
        examples, unseen = read(dataset, holdout)
        rubric = RUBRICS[args.rubric]
        starts = imitate(examples, plan, args.seed)
        reference = deque(with_progress(starts, "imitating", plan.sft_steps + 1), maxlen=1).pop()
        first = islice(learn(reference, examples, rubric, plan, args.seed), args.slow)
        slow = [row for update in first for row in pushed_rows(update, examples, plan.kl_coef)]
        if slow:
            writer.write_rows(SLOW, slow)

        looks = moments(reference, examples, unseen, rubric, plan, args.seed, args.measure_every)
        watched = with_progress(looks, "learning", 1 + -(-plan.steps // args.measure_every), tell=live)
        rows, last, status = kept(writer, watched, examples, unseen, args)

        content = policy_bytes(last.policy)
        writer.write_bytes(POLICY, content)
        writer.write_bytes(CURVES, learning_curves(rows, args.rubric))
        summary: dict[str, Any] = {
            "prompts": len(examples),
            "holdout_prompts": len(unseen),
            "steps": last.step,
            "interrupted": bool(status),
            "policy": policy_name(content),
            "before": msgspec.structs.asdict(rows[0]),
            "after": msgspec.structs.asdict(rows[-1]),
        }
        writer.write_json(SUMMARY, summary)
        settings = plan._asdict() | {
            "dataset": visible(dataset.path.name),
            "holdout": visible(holdout.path.name) if holdout else None,
            "holdout_fingerprint": holdout.fingerprint if holdout else None,
            "rubric": args.rubric,
            "measure_every": args.measure_every,
        }
        manifest = manifest_of(
            loop="C",
            command="course.token_train",
            settings=settings,
            dataset=dataset,
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        look = looks_at(RUNS, holdout.fingerprint) + 1 if holdout else 0
        page = run_page("C", summary, room_conditions(manifest), args.change, [], look)
        path = writer.publish(manifest, page, holdout.fingerprint if holdout else None)

    print("Loop C, learn: a policy made of tokens, paid by a verifier.\n")
    print(plan_text(plan, dataset.path.name, args.rubric, look), end="\n\n")
    if slow:
        print(slow_text(slow), end="\n\n")
    print(looks_text(rows, len(examples), len(unseen)))
    if status:
        print(f"\ninterrupted after {last.step} of {plan.steps} updates: what is kept is the policy of that moment")
    print(f"\n{written_text(last.train)}")
    print(f"\nrun: {visible_path(path)}\nlook at: {visible_path(path / CURVES)}")
    print(f"next: python -m course.sample_rollouts --policy {visible_path(path / POLICY)} \\")
    print(f"          --dataset {visible_path(dataset.path)}")
    return status


def kept(
    writer: RunWriter, looks: Iterable[Moment], examples: list[Example], unseen: list[Example], args: Namespace
) -> tuple[list[Measured], Moment, int]:
    """Train, and keep each look as it comes: the log, the last look, the exit status. Ctrl-C loses nothing of it."""
    from course.policies.policy_file import policy_bytes

    rows: list[Measured] = []
    status = 0
    try:
        for moment in looks:
            policy = policy_name(policy_bytes(moment.policy))
            for split, asked, probe in (("train", examples, moment.train), ("holdout", unseen, moment.holdout)):
                if probe:
                    write_drawn(
                        writer,
                        f"rollouts/{split}_{moment.step:04}",
                        [(example["id"], [text]) for example, text in zip(asked, probe.texts, strict=True)],
                        policy=policy,
                        sampling=Sampling(temperature=1.0, top_p=1.0, seed=args.seed, n=1),
                        note=f"course.token_train, {moment.step} updates on rubric {args.rubric}, seed {args.seed}",
                    )
            row = measured_row(moment)
            writer.append(LOG, row)
            rows, last = [*rows, row], moment
    except (KeyboardInterrupt, SystemExit) as end:
        if not rows:
            raise
        status = end.code if isinstance(end, SystemExit) and isinstance(end.code, int) else 130
    return rows, last, status


def parsed() -> Namespace:
    """The command line."""
    parser = Parser("course.token_train", "Loop C with tokens: learn from what a verifier pays.")
    parser.add_argument(
        "--preset",
        choices=PRESETS,
        default="generalise",
        help="generalise: 1,000 two-digit sums, which share their digits (default); memorise: 75 one-digit sums",
    )
    parser.add_argument("--dataset", type=Path, help="learn on these prompts instead; no holdout but by --holdout")
    parser.add_argument("--holdout", type=Path, help="prompts that are only measured")
    parser.add_argument("--rubric", choices=RUBRICS, default="score", metavar="NAME", help=RUBRIC_HELP)
    plan = PRESETS["generalise"].plan  # that of the other preset is the same in all that can be asked for
    parser.add_argument(
        "--sft-steps",
        type=non_negative_int,
        help=f"steps of imitating careless demonstrations first (default: {plan.sft_steps})",
    )
    parser.add_argument("--steps", type=positive_int, help=f"updates (default: {plan.steps})")
    parser.add_argument(
        "--group-size", type=positive_int, help=f"completions of a prompt in one update (default: {plan.group_size})"
    )
    parser.add_argument("--lr", type=finite_float, help=f"how far a push goes (default: {plan.lr:g})")
    parser.add_argument(
        "--kl-coef",
        type=non_negative_float,
        help="what a nat of drift from the start costs; above 1 it overshoots (default: 0)",
    )
    parser.add_argument(
        "--baseline",
        choices=("none", "running", "group"),
        help="a reward is compared with: nothing, the mean so far, or the others of its group (default: group)",
    )
    parser.add_argument("--measure-every", type=positive_int, default=25, help="updates between looks (default: 25)")
    parser.add_argument(
        "--slow", type=non_negative_int, default=0, metavar="K", help="show the first K updates token by token"
    )
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of all that is drawn (default: 0)")
    parser.add_run_options()
    return parser.parse_args()


if __name__ == "__main__":
    run_command(main)
