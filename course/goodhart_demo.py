"""Machinery: Loop C on verifiers that believe too much. The proxy reward goes up, the true reward does not.

    python -m course.goodhart_demo
    python -m course.goodhart_demo --seeds 3
    python -m course.goodhart_demo --rubrics format_bonus --kl-coef --steps 500 --eval-every 10 --seeds 5

One policy is trained on the strict scorer and, from the same reference policy, one on each hackable rubric; nothing
tells it of any gap. The rubric's reward is the proxy, the strict scorer's for the same completions the true reward;
both are also measured on prompts that are never trained on. Then a policy is trained on ``anywhere`` again with a KL
penalty of several strengths: kl_coef (beta) is what a nat of KL from the reference policy costs. The second line draws
one rubric large, on a fine grid: its hole is found late, so the true reward rises first, then bends and falls.

``results.jsonl`` has every completion that was scored: below 25 MB a seed, for a training has 16 evaluations, each
with 3 completions of each prompt. ``references/`` has the policy that the trainings of a seed started from.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from course.artifacts.inference import Trainings, divergence_step, medians, trainings_of
from course.artifacts.records import LearningResult
from course.artifacts.rollout_files import write_reference
from course.artifacts.token_rows import EvaluationRow, is_exploit, write_checkpoint
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_float, positive_int, run_command
from course.datasets.records import Task
from course.datasets.sources import Dataset
from course.policies.presets import MEMORISE, Plan
from course.publishing import Conditions, publish
from course.reports.goodhart_demo import QUANTITIES, goodhart_text
from course.reports.goodhart_demo_figure import kl_coef_figure, rubrics_figure
from course.reports.progress import with_progress
from course.rubrics.hackable import RUBRICS

OVER_STEPS, OVER_KL, KL_COEF = "goodhart_steps.png", "goodhart_kl.png", "kl_coef.png"
KL_RUBRIC = "anywhere"  # what is trained on again with a KL penalty
KL_COEFS = (0.0, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)  # above 1 the penalty overshoots at this learning rate
EVALUATIONS = 15  # of each training, besides the one before it
SAMPLES = 3  # completions of each prompt in an evaluation
Job = tuple[int, str, float]  # seed, rubric and kl_coef of a training


def train_all(
    run: RunWriter, examples: list[Task], holdout: list[Task], plan: Plan, every: int, jobs: Sequence[Job]
) -> Iterator[tuple[EvaluationRow, list[LearningResult]]]:
    """Each evaluation of each training, written as it comes: its row, and all that was scored.

    ``jobs``: those of one seed stand together and share a reference policy.
    """
    from course.policies.evaluation import learn_and_evaluate
    from course.policies.token_learner import fine_tune

    references = {}
    for seed, rubric, kl_coef in jobs:
        if seed not in references:
            references = {seed: fine_tune(examples, plan, seed)}
            write_reference(run, f"references/seed_{seed}.npz", references[seed], examples)
        for checkpoint in learn_and_evaluate(
            references[seed], examples, holdout, RUBRICS[rubric], plan._replace(kl_coef=kl_coef), seed, every, SAMPLES
        ):
            name = f"{rubric}, kl_coef {kl_coef:g}, seed {seed}"
            yield write_checkpoint(run, checkpoint, rubric, kl_coef, seed, name)


def main() -> int:
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
    pairs = dict.fromkeys([(name, 0.0) for name in rubrics] + [(KL_RUBRIC, kl_coef) for kl_coef in betas])
    jobs = [(args.seed + turn, *pair) for turn in range(args.seeds) for pair in pairs]
    plan, every = MEMORISE.plan._replace(steps=args.steps), args.eval_every or max(1, args.steps // EVALUATIONS)

    with RunWriter(args.outdir) as run:
        dataset, unseen = (Dataset(Path(path), None) for path in (MEMORISE.dataset, MEMORISE.holdout))
        examples, holdout = ([example.asked() for example in file] for file in (dataset, unseen))
        log: list[EvaluationRow] = []
        found: dict[str, LearningResult] = {}  # rubric -> an exploit of its trained policy
        work = train_all(run, examples, holdout, plan, every, jobs)
        for row, results in with_progress(work, "training", len(jobs) * (1 - -args.steps // every)):
            log.append(row)
            if row.step == args.steps and row.kl_coef == 0:
                for result in filter(is_exploit, results):
                    found.setdefault(row.rubric, result)

        by_rubric = {name: trainings_of(log, rubric=name, kl_coef=0.0) for name in rubrics}
        by_beta = {kl_coef: trainings_of(log, rubric=KL_RUBRIC, kl_coef=kl_coef) for kl_coef in betas}
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
        conditions = Conditions(
            "C", "course.goodhart_demo", settings, args.change, args.expect, dataset, [unseen], seed=args.seed
        )
        report = goodhart_text(by_rubric, by_beta, found)
        publish(run, conditions, summary, report, read=figures)
    return 0


def at_the_end(trainings: Trainings) -> dict[str, Any]:
    """The trainings in the summary: medians over the seeds at the end, and where each one diverged."""
    ends = {name: medians(trainings, name)[-1] for name in QUANTITIES}
    return ends | {"diverged_at": [divergence_step(training) for training in trainings]}


if __name__ == "__main__":
    run_command(main)
