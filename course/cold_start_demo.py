"""Machinery: Loop C from several starts, fine-tuned longer and longer, the first of them not at all.

    python3 -m course.cold_start_demo
    python3 -m course.cold_start_demo --sft-steps 0 100 800 --seeds 5

A verifier's reward says something only where some completions of a prompt are paid and others are not. A policy is
fine-tuned on demonstrations for so many steps and then learns from the strict scorer, the same number of updates each
time. Beside the pass rate stands the share of groups in which all rewards are equal, so that nothing is pushed.
"""

from __future__ import annotations

from pathlib import Path

from course.artifacts.inference import medians
from course.artifacts.token_rows import STRICT
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.sources import Dataset
from course.jobs import processes
from course.publishing import Conditions, publish
from course.reports.cold_start_demo import cold_start_text
from course.reports.cold_start_demo_figure import cold_start_figure
from course.reports.terminal import show_each
from course.sweep import Job, Sweep

COLD_START_FIGURE = "cold_start.png"
SFT_STEPS = (0, 50, 100, 200, 400, 800)
SAMPLES = 4  # completions of each prompt in an evaluation
_EVAL_EVERY = 50  # updates from one evaluation to the next


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
    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        examples, jobs = [example.asked() for example in dataset], {}
        for count in sorted(set(args.sft_steps)):
            how = (STRICT, plan._replace(sft_steps=count), _EVAL_EVERY, SAMPLES)
            jobs[count] = Job(f"{count} steps", f"{count}_steps_", examples, [], *how)
        sweep = Sweep(run, jobs, range(args.seed, args.seed + args.seeds), executor)
        shown = show_each(cold_start_text(jobs, sweep.trainings, args.steps, args.seeds))
        trainings = {count: sweep.trainings(count) for count in jobs}
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
