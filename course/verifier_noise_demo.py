"""Machinery: Loop C, noise against a hole. A verifier that errs at random beside one that errs by a rule.

    python3 -m course.verifier_noise_demo
    python3 -m course.verifier_noise_demo --seeds 5

From one reference policy a policy is trained on the strict scorer, on the same with random errors at several rates,
as they are paid and corrected (``policies/random_errors.py``), and on the rubric ``anywhere``, which has one hole. The
true reward is that of the strict scorer without errors. A random error is another one for each completion; the hole
can be found.
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
from course.command import Parser, positive_int, run_command
from course.datasets.records import Task
from course.datasets.sources import Dataset
from course.publishing import Conditions, publish
from course.reports.progress import with_progress
from course.reports.terminal import show_each
from course.reports.verifier_noise_demo import Verifier, verifier_name, verifier_noise_text
from course.reports.verifier_noise_demo_figure import verifier_noise_figure
from course.rubrics.hackable import RUBRICS

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.evaluation import Checkpoint
    from course.policies.presets import Plan
    from course.policies.token_policy import Policy

NOISE_FIGURE = "verifier_noise.png"
HOLE = "anywhere"
ERRORS = ((0.0, 0.0), (0.1, 0.0), (0.3, 0.0), (0.0, 0.3), (0.2, 0.2), (0.4, 0.4), (0.5, 0.5))  # false +, false -
SAMPLES = 4  # completions of each prompt in an evaluation
_EVAL_EVERY = 50  # updates from one evaluation to the next


def verifiers(plan: Plan) -> list[tuple[str, Plan]]:
    """What is trained on, each a rubric and the plan with its errors."""
    coins = [plan._replace(false_positives=wrong, false_negatives=missed) for wrong, missed in ERRORS]
    corrected = [coin._replace(corrected=True) for coin in coins if 0 < coin.false_positives + coin.false_negatives < 1]
    return [*((STRICT, coin) for coin in [*coins, *corrected]), (HOLE, plan)]


def train(reference: Policy, examples: Sequence[Task], rubric: str, plan: Plan, seed: int) -> list[Checkpoint]:
    """One training; no prompt is held out."""
    from course.policies.evaluation import learn_and_evaluate

    return list(learn_and_evaluate(reference, examples, [], RUBRICS[rubric], plan, seed, _EVAL_EVERY, SAMPLES))


def main() -> int:
    parser = Parser("course.verifier_noise_demo", "Loop C: random errors of a verifier beside one systematic hole.")
    parser.add_argument("--steps", type=positive_int, default=400, help="updates of each (default: 400)")
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.presets import MEMORISE
    from course.policies.token_learner import fine_tune

    plan, dataset = MEMORISE.plan._replace(steps=args.steps), Dataset(Path(MEMORISE.dataset), None)
    with RunWriter(args.outdir) as run:
        examples, seeds = [example.asked() for example in dataset], range(args.seed, args.seed + args.seeds)

        @cache
        def reference_of(seed: int) -> Policy:
            policy = fine_tune(examples, plan, seed)
            write_reference(run, f"references/seed_{seed}.npz", policy, examples)
            return policy

        @cache
        def trained(verifier: Verifier) -> Trainings:
            """One training for each seed: the report asks for them, row by row."""
            logs = []
            for seed in with_progress(seeds, f"training on {verifier[0]}", len(seeds)):
                name, checkpoints = (
                    f"{verifier_name(*verifier)}, seed {seed}",
                    train(reference_of(seed), examples, *verifier, seed),
                )
                logs.append(
                    [write_checkpoint(run, one, verifier[0], plan.kl_coef, seed, name)[0] for one in checkpoints]
                )
            return logs

        shown = show_each(verifier_noise_text(verifiers(plan), trained, args.steps, args.seeds))
        trainings = {verifier: trained(verifier) for verifier in verifiers(plan)}
        run.write_bytes(NOISE_FIGURE, verifier_noise_figure(trainings))
        settings = {"errors": ERRORS, "hole": HOLE, "seeds": args.seeds, "samples": SAMPLES}
        of_each = {"false_positives", "false_negatives", "corrected"}  # others in each training: see ``errors``
        settings |= {name: value for name, value in plan._asdict().items() if name not in of_each}
        settings["eval_every"] = _EVAL_EVERY
        publish(
            run,
            Conditions("C", "course.verifier_noise_demo", settings, args.change, args.expect, dataset, seed=args.seed),
            {verifier_name(*one): {"true_reward": medians(logs, "true_reward")} for one, logs in trainings.items()},
            "",
            read=[NOISE_FIGURE],
            shown=shown,
        )
    return 0


if __name__ == "__main__":
    run_command(main)
