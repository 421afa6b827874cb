"""Loop B, choose: from N completions of each prompt take one, and see what choosing buys.

    python -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4

The knob is selection compute. The policy that wrote the samples is the same before and after: what changes is which
of its completions is taken. The student's ``exercises/pick_best.py`` chooses.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from course.artifacts.locked_room import PICK_BEST_FINGERPRINT
from course.artifacts.records import RESULTS, Details, Selection
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, positive_int, run_command
from course.datasets.jsonl import read_records
from course.datasets.pairing import paired
from course.datasets.records import Example, SampleGroup
from course.datasets.sources import Dataset, provenance
from course.errors import UserError
from course.exercises.picking import PickBest, Sample, choose, load_pick_best, pick_best_fingerprint
from course.publishing import Conditions, publish
from course.reports.progress import with_progress
from course.reports.selection_demo import selection_text
from course.score import measure
from course.stats import best_of_n_kl, best_of_n_kl_bound, mean, pass_at_k
from course.text import visible, visible_path


def select(pairs: Iterable[tuple[Example, list[str] | None]], pick_best: PickBest) -> Iterator[Selection]:
    """All of Loop B: score the samples of a prompt, and let ``pick_best`` choose one."""
    for example, samples in pairs:
        if samples is None:
            continue  # paired() refuses the run when it has seen all that is missing
        measured = [measure(example.expected_answer, sample) for sample in samples]
        rewards = [measurement.reward for measurement in measured]
        offered = [Sample(index, *pair) for index, pair in enumerate(zip(samples, rewards, strict=True))]
        chosen = choose(pick_best, offered, example.id)
        reward, outcome, parsed = measured[chosen]
        yield Selection(
            id=example.id,
            prompt=example.prompt,
            expected_answer=example.expected_answer,
            completion=samples[chosen],
            reward=reward,
            details=Details(outcome, parsed),
            samples=samples,
            rewards=rewards,
            chosen=chosen,
        )


def selection_numbers(rows: list[Selection], n: int) -> dict[str, Any]:
    """Three numbers that are never merged, with the control, the ceiling and the price.

    ``pass_at_1``: how often the first sample is right. ``pass_at_k``: how often k samples hold a right one, unbiased.
    ``selected_accuracy``: how often the choice is right. ``random_choice``: what choosing blindly would get.
    ``ceiling``: what no choice can exceed. ``kl_exact``: mean over the prompts, each with the pass rate of its own n
    samples; null where the choice was not the first of the best, for which the equation is not known to hold.
    """
    right = [int(sum(row.rewards)) for row in rows]
    first_of_best = all(row.chosen == row.rewards.index(max(row.rewards)) for row in rows)
    return {
        "samples_per_prompt": n,
        "pass_at_1": mean([row.rewards[0] for row in rows]),
        "pass_at_k": {str(k): mean([pass_at_k(n, c, k) for c in right]) for k in range(1, n + 1)},
        "selected_accuracy": mean([row.reward for row in rows]),
        "random_choice": mean([c / n for c in right]),
        "ceiling": mean([c > 0 for c in right]),
        "kl_exact": mean([best_of_n_kl(c / n, n) for c in right]) if first_of_best else None,
        "kl_exact_reason": None if first_of_best else "pick_best did not take the first of the best samples everywhere",
        "kl_bound": best_of_n_kl_bound(n),
    }


def read_samples(path: Path, n: int, digest: "hashlib._Hash") -> dict[str, list[str]]:
    """The first n samples of each group. All groups of a pack have one size."""
    groups = {group.id: group.samples for group in with_progress(read_records(path, SampleGroup, digest), "reading")}
    sizes = Counter(len(samples) for samples in groups.values())
    size = sizes.most_common(1)[0][0]
    if len(sizes) > 1:
        odd = next(id_ for id_, samples in groups.items() if len(samples) != size)
        raise UserError(
            f"{visible_path(path)}: expected groups of one size, got {size} samples mostly and {len(groups[odd])} in "
            f"{visible(odd[:60])}"
        )
    if n > size:
        raise UserError(f"--n {n}: expected at most {size}, the samples a prompt in {visible_path(path)}, got {n}")
    return {id_: samples[:n] for id_, samples in groups.items()}


def main() -> int:
    parser = Parser("course.selection_demo", "Loop B: choose one of N recorded samples a prompt.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--samples", type=Path, required=True, help="JSONL: id, samples; all groups of one size")
    parser.add_argument("--n", type=positive_int, required=True, help="how many samples a prompt to look at")
    parser.add_run_options()
    parser.add_split_option()
    args = parser.parse_args()

    dataset = Dataset(args.dataset, args.split)
    with RunWriter(args.outdir) as run:
        pick_best = load_pick_best()
        source = provenance(args.samples)
        digest = hashlib.sha256()
        samples = read_samples(args.samples, args.n, digest)
        examples = with_progress(dataset, "choosing", len(samples))
        pairs = paired(examples, samples, missing_allowed=False, dataset=args.dataset, completions=args.samples)
        rows = list(select(pairs, pick_best))
        run.write_rows(RESULTS, rows)
        summary = summary_of(Counter(row.details.outcome for row in rows)) | selection_numbers(rows, args.n)
        conditions = Conditions(
            loop="B",
            command="course.selection_demo",
            settings={
                "dataset": visible(args.dataset.name),
                "samples": visible(args.samples.name),
                PICK_BEST_FINGERPRINT: pick_best_fingerprint(),
            },
            change=args.change,
            dataset=dataset,
            completions_fingerprint=digest.hexdigest(),
            samples_per_prompt=args.n,
            source=source,
        )
        failed = [row for row in rows if row.reward == 0.0]
        publish(
            run,
            conditions,
            summary,
            selection_text(summary, dataset.split, source, failed),
            examples=[row for row in rows if row.reward == 1.0][:1] + failed[:1],
            next_command="python -m course.inspect_run --run {run} --only-fails --top-k 5",
        )
    return 0


if __name__ == "__main__":
    run_command(main)
