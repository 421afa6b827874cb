"""Machinery: Loop C, memorised or learned. One task, one plan, one holdout; the number of training prompts differs.

    python3 -m course.coverage_demo
    python3 -m course.coverage_demo --prompts 50 150 --seeds 3

The task is two-digit sums without a carry, rewarded by the strict scorer. A policy is trained anew on the first N
prompts of the dataset, whose order is shuffled, for each N; the holdout is the same 300 prompts each time. A few
prompts are memorised, and what is learned from a thousand holds for others (``course/policies/presets.py``): this is
the curve between the two. ``results.jsonl`` has the completions of every evaluation of every training, and
``references/`` the policy that each one started from.
"""

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from course.artifacts.inference import CoveragePoint, coverage_point
from course.artifacts.token_rows import STRICT
from course.artifacts.writing import RunWriter
from course.command import Parser, positive_int, run_command
from course.datasets.records import Task
from course.datasets.sources import Dataset
from course.errors import UserError
from course.jobs import processes
from course.policies.presets import GENERALISE
from course.publishing import Conditions, publish
from course.reports.coverage_demo import coverage_ending, coverage_text
from course.reports.coverage_demo_figure import coverage_curve
from course.reports.terminal import show_each
from course.sweep import Job, Sweep
from course.text import clipped

COVERAGE_FIGURE = "coverage.png"
PROMPTS = (30, 100, 200, 400, 1000)
_EVAL_EVERY = 50  # updates from one evaluation to the next


def digit_pairs(prompt: str) -> list[tuple[int, str, str]]:
    """The digits that are added up, with their place from the left: 25 + 73 → (0, "2", "7"), (1, "5", "3")."""
    numbers = re.search(r"([0-9]+) \+ ([0-9]+)", prompt)
    if numbers is None or len(numbers[1]) != len(numbers[2]):
        raise UserError(f"expected sums of two numbers of as many digits, got {clipped(prompt, 60)}; restore data/")
    return [(place, a, b) for place, (a, b) in enumerate(zip(numbers[1], numbers[2], strict=True))]


def times_seen(training: Sequence[Task], unseen: Sequence[Task]) -> list[int]:
    """For each unseen prompt: how many training prompts show the rarest of its digit pairs, at the same place.

    Without a carry a digit of the answer depends on one pair of digits, so 0 means that a digit was never taught. The
    order within a pair counts, 2 + 7 is not 7 + 2: the policy reads them at different positions. Not covered: which
    pairs stood beside each other.
    """
    seen = Counter(pair for example in training for pair in digit_pairs(example["prompt"]))
    return [min(seen[pair] for pair in digit_pairs(example["prompt"])) for example in unseen]


def main() -> int:
    parser = Parser("course.coverage_demo", "Loop C: how many prompts turn memorising into learning?")
    parser.add_argument("--prompts", type=positive_int, nargs="+", metavar="N", default=PROMPTS,
                        help=f"train on the first N prompts (default: {' '.join(map(str, PROMPTS))})")  # fmt: skip
    parser.add_argument("--steps", type=positive_int, default=400, help="updates of each (default: 400)")
    parser.add_seed_options()
    parser.add_run_options()
    args = parser.parse_args()

    counts, plan = sorted(set(args.prompts)), GENERALISE.plan._replace(steps=args.steps)
    dataset, unseen = (Dataset(Path(path), None) for path in (GENERALISE.dataset, GENERALISE.holdout))
    with RunWriter(args.outdir) as run, processes(args.jobs) as executor:
        examples, holdout = ([example.asked() for example in file] for file in (dataset, unseen))
        if counts[-1] > len(examples):
            most = f"{len(examples)}, as many as {dataset.path} holds"
            raise UserError(f"--prompts: expected at most {most}, got {counts[-1]}")

        how = (holdout, STRICT, plan, _EVAL_EVERY, 1)
        jobs = {count: Job(f"{count} prompts", f"prompts_{count}_", examples[:count], *how) for count in counts}
        sweep = Sweep(run, jobs, range(args.seed, args.seed + args.seeds), executor)

        def point_of(count: int) -> CoveragePoint:
            """The trainings on so many prompts: the report asks for them, row by row."""
            return coverage_point(sweep.trainings(count), times_seen(examples[:count], holdout))

        shown = show_each(coverage_text(counts, point_of, plan, args.seeds))
        points = [point_of(count) for count in counts]
        run.write_bytes(COVERAGE_FIGURE, coverage_curve(points))
        settings = plan._asdict() | {"prompts": counts, "seeds": args.seeds, "eval_every": _EVAL_EVERY}
        settings["holdout_fingerprint"] = unseen.fingerprint
        conditions = Conditions(
            "C", "course.coverage_demo", settings, args.change, args.expect, dataset, [unseen], seed=args.seed
        )
        summary = {f"{point.prompts} prompts": point._asdict() for point in points}
        publish(run, conditions, summary, coverage_ending(points), read=[COVERAGE_FIGURE], shown=shown)
    return 0


if __name__ == "__main__":
    run_command(main)
