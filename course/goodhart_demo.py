"""Loop C on verifiers that believe too much: the reward that is paid goes up, the reward that was meant does not.

    python -m course.goodhart_demo
    python -m course.goodhart_demo --seeds 3
    python -m course.goodhart_demo --rubrics anywhere --kl-coef 0 0.1 1

One policy is trained on the strict scorer and, from the same start, on each hackable rubric: nobody tells it of any
gap. What the rubric pays is the proxy, what the strict scorer would have paid for the same completions the true
reward; both are also taken on prompts that are never trained on. Then one rubric is trained on again on leashes of
several strengths: kl_coef (beta) is what a nat of drift from the start costs.
"""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.artifacts.conditions import manifest_of
from course.artifacts.holdout import looks
from course.artifacts.inference import (
    Exploit,
    Quantity,
    Seeds,
    Stage,
    exploits_of,
    medians,
    parting,
    seeds_of,
    stage_of,
)
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.writing import RUNS, RunWriter
from course.command import Parser, non_negative_float, non_negative_int, positive_int, run_command
from course.datasets.sources import Dataset
from course.reports.goodhart_demo import (
    exploits_text,
    generalised_text,
    leash_text,
    reading_text,
    rubrics_text,
    start_text,
)
from course.reports.goodhart_demo_figure import leash_figure, over_kl, over_steps
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.rubrics.hackable import GAPS, RUBRICS
from course.text import visible_path

if TYPE_CHECKING:
    from course.policies.presets import Plan
    from course.policies.token_learner import Example
    from course.policies.token_policy import Policy

LOG, EXPLOITS = "log.jsonl", "exploits.jsonl"
OVER_STEPS, OVER_KL, LEASH = "goodhart_steps.png", "goodhart_kl.png", "leash.png"

BETAS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
STRONGEST = 1.0  # of six seeds none fell apart at 1, and all at 1.5: at this learning rate the pull overshoots
LOOKS = 30  # at each training, besides the one before it
DRAWS = 8  # completions of each prompt at a look
TOLD: tuple[Quantity, ...] = ("proxy_reward", "true_reward", "holdout_proxy_reward", "holdout_true_reward", "kl")


def trained(
    reference: Policy, examples: list[Example], unseen: list[Example], rubric: str, plan: Plan, seed: int
) -> Iterator[tuple[Stage, list[Exploit]]]:
    """One training, look by look; the last look comes with what the policy found."""
    from course.policies.evaluation import moments

    for moment in moments(reference, examples, unseen, RUBRICS[rubric], plan, seed, every_of(plan.steps), DRAWS):
        assert moment.holdout is not None  # a dataset has at least one prompt
        found: list[Exploit] = []
        if moment.step == plan.steps:
            found += exploits_of(moment.train, examples, rubric, seed, "train")
            found += exploits_of(moment.holdout, unseen, rubric, seed, "holdout")
        yield stage_of(moment, moment.holdout, rubric, plan.kl_coef, seed), found


def all_trained(
    examples: list[Example], unseen: list[Example], plan: Plan, jobs: Sequence[tuple[str, float]], seeds: Sequence[int]
) -> Iterator[tuple[Stage, list[Exploit]]]:
    """Every training: all jobs of a seed go on from one supervised start."""
    from course.policies.token_learner import imitate

    for seed in seeds:
        reference = deque(imitate(examples, plan, seed), maxlen=1).pop()
        for rubric, beta in jobs:
            yield from trained(reference, examples, unseen, rubric, plan._replace(kl_coef=beta), seed)


def every_of(steps: int) -> int:
    return max(1, steps // LOOKS)


def strength(text: str) -> float:
    """An argument that is a beta."""
    beta = non_negative_float(text)
    if beta > STRONGEST:
        raise ArgumentTypeError(f"expected a number from 0 to {STRONGEST:g}, got {text}")
    return beta


def main() -> int:
    parser = Parser("course.goodhart_demo", "Loop C on hackable rubrics: proxy and true reward, and where they part.")
    parser.add_argument("--rubrics", nargs="+", choices=RUBRICS, default=list(RUBRICS), metavar="NAME",
                        help=f"what to train on (default: all of {', '.join(RUBRICS)})")  # fmt: skip
    parser.add_argument("--leash-rubric", choices=RUBRICS, default="anywhere", metavar="NAME",
                        help="the rubric that is trained on again on a leash (default: anywhere)")  # fmt: skip
    parser.add_argument("--kl-coef", nargs="+", type=strength, default=list(BETAS), metavar="BETA",
                        help=f"the leashes (default: {' '.join(f'{beta:g}' for beta in BETAS)})")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=300, help="updates of a training (default: 300)")
    parser.add_argument("--seeds", type=positive_int, default=1, metavar="N", help="train N times (default: 1)")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="the first of the seeds (default: 0)")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.presets import MEMORISE

    rubrics, betas = list(dict.fromkeys(args.rubrics)), sorted(set(args.kl_coef))
    seeds = range(args.seed, args.seed + args.seeds)
    plan = MEMORISE.plan._replace(steps=args.steps)
    jobs = list(dict.fromkeys([(name, 0.0) for name in rubrics] + [(args.leash_rubric, beta) for beta in betas]))
    every = every_of(args.steps)
    total = args.seeds * len(jobs) * (1 - -args.steps // every)

    with RunWriter(args.outdir) as writer:
        files = [Dataset(Path(path), None) for path in (MEMORISE.dataset, MEMORISE.holdout)]
        examples, unseen = ([example.asked() for example in file] for file in files)
        log: list[Stage] = []
        exploits: list[Exploit] = []
        work = all_trained(examples, unseen, plan, jobs, seeds)
        for stage, found in with_progress(work, "training", total, lambda done: told(done[0])):
            writer.append(LOG, stage)
            log.append(stage)
            if stage.kl_coef == 0 and stage.rubric in rubrics:
                exploits += found
        writer.write_rows(EXPLOITS, exploits)

        runs = {name: seeds_of(log, name, 0.0) for name in rubrics}
        leashes = {beta: seeds_of(log, args.leash_rubric, beta) for beta in betas}
        overlooks = {name: gap.overlooks for name, gap in GAPS.items()}
        writer.write_bytes(OVER_STEPS, over_steps(runs, overlooks))
        writer.write_bytes(OVER_KL, over_kl(runs, overlooks))
        writer.write_bytes(LEASH, leash_figure(leashes, args.leash_rubric))
        summary = {name: numbers(runs[name]) for name in rubrics}
        summary |= {f"{args.leash_rubric}, beta {beta:g}": numbers(leashes[beta]) for beta in betas}
        writer.write_json(SUMMARY, summary)
        settings = {
            "rubrics": rubrics,
            "leash_rubric": args.leash_rubric,
            "kl_coef": betas,
            "seeds": list(seeds),
            "looks_every": every,
            "draws": DRAWS,
            "plan": {name: value for name, value in plan._asdict().items() if name != "kl_coef"},
            "holdout_fingerprint": files[1].fingerprint,
        }
        manifest = manifest_of(
            loop="C",
            command="course.goodhart_demo",
            settings=settings,
            change=args.change,
            outputs=writer.outputs,
            dataset=files[0],
            seed=args.seed,
        )
        look = looks(RUNS, files[1].fingerprint) + 1
        page = run_page("C", summary, room_conditions(manifest), args.change, [], look)
        path = writer.publish(manifest, page, holdout=files[1].fingerprint)

    print("Loop C, learn: the policy itself changes, paid by careless verifiers.\n")
    print(start_text(log, len(examples), len(unseen)))
    print(f"\n{rubrics_text(runs)}")
    print(f"\n{exploits_text(rubrics, exploits, overlooks)}")
    print("\nwhat came along to prompts that were never trained on\n")
    print(generalised_text(runs))
    print(f"\nthe leash: {args.leash_rubric} again, where a nat of drift costs beta\n")
    print(leash_text(leashes))
    print(f"\n{reading_text(runs, leashes)}")
    print(f"\nrun: {visible_path(path)}\nlook at: {visible_path(path / OVER_STEPS)}, {OVER_KL}, {LEASH}")
    return 0


def told(stage: Stage) -> str:
    """The last look, beside the progress bar."""
    return f"{stage.rubric} step {stage.step} proxy {stage.proxy_reward:.2f} true {stage.true_reward:.2f}"


def numbers(seeds: Seeds) -> dict[str, Any]:
    """Trainings in the summary: at their end, the median over the seeds; and where each one parted."""
    return {name: medians(seeds, name)[-1] for name in TOLD} | {"parted_at": [parting(stages) for stages in seeds]}


if __name__ == "__main__":
    run_command(main)
