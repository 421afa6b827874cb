"""Loop A's second half: look at what failed, and say why, before anything is improved.

    python -m course.inspect_run --run runs/run_001 --only-fails --top-k 5 --show 2
    python -m course.inspect_run --run runs/run_001 --id dev-007
    python -m course.inspect_run --run runs/run_001 --verify

Characters that cannot be seen are written out, as <U+200B ZERO WIDTH SPACE>.
"""

import hashlib
from collections import Counter
from pathlib import Path

import msgspec

from course.artifacts.reading import Broken, Run, open_run, read_summary, rows, verified_rows
from course.artifacts.records import Result, Selection
from course.artifacts.scorer_identity import example_of, installed
from course.artifacts.summary import summary_of
from course.command import Parser, positive_int, run_command
from course.errors import UserError
from course.reports.inspect_run import failures_text, ranking_text, row_in_full, samples_text
from course.reports.progress import with_progress
from course.reports.tables import interval
from course.score import score
from course.stats import wilson_interval
from course.text import visible, visible_path


def verify(opened: Run) -> int:
    """Take every digest again and score every completion again. Exit status 0 if all is as recorded, else 1."""
    faults: list[str] = []
    prompts = hashlib.sha256()
    outcomes: Counter[str] = Counter()
    for row in with_progress(verified_rows(opened, faults), "verifying"):
        prompts.update(msgspec.json.encode((row.id, row.prompt)) + b"\n")
        outcomes[row.details.outcome] += 1
    n = sum(outcomes.values())
    if (
        n and not faults and opened.manifest.loop != "C"
    ):  # what digests forged to fit would still hide: rows left out, numbers edited
        of_a_dataset = opened.manifest.dataset_fingerprint is not None  # policy_improvement_demo's Loop B has none
        if of_a_dataset and prompts.hexdigest() != opened.manifest.prompts_fingerprint:
            faults.append("the rows are not all the prompts that the manifest was made of")
        recorded, counted = read_summary(opened), summary_of(outcomes)
        wrong = [name for name, value in counted.items() if recorded.get(name) != value]
        faults += [f"summary.json: {name} is not what its rows come to" for name in wrong]
    if opened.manifest.scorer_fingerprint != installed().fingerprint:
        faults.append(f"measured with another scorer than the one installed ({installed().name} {installed().version})")
    if not faults:
        again = f"{n:,} rows scored again with the same verdicts, " if n else ""
        print(f"{visible_path(opened.path)}: whole; {again}every digest holds")
        return 0
    print(f"{visible_path(opened.path)}: NOT as it was written\n" + "\n".join(f"  - {fault}" for fault in faults))
    return 1


def inspect(opened: Run, *, only_fails: bool, top_k: int, show: int) -> str:
    """Failures by family and outcome, then the top and the bottom of the ranking."""
    examples: dict[str, list[Result]] = {}
    counts: Counter[str] = Counter()
    top: list[Result] = []
    bottom: list[Result] = []
    for row in rows(opened):
        counts[row.details.outcome] += 1
        kept = examples.setdefault(row.details.outcome, [])
        if len(kept) < show:
            kept.append(row)
        place = top if row.reward == 1.0 else bottom
        if len(place) < top_k:
            place.append(row)
    passes, n = counts["ok"], sum(counts.values())
    if not n:
        raise UserError(f"{opened.path}: expected rows to look at, got none: this run scored nothing")
    parts = [
        f"{visible_path(opened.path)}: Loop {opened.manifest.loop}, passed {passes:,} of {n:,} "
        f"(95 % interval {interval(wilson_interval(passes, n))})",
        failures_text(counts, examples, top_k),
    ]
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
        "--verify", action="store_true", help="check digests and score everything again; status 1 if not whole"
    )
    args = parser.parse_args()
    try:
        opened = open_run(args.run)
        if args.verify:
            return verify(opened)
        if args.id is not None:
            print(one(opened, args.id))
        else:
            print(inspect(opened, only_fails=args.only_fails, top_k=args.top_k, show=args.show))
    except Broken as error:
        if args.verify:
            print(f"{visible_path(args.run)}: NOT as it was written\n  - {error}")
            return 1
        raise UserError(f"{args.run}: expected a whole run, got a broken one: {error}") from None
    return 0


if __name__ == "__main__":
    run_command(main)
