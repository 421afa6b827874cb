"""Loop A, measure: score recorded completions of a dataset, and leave a run that can be checked.

    python3 -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl

Nothing is improved here and no knob is turned. What comes out is a pass rate with its interval, and how it failed.

Several files of examples, each with its file of completions, are measured as if they were joined. Then each pair of
files is one task, which another process or another machine can score; this process writes the run.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from course.artifacts.conditions import Conditions
from course.artifacts.records import Result
from course.artifacts.scorer_identity import check_golden
from course.artifacts.summary import family_of, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, fraction, run_command
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase
from course.datasets.sources import Dataset
from course.errors import UserError
from course.score_files import Files, measure_files
from course.show.ending import INSPECT, end_run
from course.show.measurement import as_scored, conditions_text, pass_line, verdict_text
from course.show.tables import percent, table, wrap_sentence
from course.stats import smallest_visible_difference
from course.text import clipped

FLIPS = 0.25  # the share of prompts that is assumed to flip between two runs
NEARLY_ALL = 0.9  # failures by form: above it, the prompts hardly asked for the form


def eval_text(summary: Mapping[str, Any], conditions: str, firsts: Mapping[str, Result], notes: Sequence[str]) -> str:
    """Loop A's report. ``conditions``: of the measurement, in words. ``firsts``: outcome -> the first row of it."""
    parts = [
        "Loop A, measure: this is what is true right now, nothing was improved.",
        outcomes_text(summary["outcomes"], firsts),
        conditions,
        *map(wrap_sentence, notes),
        f"{resolution_text(summary['n'])}\n{pass_line(summary)}",
    ]
    return "\n\n".join(parts)


def notes_of(summary: Mapping[str, Any], dataset: Dataset) -> list[str]:
    """What a reader of the number has to know, where it is so."""
    notes = []
    if summary["families"].get("model_format", 0) > NEARLY_ALL * summary["n"]:
        notes.append(
            "More than 90 % fail by form. The scorer measures prompts that asked for exactly 'Final: <int>'. "
            "docs/own_data.md says how to measure other prompts"
        )
    if ids := dataset.ids_with_one_prompt():
        first, second = (clipped(id_, 30) for id_ in ids)
        notes.append(
            f"The ids {first} and {second} have one prompt, so its luck counts twice. The gate will refuse this run: "
            "leave one of them out"
        )
    return notes


def resolution_text(n: int) -> str:
    """Which difference this many prompts would detect: none is larger than the share of prompts that flip."""
    difference = smallest_visible_difference(n, FLIPS)
    detected = "no difference"
    if difference <= FLIPS:
        detected = f"a true difference of {100 * difference:.1f} points"
    return (
        f"power: with n = {n:,}, {detected} would be\n"
        "detected with 80 % power, if a quarter of the prompts flip between two runs"
    )


def outcomes_text(outcomes: Mapping[str, int], firsts: Mapping[str, Result]) -> str:
    """Outcomes by count, each with a completion that had it."""
    n = sum(outcomes.values())
    rows = [
        (family_of(outcome), outcome, f"{count:,}", percent(count / n), as_scored(firsts[outcome].completion, 28))
        for outcome, count in sorted(outcomes.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    ]
    return table(("family", "outcome", "n", "share", "such as"), rows, right=(2, 3))


def main() -> int:
    parser = Parser("course.eval", "Loop A: measure recorded completions of a dataset.")
    help_ = "JSONL: id, prompt, expected_answer; several are measured as if they were joined"
    parser.add_argument("--dataset", type=Path, required=True, nargs="+", action="extend", metavar="FILE", help=help_)
    help_ = "JSONL: id, completion; for each file of --dataset one, in the same order"
    parser.add_argument(
        "--completions", type=Path, required=True, nargs="+", action="extend", metavar="FILE", help=help_
    )
    parser.add_run_options()
    parser.add_split_option()
    parser.add_argument("--missing", choices=("zero",), help="count an id without a completion as reward 0")
    parser.add_argument("--golden", type=Path, nargs="+", default=[], metavar="FILE", help="own cases, checked first")
    parser.add_argument("--fail-under", type=fraction, metavar="RATE", help="status 1 below this; the run is left")
    parser.add_jobs_options(cluster=True)
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()
    if len(args.completions) != len(args.dataset):
        expected = f"expected one file for each of --dataset, {len(args.dataset)}"
        raise UserError(f"--completions: {expected}, got {len(args.completions)}")

    golden = check_golden(case for path in args.golden for case in read_records(path, GoldenCase))
    if failures := [verdict_text(verdict) for verdict in golden if not verdict.passed]:
        print(*failures, "nothing was scored: the scorer fails these golden cases", sep="\n", file=sys.stderr)
        return 1
    pairs = [Files(*files) for files in zip(args.dataset, args.completions, strict=True)]
    with RunWriter(args.outdir) as run:
        measured = measure_files(run, pairs, args.split, args.missing, args.jobs, args.cluster)
        source = measured.completions.source
        conditions = Conditions(
            loop="A",
            command="course.eval",
            settings={"missing": args.missing},
            change=args.change,
            expect=args.expect,
            typed=args.typed,
            dataset=measured.dataset,
            completions_fingerprint=measured.completions.fingerprint,
            samples_per_prompt=1,
            source=source,
        )
        summary = summary_of(measured.outcomes)
        how = conditions_text(measured.dataset.split, source, measured.completions.first, len(golden))
        report = eval_text(summary, how, measured.first_of_outcome, notes_of(summary, measured.dataset))
        end_run(run, conditions, summary, report, next_command=INSPECT, as_json=args.json)
    if args.fail_under is not None and summary["passes"] < args.fail_under * summary["n"]:
        print(f"below --fail-under {float(args.fail_under)}: {pass_line(summary)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_command(main)
