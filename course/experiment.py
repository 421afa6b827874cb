"""Machinery: Loop C many times: the same training each time, except for the one thing that an experiment changes.

    python3 -m course.experiment goodhart
    python3 -m course.experiment goodhart --rubrics format_bonus --kl-coef --steps 500 --eval-every 10 --seeds 5
    python3 -m course.experiment coverage --values 50 150 --seeds 3
    python3 -m course.experiment pass_at_k --presets memorise

``goodhart``   careless verifiers: the proxy reward rises and the true reward does not; and the effect of a KL penalty
``shift``      how well completions that were frozen before the first update describe the policy that has learned since
``coverage``   more and more training prompts: from memorising to generalising
``pass_at_k``  pass@k before and after learning, for k from 1 to 128
``noise``      a verifier that errs at random, and one that has a hole

Each experiment is a table of settings in ``course/experiments/``. Each row is trained once for each seed, and
``--jobs`` gives the same bytes for any number of processes. In the run, ``log.jsonl`` has the evaluations (for
``pass_at_k`` the counts of right samples), ``results.jsonl`` the scored completions (for ``pass_at_k`` each different
completion once, with its count; for ``shift`` also the frozen ones), and ``references/`` the policies that the
trainings started from.
"""

from argparse import Namespace
from pathlib import Path
from typing import Any

from course.artifacts.conditions import conditions_of
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_float, non_negative_int, positive_int, run_command
from course.datasets.records import Task, task_of
from course.datasets.sources import Dataset
from course.errors import UserError
from course.experiments import coverage, goodhart, noise, pass_at_k, shift
from course.experiments.driver import Experiment, Measure, Training, evaluate
from course.jobs import processes
from course.policies.train_config import TrainConfig
from course.rubrics.hackable import RUBRICS
from course.show.ending import end_run
from course.show.terminal import with_progress

EXPERIMENTS = {
    "goodhart": goodhart,
    "shift": shift,
    "coverage": coverage,
    "pass_at_k": pass_at_k,
    "noise": noise,
}
MEASURES: dict[str, Measure[Any]] = {"shift": shift.measure, "pass_at_k": pass_at_k.measure}  # of the others: evaluate
OPTIONS = {  # that not every experiment has
    "rubrics": ("goodhart",),
    "kl_coef": ("goodhart",),
    "values": ("coverage",),
    "presets": ("pass_at_k",),
    "eval_every": ("goodhart", "shift", "coverage", "noise"),
    "seeds": ("goodhart", "coverage", "pass_at_k", "noise"),
}


def main() -> None:
    args = parse_arguments()
    study = EXPERIMENTS[args.experiment]
    configs = select_configs(args)
    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        files = open_datasets(configs)
        tasks = {path: [task_of(example) for example in dataset] for path, dataset in files.items()}
        trainings = {config: trainings_of(config, args, tasks) for config in configs}
        measure: Measure[Any] = MEASURES.get(args.experiment, evaluate)
        experiment: Experiment[Any] = Experiment(run, trainings, measure, executor, with_progress)
        report = study.report(experiment)
        for name, figure in report.figures.items():
            run.write_bytes(name, figure)
        dataset = files[configs[0].dataset] if len({config.dataset for config in configs}) == 1 else None
        holdouts = [files[path] for path in dict.fromkeys(config.holdout for config in configs) if path is not None]
        recorded = {"experiment": args.experiment, "seeds": len(experiment.seeds)} | merge_settings(configs, files)
        conditions = conditions_of(args, recorded, dataset, holdouts=holdouts)
        end_run(run, conditions, report.summary, report.ending, read=[*report.figures], shown=report.shown)


def select_configs(args: Namespace) -> list[TrainConfig]:
    """The rows of the experiment's table that the options ask for, with their --steps and --eval-every."""
    configs = list(EXPERIMENTS[args.experiment].CONFIGS)
    if args.rubrics is not None:
        configs = [config for config in configs if config.rubric in args.rubrics]
    if args.kl_coef is not None:
        configs = [config for config in configs if config.kl_coef == 0]
        penalties = sorted(beta for beta in args.kl_coef if beta > 0)
        if penalties and goodhart.KL_RUBRIC not in [config.rubric for config in configs]:
            raise UserError(f"--kl-coef is a penalty for {goodhart.KL_RUBRIC}: add {goodhart.KL_RUBRIC} to --rubrics")
        base = goodhart.BASE._replace(rubric=goodhart.KL_RUBRIC)
        configs += [base._replace(kl_coef=beta) for beta in penalties]
    if args.presets is not None:
        configs = [config for config in configs if pass_at_k.name_of(config) in args.presets]
    if args.values is not None:
        configs = [configs[0]._replace(prompts=count) for count in sorted(args.values)]
    if args.steps is not None:
        configs = [config._replace(steps=args.steps) for config in configs]
    if args.eval_every is not None:
        configs = [config._replace(eval_every=args.eval_every) for config in configs]
    return list(dict.fromkeys(configs))


def open_datasets(configs: list[TrainConfig]) -> dict[str, Dataset]:
    """Every file that the configs name, once."""
    paths = [path for config in configs for path in (config.dataset, config.holdout) if path is not None]
    return {path: Dataset(Path(path)) for path in dict.fromkeys(paths)}


def trainings_of(config: TrainConfig, args: Namespace, tasks: dict[str, list[Task]]) -> list[Training]:
    """The same training for each seed. ``tasks``: of each file."""
    examples = tasks[config.dataset]
    holdout = tasks[config.holdout] if config.holdout else []
    if config.prompts is not None and not 0 < config.prompts <= len(examples):
        expected = f"expected 1 to {len(examples)}, because the dataset has {len(examples)} prompts"
        raise UserError(f"--values: {expected}, got {config.prompts}")
    name = EXPERIMENTS[args.experiment].name_of(config)
    return [
        Training(f"{name}, seed {seed}", config, seed, examples[: config.prompts], holdout)
        for seed in range(args.seed, args.seed + (args.seeds or 1))
    ]


def merge_settings(configs: list[TrainConfig], files: dict[str, Dataset]) -> dict[str, Any]:
    """For the manifest: a setting that all configs share is one value; any other is a list, one entry a config."""
    rows = []
    for config in configs:
        holdout = files[config.holdout].fingerprint if config.holdout else None
        fingerprints = {"dataset_fingerprint": files[config.dataset].fingerprint, "holdout_fingerprint": holdout}
        rows.append(config.settings() | fingerprints)
    merged = {}
    for name, first in rows[0].items():
        values = [row[name] for row in rows]
        merged[name] = first if values.count(first) == len(values) else values
    return merged


def parse_arguments() -> Namespace:
    """The command line. An option that is not given is None, but for --seed and --jobs."""
    parser = Parser("course.experiment", "Loop C many times: the same training, each time with one thing changed.")
    help_ = "goodhart: careless verifiers; shift: frozen data; coverage: more prompts; pass_at_k: before and after; "
    help_ += "noise: a verifier that errs"
    parser.add_argument("experiment", choices=EXPERIMENTS, metavar="NAME", help=help_)
    help_ = f"goodhart: the verifiers to train on (default: all of {', '.join(RUBRICS)})"
    parser.add_argument("--rubrics", nargs="+", choices=RUBRICS, metavar="NAME", help=help_)
    betas = " ".join(f"{beta:g}" for beta in goodhart.KL_COEFS)
    help_ = f"goodhart: KL penalties to try on {goodhart.KL_RUBRIC}; no number means no penalty (default: {betas})"
    parser.add_argument("--kl-coef", nargs="*", type=non_negative_float, metavar="BETA", help=help_)
    prompts = " ".join(str(config.prompts) for config in coverage.CONFIGS)
    help_ = f"coverage: numbers of prompts (default: {prompts})"
    parser.add_argument("--values", nargs="+", type=non_negative_int, metavar="N", help=help_)
    help_ = f"pass_at_k: the presets to train (default: {' '.join(pass_at_k.PRESETS)})"
    parser.add_argument("--presets", nargs="+", choices=pass_at_k.PRESETS, metavar="NAME", help=help_)
    defaults = "; ".join(f"{name}: {study.CONFIGS[0].steps}" for name, study in EXPERIMENTS.items())
    parser.add_argument("--steps", type=positive_int, help=f"updates of each training (default: {defaults})")
    defaults = "; ".join(f"{name}: {EXPERIMENTS[name].CONFIGS[0].eval_every}" for name in OPTIONS["eval_every"])
    parser.add_argument("--eval-every", type=positive_int, help=f"updates between evaluations (default: {defaults})")
    help_ = "train N times, with the seeds SEED, SEED + 1, ... (default: 1; not of shift)"
    parser.add_argument("--seeds", type=positive_int, metavar="N", help=help_)
    help_ = "the first of the seeds; for N fresh ones go on by N (default: 0)"
    parser.add_argument("--seed", type=non_negative_int, default=0, help=help_)
    parser.add_jobs_options()
    parser.add_run_options()
    args = parser.parse_args()
    for name, experiments in OPTIONS.items():
        if getattr(args, name) is not None and args.experiment not in experiments:
            option = f"--{name.replace('_', '-')}"
            parser.error(f"{option} is an option of {', '.join(experiments)}, and not of {args.experiment}")
    return args


if __name__ == "__main__":
    run_command(main)
