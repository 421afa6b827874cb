"""Loop B, choose: from N completions of each prompt take one, and see what choosing buys.

    python -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4

The knob is selection compute. The policy that wrote the samples is the same before and after: what changes is which
of its completions is looked at. The student's ``exercises/pick_best.py`` chooses; its choice is scored again here.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from course.artifacts.conditions import manifest_of, summary_of
from course.artifacts.holdout import look_number
from course.artifacts.records import RESULTS, SUMMARY, Selection
from course.artifacts.room import PICK_BEST, walls
from course.artifacts.writing import RUNS, RunWriter
from course.command import Parser, at_least_one, run
from course.datasets.jsonl import read_records
from course.datasets.pairing import paired
from course.datasets.records import Example, SampleGroup
from course.datasets.sources import SPLITS, Dataset, provenance
from course.errors import UserError
from course.exercises.pick_best import Picker, Sample, load, pick
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.reports.run_text import conditions_text, pass_line
from course.reports.selection_text import failures_text, numbers_text
from course.reports.text import shown
from course.score import verdict, visible
from course.stats import best_of_n_kl, best_of_n_kl_bound, mean, pass_at_k


def chosen(pairs: Iterable[tuple[Example, list[str] | None]], picker: Picker) -> Iterator[Selection]:
    """Loop B, whole: score the samples of a prompt, let ``picker`` choose one, and score what it chose."""
    for example, samples in pairs:
        if samples is None:
            continue  # paired() refuses the run when it has seen all that is missing
        rewards = [1.0 if verdict(example.expected_answer, sample)[0] == "ok" else 0.0 for sample in samples]
        offered = [
            Sample(index, text, reward) for index, (text, reward) in enumerate(zip(samples, rewards, strict=True))
        ]
        index = pick(picker, offered, example.id)
        outcome, parsed = verdict(example.expected_answer, samples[index])
        yield Selection(
            id=example.id,
            prompt=example.prompt,
            expected_answer=example.expected_answer,
            completion=samples[index],
            reward=1.0 if outcome == "ok" else 0.0,
            outcome=outcome,
            parsed_answer=parsed,
            samples=samples,
            rewards=rewards,
            chosen=index,
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
            f"{shown(path)}: expected groups of one size, got {size} samples mostly and {len(groups[odd])} in {odd}"
        )
    if n > size:
        raise UserError(f"--n {n}: expected at most {size}, the samples a prompt in {shown(path)}, got {n}")
    return {id_: samples[:n] for id_, samples in groups.items()}


def main() -> int:
    parser = Parser("course.selection_demo", "Loop B: choose one of N recorded samples a prompt.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--samples", type=Path, required=True, help="JSONL: id, samples; all groups of one size")
    parser.add_argument("--n", type=at_least_one, required=True, help="how many samples a prompt to look at")
    parser.add_run_options()
    parser.add_argument(
        "--split", choices=SPLITS, help="which split this is, where the records do not say (default: dev)"
    )
    args = parser.parse_args()

    dataset = Dataset(args.dataset, args.split)
    with RunWriter(args.outdir) as writer:
        picker, pick_best_fingerprint = load()
        source = provenance(args.samples)
        digest = hashlib.sha256()
        samples = read_samples(args.samples, args.n, digest)
        examples = with_progress(dataset, "choosing", len(samples))
        pairs = paired(examples, samples, missing_allowed=False, dataset=args.dataset, completions=args.samples)
        rows = list(chosen(pairs, picker))
        writer.write_rows(RESULTS, rows)
        summary = summary_of(Counter(row.outcome for row in rows)) | selection_numbers(rows, args.n)
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop="B",
            command="course.selection_demo",
            settings={
                "dataset": visible(args.dataset.name),
                "samples": visible(args.samples.name),
                PICK_BEST: pick_best_fingerprint,
            },
            dataset=dataset,
            completions_fingerprint=digest.hexdigest(),
            samples_per_prompt=args.n,
            source=source,
            change=args.change,
            outputs=writer.outputs,
        )
        look = look_number(RUNS, manifest)
        failed = [row for row in rows if row.reward == 0.0]
        told = [row for row in rows if row.reward == 1.0][:1] + failed[:1]
        path = writer.publish(manifest, run_page("B", summary, walls(manifest), args.change, told, look))

    print(f"Loop B, choose: {args.n} sample{'s' if args.n > 1 else ''} a prompt, one is taken.\n")
    print(conditions_text(manifest, look))
    print(f"\n{pass_line(summary)}\n\n{numbers_text(summary)}\n")
    if failed:
        print(f"{failures_text(failed)}\n")
    print("This is selection: another sample is taken, the policy did not change.")
    print(f"\nrun: {shown(path)}\nnext: python -m course.inspect_run --run {shown(path)} --only-fails --top-k 5")
    return 0


if __name__ == "__main__":
    run(main)
