"""Loop C, memorised or learned: one task, one plan, one holdout, and only the number of training prompts differs.

    python -m course.coverage_demo
    python -m course.coverage_demo --prompts 50 150 --seeds 3

The task is two-digit sums without a carry, paid by the strict scorer. The policy is trained anew on the first N prompts
of the dataset, whose order is shuffled, for each N; the holdout is the same 300 prompts each time. Few prompts are
remembered, a thousand are learned from (``course/policies/regimes.py``): this is the curve between the two.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from course.artifacts.conditions import manifest_of
from course.artifacts.holdout import looks
from course.artifacts.locked_room import room_conditions
from course.artifacts.records import SUMMARY
from course.artifacts.token_rows import measured_row
from course.artifacts.writing import RUNS, RunWriter
from course.command import Parser, non_negative_int, positive_int, run_command
from course.datasets.sources import Dataset
from course.errors import UserError
from course.reports.coverage_demo import Row, coverage_table, points_of, reading_text, shown_table
from course.reports.coverage_demo_figure import coverage_curve
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.reports.tables import percent
from course.score import score
from course.text import visible, visible_path

if TYPE_CHECKING:  # NumPy is loaded by the functions that compute, so that --help answers at once
    from course.policies.presets import Plan
    from course.policies.token_learner import Example

LOG, CURVE = "log.jsonl", "coverage.png"
PROMPTS = (30, 100, 200, 400, 1000)
STEPS = 400
EVERY = 50  # updates from one look to the next


def digit_pairs(prompt: str) -> list[tuple[int, str, str]]:
    """The digits that are added up, with their place from the left: 25 + 73 → (0, "2", "7"), (1, "5", "3")."""
    numbers = re.search(r"([0-9]+) \+ ([0-9]+)", prompt)
    if numbers is None or len(numbers[1]) != len(numbers[2]):
        raise UserError(
            f"expected prompts that add two numbers of as many digits, got {visible(prompt[:60])!r}; restore data/"
        )
    return [(place, a, b) for place, (a, b) in enumerate(zip(numbers[1], numbers[2], strict=True))]


def sightings(training: Sequence[str], unseen: Sequence[str]) -> list[int]:
    """For each unseen prompt: how many training prompts show the rarest of its digit pairs, at the same place.

    Without a carry a digit of the answer depends on one pair of digits, so 0 means that a digit was never taught. The
    order within a pair counts, 2 + 7 is not 7 + 2: the policy sees them at different places.

    Not covered: which pairs stood beside each other, and what a policy makes of it. That all pairs of a prompt were
    shown says that it could be worked out, not that it will be.
    """
    seen = Counter(pair for prompt in training for pair in digit_pairs(prompt))
    return [min(seen[pair] for pair in digit_pairs(prompt)) for prompt in unseen]


def train(examples: Sequence[Example], holdout: Sequence[Example], plan: Plan, seed: int) -> Iterator[Row]:
    """Loop C, once: the supervised start, then REINFORCE on the strict scorer, with a look at the holdout on the way.

    No look enters an update.
    """
    from course.policies.evaluation import moments
    from course.policies.token_learner import imitate

    reference = deque(imitate(examples, plan, seed), maxlen=1).pop()
    times = sightings(*([example["prompt"] for example in one] for one in (examples, holdout)))
    for moment in moments(reference, examples, holdout, score, plan, seed, EVERY):
        assert moment.holdout is not None
        passed = Counter(dict.fromkeys(times, 0))
        passed.update(time for time, paid in zip(times, moment.holdout.true, strict=True) if paid == 1)
        by_times = [(time, times.count(time), passed[time]) for time in sorted(passed)]
        yield Row(**asdict(measured_row(moment)), prompts=len(examples), seed=seed, by_times=by_times)


def main() -> int:
    parser = Parser("course.coverage_demo", "Loop C: how many prompts turn remembering into learning?")
    parser.add_argument(
        "--prompts",
        type=positive_int,
        nargs="+",
        metavar="N",
        default=PROMPTS,
        help=f"train on the first N prompts, for each N (default: {' '.join(map(str, PROMPTS))})",
    )
    parser.add_argument("--steps", type=positive_int, default=STEPS, help=f"updates of each (default: {STEPS})")
    parser.add_argument("--seed", type=non_negative_int, default=0, help="of all draws (default: 0)")
    parser.add_argument("--seeds", type=positive_int, default=1, help="trainings of each, one a seed (default: 1)")
    parser.add_run_options()
    args = parser.parse_args()

    from course.policies.presets import GENERALISE

    counts, plan = sorted(set(args.prompts)), GENERALISE.plan._replace(steps=args.steps)
    with RunWriter(args.outdir) as writer:
        dataset, unseen = (Dataset(Path(path), None) for path in (GENERALISE.dataset, GENERALISE.holdout))
        examples, holdout = ([example.asked() for example in one] for one in (dataset, unseen))
        if counts[-1] > len(examples):
            raise UserError(
                f"--prompts: expected at most {len(examples)}, as many as {dataset.path} holds, got {counts[-1]}"
            )
        trainings = [(count, args.seed + turn) for count in counts for turn in range(args.seeds)]
        rows = (row for count, seed in trainings for row in train(examples[:count], holdout, plan, seed))
        log = []
        for row in with_progress(rows, "training", len(trainings) * (1 - -args.steps // EVERY), told):
            writer.append(LOG, row)
            log.append(row)

        points = points_of(log)
        writer.write_bytes(CURVE, coverage_curve(points))
        said = {"steps": args.steps, "seeds": args.seeds}
        numbers = [point._asdict() for point in points]
        writer.write_json(SUMMARY, said | {"points": numbers})
        settings = {
            "dataset": dataset.path.name,
            "holdout": unseen.path.name,
            "holdout_fingerprint": unseen.fingerprint,
            "prompts": counts,
            "seeds": args.seeds,
            "plan": plan._asdict(),
        }
        manifest = manifest_of(
            loop="C",
            command="course.coverage_demo",
            settings=settings,
            dataset=dataset,
            change=args.change,
            outputs=writer.outputs,
            seed=args.seed,
        )
        look = looks(RUNS, unseen.fingerprint) + 1
        by_prompts: dict[str, Any] = {f"{point['prompts']} prompts": point for point in numbers}
        page = run_page("C", said | by_prompts, room_conditions(manifest), args.change, [], look)
        path = writer.publish(manifest, page, holdout=unseen.fingerprint)

    print("Loop C, learn: the same task each time, on more and more of its prompts.\n")
    print(f"paid by the strict scorer, {args.steps} updates each, seeds: {args.seeds}\n")
    print(coverage_table(points))
    print("\nall trainings together: the holdout by how often the rarer pair was shown\n")
    print(shown_table(log))
    print(f"\n{reading_text(points)}")
    print(f"\nThis was look number {look} at the holdout: each is a chance to tune on it.")
    print(f"\nrun: {visible_path(path)}\nlook at: {visible_path(path / CURVE)}")
    return 0


def told(row: Row) -> str:
    """What stands beside the bar."""
    return f"{row.prompts} prompts: {percent(row.true_reward)}, holdout {percent(row.holdout_true_reward or 0.0)}"


if __name__ == "__main__":
    run_command(main)
