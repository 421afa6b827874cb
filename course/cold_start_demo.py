"""Machinery: Loop C from several starts, fine-tuned longer and longer, the first of them not at all.

    python3 -m course.cold_start_demo
    python3 -m course.cold_start_demo --sft-steps 0 100 800 --seeds 5

A verifier's reward says something only where some completions of a prompt are paid and others are not. A policy is
fine-tuned on demonstrations for so many steps and then learns from the strict scorer, the same number of updates each
time. Beside the pass rate stands the share of groups in which all rewards are equal, so that nothing is pushed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from course.artifacts.inference import Trainings, medians
from course.artifacts.rollout_files import write_reference
from course.artifacts.token_rows import STRICT, write_checkpoint
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.records import Task
from course.datasets.sources import Dataset
from course.publishing import Conditions, publish
from course.reports.cold_start_demo import cold_start_text
from course.reports.cold_start_demo_figure import cold_start_figure
from course.reports.progress import with_progress
from course.reports.terminal import show_each
from course.score import score

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.evaluation import Checkpoint
    from course.policies.presets import Plan

COLD_START_FIGURE = "cold_start.png"
SFT_STEPS = (0, 50, 100, 200, 400, 800)
SAMPLES = 4  # completions of each prompt in an evaluation
_EVAL_EVERY = 50  # updates from one evaluation to the next


def train(examples: Sequence[Task], plan: Plan, seed: int) -> list[Checkpoint]:
    """One training, the fine-tuning included; no prompt is held out."""
    from course.policies.evaluation import learn_and_evaluate
    from course.policies.token_learner import fine_tune

    reference = fine_tune(examples, plan, seed)
    return list(learn_and_evaluate(reference, examples, [], score, plan, seed, _EVAL_EVERY, SAMPLES))


def main() -> int:
    parser = Parser(
        "course.cold_start_demo", "Loop C: how good must a start be for there to be something to reinforce?"
    )
    parser.add_argument("--sft-steps", type=non_negative_int, nargs="+", metavar="N", default=SFT_STEPS,
                        help=f"steps of fine-tuning first (default: {' '.join(map(str, SFT_STEPS))})")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=600, help="updates of each (default: 600)")
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.presets import MEMORISE

    plan, dataset = MEMORISE.plan._replace(steps=args.steps), Dataset(Path(MEMORISE.dataset), None)
    with RunWriter(args.outdir) as run:
        examples = [example.asked() for example in dataset]

        @cache
        def trained(count: int) -> Trainings:
            """One training for each seed: the report asks for them, row by row."""
            logs = []
            seeds = range(args.seed, args.seed + args.seeds)
            for seed in with_progress(seeds, f"training after {count} steps of fine-tuning", len(seeds)):
                checkpoints, name = train(examples, plan._replace(sft_steps=count), seed), f"{count} steps, seed {seed}"
                write_reference(run, f"references/{count}_steps_seed_{seed}.npz", checkpoints[0].policy, examples)
                logs.append([write_checkpoint(run, one, STRICT, plan.kl_coef, seed, name)[0] for one in checkpoints])
            return logs

        counts = sorted(set(args.sft_steps))
        shown = show_each(cold_start_text(counts, trained, args.steps, args.seeds))
        trainings = {count: trained(count) for count in counts}
        run.write_bytes(COLD_START_FIGURE, cold_start_figure(trainings))
        settings = plan._asdict() | {"sft_steps": [*trainings], "seeds": args.seeds, "samples": SAMPLES}
        settings["eval_every"] = _EVAL_EVERY
        publish(
            run,
            Conditions("C", "course.cold_start_demo", settings, args.change, args.expect, dataset, seed=args.seed),
            {f"{count} steps": {"true_reward": medians(logs, "true_reward")} for count, logs in trainings.items()},
            "",
            read=[COLD_START_FIGURE],
            shown=shown,
        )
    return 0


if __name__ == "__main__":
    run_command(main)
