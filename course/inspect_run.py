"""Machinery: Loop A's second half. Look at what failed, and say why, before anything is improved.

    python -m course.inspect_run --run runs/run_001 --only-fails --top-k 5 --show 2
    python -m course.inspect_run --run runs/run_001 --id dev-007
    python -m course.inspect_run --run runs/run_001 --verify

Characters that cannot be seen are written out, as <U+200B ZERO WIDTH SPACE>.
"""

from collections import Counter
from pathlib import Path

from course.artifacts.reading import Broken, Run, open_run, rows, verified_rows
from course.artifacts.records import Result, Selection
from course.artifacts.scorer_identity import example_of, installed
from course.command import Parser, positive_int, run_command
from course.errors import UserError
from course.reports.inspect_run import outcomes_table, ranking_text, row_in_full, samples_text
from course.reports.progress import with_progress
from course.reports.tables import interval
from course.score import score
from course.stats import wilson_interval
from course.text import visible, visible_path


def verify(opened: Run) -> int:
    """Take every digest again and score every completion again. Exit status 0 if all is as recorded, else 1."""
    faults: list[str] = []
    n = sum(1 for _ in with_progress(verified_rows(opened, faults), "verifying"))
    if opened.manifest.scorer_fingerprint != installed().fingerprint:
        faults.append(f"measured with another scorer than the one installed ({installed().name} {installed().version})")
    if faults:
        print(f"{visible_path(opened.path)}: NOT as it was written\n" + "\n".join(f"  - {fault}" for fault in faults))
        return 1
    print(f"{visible_path(opened.path)}: whole; {n:,} rows scored again alike, every digest holds")
    return 0


def failures(opened: Run, *, only_fails: bool, top_k: int, show: int) -> str:
    """Failures by family and outcome, then the first that passed and the first that did not."""
    examples: dict[str, list[Result]] = {}
    counts: Counter[str] = Counter()
    top: list[Result] = []
    bottom: list[Result] = []
    for row in rows(opened):
        counts[row.details.outcome] += 1
        of_this_outcome = examples.setdefault(row.details.outcome, [])
        if len(of_this_outcome) < show:
            of_this_outcome.append(row)
        ranked = top if row.reward == 1.0 else bottom
        if len(ranked) < top_k:
            ranked.append(row)
    passes, n = counts["ok"], sum(counts.values())
    if not n:
        raise UserError(f"{opened.path}: expected rows to look at, got none: this run scored nothing")
    loop = opened.manifest.loop
    # In Loop C the policy changed from row to row: there is no one rate for an interval to be of.
    uncertainty = "over all that it scored" if loop == "C" else f"95 % interval {interval(wilson_interval(passes, n))}"
    head = f"{visible_path(opened.path)}: Loop {loop}, passed {passes:,} of {n:,} ({uncertainty})"
    parts = [head, outcomes_table(counts, examples, top_k)]
    if not only_fails:
        parts.append(ranking_text(top, bottom))
    return "\n\n".join(parts)


def one(opened: Run, id_: str) -> str:
    """One row, with the explanation that the scorer gives of it now."""
    row = next((row for row in rows(opened) if row.id == id_), None)
    if row is None:
        raise UserError(
            f"{opened.path}: expected an id of this run, got {visible(id_[:60])}; its results.jsonl has them"
        )
    details = None if row.completion is None else score(example_of(row), row.completion)["details"]
    whole = row_in_full(row, details)
    return whole if not isinstance(row, Selection) else f"{whole}\n{samples_text(row.samples, row.rewards, row.chosen)}"


def main() -> int:
    parser = Parser("course.inspect_run", "Loop A: look at the failures of a run, or verify it.")
    parser.add_argument("--run", type=Path, required=True, help="the folder of a run")
    parser.add_argument("--only-fails", action="store_true", help="leave out what passed")
    parser.add_argument(
        "--top-k", type=positive_int, default=5, help="how many outcomes, and how many top and bottom rows"
    )
    parser.add_argument("--show", type=positive_int, default=2, help="how many examples of an outcome")
    parser.add_argument("--id", help="show this one example whole")
    parser.add_argument(
        "--verify",
        action="store_true",
        help="check digests, score everything again; exit status 1 if anything differs",
    )
    args = parser.parse_args()
    try:
        opened = open_run(args.run)
        if args.verify:
            return verify(opened)
        if args.id is not None:
            print(one(opened, args.id))
        else:
            print(failures(opened, only_fails=args.only_fails, top_k=args.top_k, show=args.show))
    except Broken as error:
        if args.verify:
            print(f"{visible_path(args.run)}: NOT as it was written\n  - {error}")
            return 1
        raise UserError(f"{args.run}: expected a whole run, got a broken one: {error}") from None
    return 0


if __name__ == "__main__":
    run_command(main)
