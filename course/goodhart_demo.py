"""Machinery: Loop C on verifiers that believe too much. The proxy reward goes up, the true reward does not.

    python3 -m course.goodhart_demo
    python3 -m course.goodhart_demo --seeds 3
    python3 -m course.goodhart_demo --rubrics format_bonus --kl-coef --steps 500 --eval-every 10 --seeds 5

One policy is trained on the strict scorer and, from the same reference policy, one on each hackable rubric; nothing
tells it of any gap. The rubric's reward is the proxy, the strict scorer's for the same completions the true reward;
both are also measured on prompts that are never trained on. Then a policy is trained on ``anywhere`` again with a KL
penalty of several strengths: kl_coef (beta) is what a nat of KL from the reference policy costs. The second line draws
one rubric large, on a fine grid: its hole is found late, so the true reward rises first, then bends and falls.

``results.jsonl`` has every completion that was scored: below 25 MB a seed, for a training has 16 evaluations, each
with 3 completions of each prompt. ``references/`` has the policy that the trainings of a seed started from.
"""

from pathlib import Path
from typing import Any

from course.artifacts.inference import Trainings, divergence_step, medians
from course.artifacts.records import LearningResult
from course.artifacts.token_rows import is_exploit
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_float, positive_int, run_command
from course.datasets.records import task_of
from course.datasets.sources import Dataset
from course.jobs import processes
from course.policies.presets import MEMORISE
from course.publishing import conditions_of, publish
from course.reports.goodhart_demo import (
    KL_RUBRIC,
    QUANTITIES,
    goodhart_ending,
    goodhart_text,
    kl_coef_figure,
    rubrics_figure,
)
from course.reports.terminal import NOTHING_KEPT, show_each
from course.rubrics.hackable import RUBRICS
from course.sweep import Job, Sweep

OVER_STEPS, OVER_KL, KL_COEF = "goodhart_steps.png", "goodhart_kl.png", "kl_coef.png"
KL_COEFS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # above 1 the penalty overshoots at this learning rate
EVALUATIONS = 15  # of each training, besides the one before it
SAMPLES = 3  # completions of each prompt in an evaluation


def main() -> None:
    parser = Parser("course.goodhart_demo", "Loop C on hackable rubrics: where proxy and true reward diverge.")
    parser.add_argument("--rubrics", nargs="+", choices=RUBRICS, default=list(RUBRICS), metavar="NAME",
                        help=f"what to train on (default: all of {', '.join(RUBRICS)})")  # fmt: skip
    parser.add_argument("--kl-coef", nargs="*", type=non_negative_float, default=KL_COEFS, metavar="BETA",
                        help=f"penalties (default: {' '.join(f'{one:g}' for one in KL_COEFS)})")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=300, help="updates of a training (default: 300)")
    help_ = f"updates between evaluations (default: a {EVALUATIONS}th of the steps)"
    parser.add_argument("--eval-every", type=positive_int, help=help_)
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    rubrics, betas = list(dict.fromkeys(args.rubrics)), sorted(set(args.kl_coef))
    plan, every = MEMORISE.plan._replace(steps=args.steps), args.eval_every or max(1, args.steps // EVALUATIONS)

    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        dataset, unseen = (Dataset(Path(path), None) for path in (MEMORISE.dataset, MEMORISE.holdout))
        examples, holdout = ([task_of(example) for example in file] for file in (dataset, unseen))
        jobs = {}
        for name, beta in [*((name, 0.0) for name in rubrics), *((KL_RUBRIC, beta) for beta in betas)]:
            how = (name, plan._replace(kl_coef=beta), every, SAMPLES)
            jobs[name, beta] = Job(f"{name}, kl_coef {beta:g}", "", examples, holdout, *how)
        sweep = Sweep(run, jobs, range(args.seed, args.seed + args.seeds), executor)

        def exploit_of(rubric: str) -> LearningResult | None:
            return next(filter(is_exploit, sweep.last[rubric, 0.0]), None)

        shown = show_each(goodhart_text(rubrics, betas, sweep.trainings, exploit_of), NOTHING_KEPT)
        by_rubric = {name: sweep.trainings((name, 0.0)) for name in rubrics}
        by_beta = {kl_coef: sweep.trainings((KL_RUBRIC, kl_coef)) for kl_coef in betas}
        run.write_bytes(OVER_STEPS, rubrics_figure(by_rubric, "step"))
        run.write_bytes(OVER_KL, rubrics_figure(by_rubric, "kl"))
        figures = [OVER_STEPS, OVER_KL]
        if by_beta:
            run.write_bytes(KL_COEF, kl_coef_figure(by_beta, KL_RUBRIC))
            figures.append(KL_COEF)
        summary = {name: at_the_end(trainings) for name, trainings in by_rubric.items()}
        summary |= {f"{KL_RUBRIC}, kl_coef {kl_coef:g}": at_the_end(by_beta[kl_coef]) for kl_coef in betas}
        settings = plan._asdict() | {"kl_coef": betas, "rubrics": rubrics, "seeds": args.seeds, "samples": SAMPLES}
        settings |= {"eval_every": every, "holdout_fingerprint": unseen.fingerprint}
        conditions = conditions_of(args, settings, dataset, holdouts=[unseen])
        publish(run, conditions, summary, goodhart_ending(by_rubric), read=figures, shown=shown)


def at_the_end(trainings: Trainings) -> dict[str, Any]:
    """The trainings in the summary: medians over the seeds at the end, and where each one diverged."""
    ends = {name: medians(trainings, name)[-1] for name in QUANTITIES}
    return ends | {"diverged_at": [divergence_step(training) for training in trainings]}


if __name__ == "__main__":
    run_command(main)
