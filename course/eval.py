"""Loop A, measure: score recorded completions of a dataset, and leave a run that can be checked.

    python3 -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl

Nothing is improved here and no knob is turned. The result is a pass rate with its interval, and a count of failures.

With ``--rubric`` a second verifier is asked as well: a rubric of the course, or your own FILE:FUNCTION. The rows and
the summary then also say what the rubric pays, and to the gate it is another instrument. The rubric runs in this
process, and is asked again about its first 32 completions; if a reward differs, the command stops and leaves no run.

Several files of examples, each with its file of completions, are measured as if they were joined. Each pair of
files is then one task, which a different process or machine can score; this process writes the run.
"""

import sys
from pathlib import Path
from typing import Any

from course.artifacts.conditions import Conditions
from course.artifacts.scorer_identity import check_golden
from course.artifacts.summary import summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, fraction, run_command
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase
from course.errors import UserError
from course.eval_text import eval_text
from course.guest import OwnRubric
from course.score_files import FilePair, score_pairs
from course.show.ending import INSPECT, end_run
from course.show.measurement import conditions_text, pass_line, verdict_text


def main() -> int:
    parser = Parser("course.eval", "Loop A: measure recorded completions of a dataset.")
    help_ = "JSONL with id, prompt, expected_answer; several files are measured as if they were joined"
    parser.add_argument("--dataset", type=Path, required=True, nargs="+", action="extend", metavar="FILE", help=help_)
    help_ = "JSONL with id, completion; one file for each file of --dataset, in the same order"
    parser.add_argument(
        "--completions", type=Path, required=True, nargs="+", action="extend", metavar="FILE", help=help_
    )
    parser.add_run_options("pass_rate")
    parser.add_split_option()
    parser.add_argument("--missing", choices=("zero",), help="count an id without a completion as reward 0")
    help_ = "also ask a second verifier: a rubric of the course, or your own FILE:FUNCTION"
    parser.add_argument("--rubric", metavar="RUBRIC", help=help_)
    parser.add_call_option()
    help_ = "your own golden cases, which the scorer must pass first"
    parser.add_argument("--golden", type=Path, nargs="+", default=[], metavar="FILE", help=help_)
    help_ = "end with status 1 if the pass rate is below RATE; the run is kept"
    parser.add_argument("--fail-under", type=fraction, metavar="RATE", help=help_)
    parser.add_jobs_options(cluster=True)
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()
    if len(args.completions) != len(args.dataset):
        expected = f"expected {len(args.dataset)}, one file for each file of --dataset"
        raise UserError(f"--completions: {expected}, got {len(args.completions)}")

    if args.call is not None and args.rubric is None:
        raise UserError("--call says how the function of --rubric is called; add --rubric FILE:FUNCTION")
    if args.rubric is not None and (args.jobs > 1 or args.cluster):
        raise UserError(
            "--rubric cannot be combined with --jobs or --cluster, because one process asks the rubric in order"
        )

    golden = check_golden(case for path in args.golden for case in read_records(path, GoldenCase))
    if failures := [verdict_text(verdict) for verdict in golden if not verdict.passed]:
        print(*failures, "nothing was scored: the scorer fails these golden cases", sep="\n", file=sys.stderr)
        return 1
    pairs = [FilePair(*files) for files in zip(args.dataset, args.completions, strict=True)]
    rubric = None if args.rubric is None else OwnRubric(args.rubric, args.call)
    with RunWriter(args.outdir) as run:
        totals = score_pairs(
            run,
            pairs,
            split=args.split,
            missing=args.missing,
            rubric=rubric,
            jobs=args.jobs,
            cluster=args.cluster,
        )
        source = totals.completions.source
        settings: dict[str, Any] = {"missing": args.missing}
        if rubric is not None:
            settings |= rubric.keep("rubric", run.write_bytes)
        conditions = Conditions(
            loop="A",
            command="course.eval",
            settings=settings,
            change=args.change,
            expect=args.expect,
            typed=args.typed,
            dataset=totals.dataset,
            completions_fingerprint=totals.completions.fingerprint,
            samples_per_prompt=1,
            source=source,
        )
        summary = summary_of(totals.outcomes, payments=totals.payments)
        report = eval_text(
            summary,
            conditions=conditions_text(totals.dataset.split, source, totals.completions.first, len(golden)),
            firsts=totals.first_of_outcome,
            ids_with_one_prompt=totals.dataset.ids_with_one_prompt(),
            rubric=rubric.name if rubric else None,
        )
        end_run(run, conditions, summary, report, next_command=INSPECT, as_json=args.json)
    if args.fail_under is not None and summary["passes"] < args.fail_under * summary["n"]:
        print(f"below --fail-under {float(args.fail_under)}: {pass_line(summary)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_command(main)
