"""Loop A, measure: score recorded completions of a dataset, and leave a run that can be checked.

    python -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl

Nothing is improved here and no knob is turned. What comes out is a pass rate with its interval, and how it failed.
"""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from course.artifacts.conditions import manifest_of, summary_of
from course.artifacts.holdout import look_number
from course.artifacts.records import MISSING, RESULTS, SUMMARY, Result
from course.artifacts.room import walls
from course.artifacts.writing import RUNS, RunWriter
from course.command import Parser, run
from course.datasets.jsonl import read_records
from course.datasets.pairing import paired
from course.datasets.records import Example, Rollout
from course.datasets.sources import SPLITS, Dataset, provenance
from course.reports.progress import with_progress
from course.reports.run_page import run_page
from course.reports.run_text import conditions_text, outcomes_text, pass_line, resolution_text
from course.reports.text import shown
from course.score import verdict, visible


def measured(
    pairs: Iterable[tuple[Example, str | None]], firsts: dict[str, Result], outcomes: dict[str, int]
) -> Iterator[Result]:
    """Loop A, whole: prompt and completion go in, the scorer speaks, a record comes out.

    ``verdict`` is what ``score`` measures, without the explanation: a record keeps no more of it, and the explanation
    of any row can be had again (course.inspect_run). Counts into ``outcomes``; ``firsts`` keeps one row of each.
    """
    for example, completion in pairs:
        if completion is None:
            outcome, parsed = MISSING, None
        else:
            outcome, parsed = verdict(example.expected_answer, completion)
        reward = 1.0 if outcome == "ok" else 0.0
        row = Result(example.id, example.prompt, example.expected_answer, completion, reward, outcome, parsed)
        if outcome in outcomes:
            outcomes[outcome] += 1
        else:
            outcomes[outcome] = 1
            firsts[outcome] = row
        yield row


def main() -> int:
    parser = Parser("course.eval", "Loop A: measure recorded completions of a dataset.")
    parser.add_argument("--dataset", type=Path, required=True, help="JSONL: id, prompt, expected_answer")
    parser.add_argument("--completions", type=Path, required=True, help="JSONL: id, completion")
    parser.add_run_options()
    parser.add_argument(
        "--split", choices=SPLITS, help="which split this is, where the records do not say (default: dev)"
    )
    parser.add_argument("--missing", choices=("zero",), help="count an id without a completion as reward 0")
    args = parser.parse_args()

    dataset = Dataset(args.dataset, args.split)
    firsts: dict[str, Result] = {}
    outcomes: dict[str, int] = {}
    with RunWriter(args.outdir) as writer:
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
        writer.write_rows(RESULTS, measured(pairs, firsts, outcomes))
        summary = summary_of(outcomes)
        writer.write_json(SUMMARY, summary)
        manifest = manifest_of(
            loop="A",
            command="course.eval",
            settings={
                "dataset": visible(args.dataset.name),
                "completions": visible(args.completions.name),
                "missing": args.missing,
            },
            dataset=dataset,
            completions_fingerprint=digest.hexdigest(),
            samples_per_prompt=1,
            source=source,
            change=args.change,
            outputs=writer.outputs,
        )
        look = look_number(RUNS, manifest)
        page = run_page("A", summary, walls(manifest), args.change, told_by(firsts), look)
        path = writer.publish(manifest, page)

    print("Loop A, measure: this is what is true right now, nothing was improved.\n")
    print(conditions_text(manifest, look))
    print(f"\n{pass_line(summary)}")
    print(resolution_text(summary["n"]))
    print(f"\n{outcomes_text(outcomes, {outcome: row.completion for outcome, row in firsts.items()})}")
    print(f"\nrun: {shown(path)}\nnext: python -m course.inspect_run --run {shown(path)} --only-fails --top-k 5")
    return 0


def told_by(firsts: dict[str, Result]) -> list[Result]:
    """Two rows for the run's page: one that passed and one that did not."""
    failed = [row for outcome, row in firsts.items() if outcome != "ok"]
    return [firsts[outcome] for outcome in ("ok",) if outcome in firsts] + failed[:1]


if __name__ == "__main__":
    run(main)
