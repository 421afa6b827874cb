"""Loop B, choose: from N completions of each prompt take one, and see what choosing buys.

    python3 -m course.selection_demo --dataset data/datasets/math_dev.jsonl \\
        --samples data/rollouts/selection_pack_dev.jsonl --n 4

The knob is selection compute. The policy that wrote the samples is the same before and after: what changes is which
of its completions is taken. The student's ``exercises/pick_best.py`` chooses.
"""

import gc
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from course.artifacts.locked_room import PICK_BEST_FINGERPRINT
from course.artifacts.records import RESULTS, Details, Selection
from course.artifacts.summary import Choice, choice_of, count_outcomes, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, positive_int, run_command
from course.datasets.pairing import paired
from course.datasets.records import Example
from course.datasets.sources import Dataset, SelectionPack, provenance
from course.picking import PickBest, Sample, choose, load_pick_best, pick_best_fingerprint
from course.publishing import INSPECT, Conditions, publish
from course.reports.measurement import conditions_text
from course.reports.selection_demo import selection_text
from course.reports.terminal import with_progress
from course.score import measure

_EXAMINED = 1_000  # failures that are looked through for one of each cause


def select(pairs: Iterable[tuple[Example, list[str] | None]], n: int, pick_best: PickBest) -> Iterator[Selection]:
    """All of Loop B: score the first n samples of a prompt, and let ``pick_best`` choose one."""
    for example, group in pairs:
        if group is None:
            continue  # paired() refuses the run when it has seen all that is missing
        samples = group[:n]
        measured = [measure(example.expected_answer, sample) for sample in group]
        rewards = [measurement.reward for measurement in measured]
        offered = [*map(Sample, range(n), samples, rewards)]
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
            rewards=rewards[:n],
            chosen=chosen,
            others=group[n:],
            other_rewards=rewards[n:],
        )


def watched(rows: Iterable[Selection], choices: Counter[Choice], failed: list[Selection]) -> Iterator[Selection]:
    """The rows unchanged. Counts the choices, and keeps the first rows that are still wrong, to be explained."""
    for row in rows:
        choices[choice_of(row)] += 1
        if row.reward == 0.0 and len(failed) < _EXAMINED:
            failed.append(row)
        yield row


def main() -> int:
    parser = Parser("course.selection_demo", "Loop B: choose one of N recorded samples a prompt.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--samples", type=Path, required=True, help="JSONL: id, samples; all groups of one size")
    parser.add_argument("--n", type=positive_int, required=True, help="how many samples a prompt to look at")
    parser.add_run_options()
    parser.add_split_option()
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()

    gc.set_threshold(100_000)  # rows are many lists without a cycle: to look through them at 700 is a fifth of the time
    dataset, pack = Dataset(args.dataset, args.split), SelectionPack(args.samples, args.n)
    outcomes: Counter[str] = Counter()
    choices: Counter[Choice] = Counter()
    failed: list[Selection] = []
    with RunWriter(args.outdir) as run:
        pick_best = load_pick_best()
        pairs = paired(with_progress(dataset, "choosing"), pack, dataset=args.dataset, completions=args.samples)
        rows = select(pairs, args.n, pick_best)
        run.write_rows(RESULTS, watched(count_outcomes(rows, outcomes), choices, failed))
        source = provenance(pack.completions)
        summary = summary_of(outcomes, choices)
        settings = {PICK_BEST_FINGERPRINT: pick_best_fingerprint()}
        conditions = Conditions("B", "course.selection_demo", settings, args.change, args.expect, dataset)
        conditions = conditions._replace(
            completions_fingerprint=pack.completions.sha256,
            samples_per_prompt=args.n,
            source=source,
            typed=args.typed,
        )
        report = selection_text(summary, conditions_text(dataset.split, source, pack.completions), failed)
        publish(run, conditions, summary, report, next_command=INSPECT, as_json=args.json)
    return 0


if __name__ == "__main__":
    run_command(main)
