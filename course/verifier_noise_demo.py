"""Machinery: Loop C, noise against a hole. A verifier that errs at random beside one that errs by a rule.

    python3 -m course.verifier_noise_demo
    python3 -m course.verifier_noise_demo --seeds 5

From one reference policy a policy is trained on the strict scorer, on the same with random errors at several rates,
as they are paid and corrected (``policies/random_errors.py``), and on the rubric ``anywhere``, which has one hole. The
true reward is that of the strict scorer without errors. A random error is another one for each completion; the hole
can be found.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from course.artifacts.inference import medians
from course.artifacts.token_rows import STRICT
from course.artifacts.writing import RunWriter
from course.command import Parser, positive_int, run_command
from course.datasets.sources import Dataset
from course.jobs import processes
from course.publishing import Conditions, publish
from course.reports.terminal import show_each
from course.reports.verifier_noise_demo import verifier_name, verifier_noise_text
from course.reports.verifier_noise_demo_figure import verifier_noise_figure
from course.sweep import Job, Sweep

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.presets import Plan

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


def main() -> int:
    parser = Parser("course.verifier_noise_demo", "Loop C: random errors of a verifier beside one systematic hole.")
    parser.add_argument("--steps", type=positive_int, default=400, help="updates of each (default: 400)")
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.presets import MEMORISE

    plan, dataset = MEMORISE.plan._replace(steps=args.steps), Dataset(Path(MEMORISE.dataset), None)
    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        examples = [example.asked() for example in dataset]

        jobs = {
            (rubric, errs): Job(verifier_name(rubric, errs), "", examples, [], rubric, errs, _EVAL_EVERY, SAMPLES)
            for rubric, errs in verifiers(plan)
        }
        sweep = Sweep(run, jobs, range(args.seed, args.seed + args.seeds), executor)
        shown = show_each(verifier_noise_text(jobs, sweep.trainings, args.steps, args.seeds))
        trainings = {verifier: sweep.trainings(verifier) for verifier in jobs}
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
