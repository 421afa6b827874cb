"""Loop A, measure: score recorded completions of a dataset, and leave a run that can be checked.

    python -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl

Nothing is improved here and no knob is turned. What comes out is a pass rate with its interval, and how it failed.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from course.artifacts.records import RESULTS, UNANSWERED, Details, Result
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, run_command
from course.datasets.jsonl import read_records
from course.datasets.pairing import paired
from course.datasets.records import Example, Rollout
from course.datasets.sources import Dataset, provenance
from course.publishing import Conditions, publish
from course.reports.eval import eval_text
from course.reports.progress import with_progress
from course.score import measure
from course.text import visible


def evaluate(pairs: Iterable[tuple[Example, str | None]]) -> Iterator[Result]:
    """All of Loop A: an example and its completion go in, the scorer measures, a row comes out."""
    for example, completion in pairs:
        reward, outcome, parsed = UNANSWERED if completion is None else measure(example.expected_answer, completion)
        yield Result(example.id, example.prompt, example.expected_answer, completion, reward, Details(outcome, parsed))


def counted(rows: Iterable[Result], outcomes: Counter[str], firsts: dict[str, Result]) -> Iterator[Result]:
    """The rows unchanged. Counts their outcomes on the way, and keeps the first row of each outcome."""
    for row in rows:
        outcome = row.details.outcome
        if outcome not in outcomes:
            firsts[outcome] = row
        outcomes[outcome] += 1
        yield row


def main() -> int:
    parser = Parser("course.eval", "Loop A: measure recorded completions of a dataset.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--completions", type=Path, required=True, help="JSONL: id, completion")
    parser.add_run_options()
    parser.add_split_option()
    parser.add_argument("--missing", choices=("zero",), help="count an id without a completion as reward 0")
    args = parser.parse_args()

    dataset = Dataset(args.dataset, args.split)
    outcomes: Counter[str] = Counter()
    firsts: dict[str, Result] = {}
    with RunWriter(args.outdir) as run:
        source = provenance(args.completions)
        digest = hashlib.sha256()
        rollouts = with_progress(read_records(args.completions, Rollout, digest), "reading")
        completions = {rollout.id: rollout.completion for rollout in rollouts}
        pairs = paired(
            with_progress(dataset, "scoring", len(completions)),
            completions,
            missing_allowed=args.missing == "zero",
            if_missing="--missing zero counts a missing one as reward 0",
            dataset=args.dataset,
            completions=args.completions,
        )
        run.write_rows(RESULTS, counted(evaluate(pairs), outcomes, firsts))
        summary = summary_of(outcomes)
        conditions = Conditions(
            loop="A",
            command="course.eval",
            settings={
                "dataset": visible(args.dataset.name),
                "completions": visible(args.completions.name),
                "missing": args.missing,
            },
            change=args.change,
            dataset=dataset,
            completions_fingerprint=digest.hexdigest(),
            samples_per_prompt=1,
            source=source,
        )
        passed = [row for row in firsts.values() if row.reward == 1.0]
        failed = [row for row in firsts.values() if row.reward != 1.0]
        publish(
            run,
            conditions,
            summary,
            eval_text(summary, dataset.split, source, firsts),
            examples=passed[:1] + failed[:1],
            next_command="python -m course.inspect_run --run {run} --only-fails --top-k 5",
        )
    return 0


if __name__ == "__main__":
    run_command(main)
