"""Loop A, measure: score recorded completions of a dataset, and leave a run that can be checked.

    python3 -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl

Nothing is improved here and no knob is turned. What comes out is a pass rate with its interval, and how it failed.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from course.artifacts.records import RESULTS, UNANSWERED, Details, Result
from course.artifacts.scorer_identity import check_golden
from course.artifacts.summary import counted, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, fraction, run_command
from course.datasets.jsonl import read_records
from course.datasets.pairing import paired
from course.datasets.records import Example, GoldenCase, Rollout
from course.datasets.sources import CompletionsFile, Dataset, provenance
from course.publishing import INSPECT, Conditions, publish
from course.reports.eval import eval_text
from course.reports.measurement import conditions_text, pass_line
from course.reports.terminal import with_progress
from course.reports.validate_scorer import verdict_text
from course.score import measure

Measured = tuple[Conditions, dict[str, Any], dict[str, Result]]  # and its numbers, and the first row of each outcome


def evaluate(pairs: Iterable[tuple[Example, str | None]]) -> Iterator[Result]:
    """All of Loop A: an example and its completion go in, the scorer measures, a row comes out."""
    for example, completion in pairs:
        reward, outcome, parsed = UNANSWERED if completion is None else measure(example.expected_answer, completion)
        yield Result(example.id, example.prompt, example.expected_answer, completion, reward, Details(outcome, parsed))


def evaluate_file(run: RunWriter, dataset: Dataset, path: Path, missing: str | None, *, watched: bool) -> Measured:
    """Score a file of completions of a dataset, and write the rows into the run. ``watched``: show the progress."""
    outcomes: Counter[str] = Counter()
    firsts: dict[str, Result] = {}
    digest = hashlib.sha256()
    pairs = paired(
        with_progress(dataset, "scoring") if watched else dataset,
        ((rollout.id, rollout.completion) for rollout in read_records(path, Rollout, digest)),
        missing_allowed=missing == "zero",
        if_missing="--missing zero counts a missing one as reward 0",
        dataset=dataset.path,
        completions=path,
    )
    run.write_rows(RESULTS, counted(evaluate(pairs), outcomes, firsts))
    completions = CompletionsFile(path, digest.hexdigest(), 1)
    conditions = Conditions("A", "course.eval", {"missing": missing}, None, None, dataset)
    conditions = conditions._replace(completions_fingerprint=completions.sha256, source=provenance(completions))
    return conditions._replace(samples_per_prompt=1), summary_of(outcomes), firsts


def main() -> int:
    parser = Parser("course.eval", "Loop A: measure recorded completions of a dataset.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--completions", type=Path, required=True, help="JSONL: id, completion")
    parser.add_run_options()
    parser.add_split_option()
    parser.add_argument("--missing", choices=("zero",), help="count an id without a completion as reward 0")
    parser.add_argument("--golden", type=Path, nargs="+", default=[], metavar="FILE", help="own cases, checked first")
    parser.add_argument("--fail-under", type=fraction, metavar="RATE", help="status 1 below this; the run is left")
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()

    golden = check_golden(case for path in args.golden for case in read_records(path, GoldenCase))
    if failures := [verdict_text(verdict) for verdict in golden if not verdict.passed]:
        print(*failures, "nothing was scored: the scorer fails these golden cases", sep="\n", file=sys.stderr)
        return 1
    dataset = Dataset(args.dataset, args.split)
    with RunWriter(args.outdir) as run:
        conditions, summary, firsts = evaluate_file(run, dataset, args.completions, args.missing, watched=True)
        completions = CompletionsFile(args.completions, str(conditions.completions_fingerprint), 1)
        how = conditions_text(dataset.split, conditions.source, completions, len(golden))
        conditions = conditions._replace(change=args.change, expect=args.expect, typed=args.typed)
        publish(run, conditions, summary, eval_text(summary, how, firsts), next_command=INSPECT, as_json=args.json)
    if below := args.fail_under is not None and summary["passes"] < args.fail_under * summary["n"]:
        print(f"below --fail-under {float(args.fail_under)}: {pass_line(summary)}", file=sys.stderr)
    return int(below)


if __name__ == "__main__":
    run_command(main)
