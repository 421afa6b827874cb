"""Machinery: Loop A's second half. Look at what failed, and say why, before anything is improved.

    python -m course.inspect_run --run runs/run_001 --only-fails --top-k 5 --show 2
    python -m course.inspect_run --run runs/run_001 --id dev-007
    python -m course.inspect_run --run runs/run_001 --verify
    python -m course.inspect_run --log

Characters that cannot be seen are written out, as <U+200B ZERO WIDTH SPACE>.
"""

import hashlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path

from course.artifacts import run_log
from course.artifacts.reading import Broken, Run, open_run, rows
from course.artifacts.records import RESULTS, Result, Selection
from course.artifacts.run_log import read_log, read_logs
from course.artifacts.scorer_identity import example_of
from course.artifacts.verifying import Verification
from course.command import Parser, positive_int, run_command
from course.errors import UserError
from course.reports.inspect_run import log_text, outcomes_table, ranking_text, row_in_full, samples_text
from course.reports.progress import with_progress
from course.reports.tables import interval, wrapped
from course.score import score
from course.stats import wilson_interval
from course.text import clipped, visible_path


def verify(opened: Run, logged: Collection[str]) -> int:
    """The gate's own check of one run. Exit status 0 if it is what it claims, else 1. ``logged``: manifest digests."""
    run = Verification(opened, logged)
    n = sum(1 for _ in with_progress(run.rows(), "verifying"))
    if run.faults:
        return not_whole(opened.path, run.faults)
    said = f"every digest holds, and {n:,} rows were scored again with the same result"
    print(wrapped(f"{opened.path}: whole. It is in the log, {said} (README.md and environment.json are not sealed)"))
    return 0


def not_whole(path: Path, faults: list[str]) -> int:
    print("\n".join([f"{visible_path(path)}: NOT verified", *(wrapped(f"  - {fault}") for fault in faults)]))
    return 1


def warning_of(opened: Run, digest: "hashlib._Hash") -> str:
    """What has to stand before anything else, where the results that were read are not those that were written."""
    if digest.hexdigest() == opened.manifest.outputs[RESULTS]:
        return ""
    return f"WARNING: {RESULTS} is not the file that was written (--verify says more)\n\n"


def failures(opened: Run, *, only_fails: bool, top_k: int, show: int) -> str:
    """Failures by family and outcome, then the first that passed and the first that did not."""
    examples: dict[str, list[Result]] = {}
    counts: Counter[str] = Counter()
    top: list[Result] = []
    bottom: list[Result] = []
    digest = hashlib.sha256()
    for row in rows(opened, digest):
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
    return warning_of(opened, digest) + "\n\n".join(parts)


def one(opened: Run, id_: str) -> str:
    """One row, with the explanation that the scorer gives of it now."""
    digest = hashlib.sha256()
    found = [row for row in rows(opened, digest) if row.id == id_]
    if not found:
        raise UserError(f"{opened.path}: expected an id of this run, got {clipped(id_, 60)}; its {RESULTS} has them")
    row = found[0]
    details = None if row.completion is None else score(example_of(row), row.completion)["details"]
    whole = warning_of(opened, digest) + row_in_full(row, details)
    return whole if not isinstance(row, Selection) else f"{whole}\n{samples_text(row.samples, row.rewards, row.chosen)}"


def main() -> int:
    parser = Parser("course.inspect_run", "Loop A: look at the failures of a run, or verify it.")
    parser.add_argument("--run", type=Path, help="the folder of a run")
    help_ = "without --run: show the log of runs; with --verify: another log, that came with the run"
    parser.add_argument("--log", type=Path, nargs="?", const=run_log.LOG, metavar="FILE", help=help_)
    parser.add_argument("--only-fails", action="store_true", help="leave out what passed")
    help_ = "how many outcomes, and how many top and bottom rows"
    parser.add_argument("--top-k", type=positive_int, default=5, help=help_)
    parser.add_argument("--show", type=positive_int, default=2, help="how many examples of an outcome")
    parser.add_argument("--id", help="show this one example whole")
    help_ = "check digests, score everything again; exit status 1 if anything differs"
    parser.add_argument("--verify", action="store_true", help=help_)
    args = parser.parse_args()
    if args.run is None:
        if args.log is None:
            parser.error("expected --run FOLDER, or --log to see the runs there are")
        print(log_text(read_log(args.log, must_exist=args.log != run_log.LOG)))
        return 0
    try:
        opened = open_run(args.run)
        if args.verify:
            lines = read_logs(run_log.LOG, [args.log] if args.log else [])
            return verify(opened, {line.manifest for line in lines})
        if args.id is not None:
            print(one(opened, args.id))
        else:
            print(failures(opened, only_fails=args.only_fails, top_k=args.top_k, show=args.show))
    except Broken as error:
        if args.verify:
            return not_whole(args.run, [str(error)])
        raise UserError(f"{args.run}: expected a whole run, got a broken one: {error}") from None
    return 0


if __name__ == "__main__":
    run_command(main)
