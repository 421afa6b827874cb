"""Machinery: Loop C many times over, the same learning each time but for the one thing that is swept.

    python3 -m course.sweep_demo cold_start
    python3 -m course.sweep_demo coverage --values 50 150 --seeds 3
    python3 -m course.sweep_demo verifier_noise

``cold_start`` sweeps the start, fine-tuned on demonstrations for more and more steps, the first not at all. A reward
says something only where some completions of a prompt are paid and others are not: beside the pass rate stands the
share of groups in which all rewards are equal, so that nothing is pushed.

``coverage`` sweeps the number of training prompts: the first N of the dataset, whose order is shuffled, in sums of two
digits without a carry. The holdout is the same 300 prompts each time. A few prompts are memorised, and what is learned
from a thousand holds for others (``course/policies/presets.py``): this is the curve between the two.

``verifier_noise`` sweeps the verifier: the strict scorer, the same with random errors at several rates, as they are
paid and corrected (``policies/random_errors.py``), and the rubric ``anywhere``, which has one hole. The true reward is
that of the strict scorer without errors. A random error is another one for each completion; the hole can be found.

``results.jsonl`` has the completions of every evaluation, ``references/`` the policy that each training started from.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from course.artifacts.inference import medians
from course.artifacts.token_rows import STRICT
from course.artifacts.writing import RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.records import Task, task_of
from course.datasets.sources import Dataset
from course.errors import UserError
from course.jobs import processes
from course.policies.presets import PRESETS, Plan
from course.publishing import conditions_of, publish
from course.reports.sweep_demo import (
    Setting,
    point_of,
    sweep_ending,
    sweep_figure,
    sweep_text,
    verifier_name,
    with_correction,
)
from course.reports.terminal import NOTHING_KEPT, show_each
from course.sweep import Job, Sweep
from course.text import clipped

ERRORS = ((0.0, 0.0), (0.1, 0.0), (0.3, 0.0), (0.0, 0.3), (0.2, 0.2), (0.4, 0.4), (0.5, 0.5))  # false +, false -
HOLE = "anywhere"
Tasks = Sequence[Task]
_EVAL_EVERY = 50  # updates from one evaluation to the next


def digit_pairs(prompt: str) -> list[tuple[int, str, str]]:
    """The digits that are added up, with their place from the left: 25 + 73 → (0, "2", "7"), (1, "5", "3")."""
    numbers = re.search(r"([0-9]+) \+ ([0-9]+)", prompt)
    if numbers is None or len(numbers[1]) != len(numbers[2]):
        raise UserError(f"expected sums of two numbers of as many digits, got {clipped(prompt, 60)}; restore data/")
    return [(place, a, b) for place, (a, b) in enumerate(zip(numbers[1], numbers[2], strict=True))]


def times_seen(training: Sequence[Task], unseen: Sequence[Task]) -> tuple[int, ...]:
    """For each unseen prompt: how many training prompts show the rarest of its digit pairs, at the same place.

    Without a carry a digit of the answer depends on one pair of digits, so 0 means that a digit was never taught. The
    order within a pair counts, 2 + 7 is not 7 + 2: the policy reads them at different positions. Not covered: which
    pairs stood beside each other.
    """
    seen = Counter(pair for example in training for pair in digit_pairs(example["prompt"]))
    return tuple(min(seen[pair] for pair in digit_pairs(example["prompt"])) for example in unseen)


def starts(plan: Plan, counts: Sequence[int], examples: Tasks, _: Tasks) -> list[Setting]:
    """The same plan from policies that were fine-tuned for so many steps."""
    return [Setting(f"{count} steps", len(examples), STRICT, plan._replace(sft_steps=count)) for count in counts]


def coverages(plan: Plan, counts: Sequence[int], examples: Tasks, holdout: Tasks) -> list[Setting]:
    """The same plan on so many prompts."""
    if wrong := [count for count in counts if not 0 < count <= len(examples)]:
        raise UserError(f"--values: expected 1 to {len(examples)}, as many prompts as there are, got {wrong[0]}")
    seen = {count: times_seen(examples[:count], holdout) for count in counts}
    return [Setting(f"{count} prompts", count, STRICT, plan, times) for count, times in seen.items()]


def verifiers(plan: Plan, counts: Sequence[int], examples: Tasks, _: Tasks) -> list[Setting]:
    """The same plan with each pair of error rates, also corrected where that can be; and last with the hole."""
    if counts:
        raise UserError(f"--values: expected none, the pairs of error rates are given, got {counts[0]}")
    coins = [plan._replace(false_positives=wrong, false_negatives=missed) for wrong, missed in ERRORS]
    pairs = [*((STRICT, coin) for coin in coins), (HOLE, plan)]
    found = [Setting(verifier_name(*pair), len(examples), *pair) for pair in pairs]
    return [setting for one in found for setting in (one, with_correction(one)) if setting]


class Experiment(NamedTuple):
    """What is trained each time, and with what ``settings`` from plan, values, examples and holdout."""

    settings: Callable[[Plan, Sequence[int], Tasks, Tasks], list[Setting]]
    preset: str
    steps: int  # updates, where --steps does not say
    samples: int  # completions of each prompt in an evaluation
    values: Sequence[int] = ()  # where --values does not say


EXPERIMENTS = {
    "cold_start": Experiment(starts, "memorise", 600, 4, (0, 50, 100, 200, 400, 800)),
    "coverage": Experiment(coverages, "generalise", 400, 1, (30, 100, 200, 400, 1000)),
    "verifier_noise": Experiment(verifiers, "memorise", 400, 4),
}


def settings_of(swept: Sequence[Setting]) -> dict[str, Any]:
    """For the manifest: what all have in common, and a list, an entry each, of what they have not."""
    columns = [{"prompts": one.prompts, "rubric": one.rubric} | one.plan._asdict() for one in swept]
    listed = {name: [column[name] for column in columns] for name in columns[0]}
    return {name: values[0] if values.count(values[0]) == len(values) else values for name, values in listed.items()}


def main() -> None:
    what = "Loop C many times over: from better and worse starts, on more and more prompts, or with noisy verifiers."
    parser = Parser("course.sweep_demo", what)
    parser.add_argument("experiment", choices=EXPERIMENTS, help="what is swept")
    defaults = "; ".join(f"{name}: {' '.join(map(str, one.values))}" for name, one in EXPERIMENTS.items() if one.values)
    help_ = f"steps of fine-tuning, or numbers of prompts (defaults: {defaults})"
    parser.add_argument("--values", type=non_negative_int, nargs="+", metavar="N", help=help_)
    help_ = f"updates of each (defaults: {'; '.join(f'{name}: {one.steps}' for name, one in EXPERIMENTS.items())})"
    parser.add_argument("--steps", type=positive_int, help=help_)
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    name, experiment = args.experiment, EXPERIMENTS[args.experiment]
    preset, values = PRESETS[experiment.preset], sorted(set(args.values or experiment.values))
    plan = preset.plan._replace(steps=args.steps or experiment.steps)
    dataset = Dataset(Path(preset.dataset), None)
    held = [Dataset(Path(preset.holdout), None)] if name == "coverage" else []
    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        examples, holdout = ([task_of(example) for file in files for example in file] for files in ([dataset], held))
        swept, jobs = experiment.settings(plan, values, examples, holdout), {}
        for one in swept:
            how = (one.rubric, one.plan, _EVAL_EVERY, experiment.samples)
            start = f"{one.prompts}_prompts_{one.plan.sft_steps}_steps_"
            jobs[one] = Job(one.name, start, examples[: one.prompts], holdout, *how)
        sweep = Sweep(run, jobs, range(args.seed, args.seed + args.seeds), executor)
        shown = show_each(sweep_text(name, swept, sweep.trainings, args.seeds), NOTHING_KEPT)
        trainings = {one: sweep.trainings(one) for one in swept}
        run.write_bytes(f"{name}.png", sweep_figure(name, trainings))
        summary = {
            one.name: point_of(one, logs)._asdict() if held else {"true_reward": medians(logs, "true_reward")}
            for one, logs in trainings.items()
        }
        settings = {"experiment": name, "seeds": args.seeds, "samples": experiment.samples, "eval_every": _EVAL_EVERY}
        settings |= {"holdout_fingerprint": held[0].fingerprint if held else None} | settings_of(swept)
        conditions = conditions_of(args, settings, dataset, holdouts=held)
        publish(run, conditions, summary, sweep_ending(name, trainings), read=[f"{name}.png"], shown=shown)


if __name__ == "__main__":
    run_command(main)
