"""Machinery: the second half of Loop A. Look at the failures, and say why they failed, before you improve anything.

    python3 -m course.inspect_run --run runs/run_001 --only-fails --top-k 5
    python3 -m course.inspect_run runs/run_001 --id dev-007
    python3 -m course.inspect_run --run last --verify
    python3 -m course.inspect_run --log

``last`` is the newest run in the log. The end of an id, such as 7, is enough if no other id ends in it. Characters
that cannot be seen are written out, such as <U+200B ZERO WIDTH SPACE>.
"""

import hashlib
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

from course.artifacts import run_log
from course.artifacts.reading import Broken, Run, newest_run, open_run, rows
from course.artifacts.records import (
    ENVIRONMENT_FILE,
    README,
    RESULTS,
    Result,
    Selection,
    json_for_terminal,
    rubric_of,
)
from course.artifacts.run_log import read_log, read_logs
from course.artifacts.scorer_identity import scorer_identity
from course.artifacts.verification import Verification
from course.command import Parser, positive_int, run_command
from course.datasets.records import task_of
from course.datasets.sources import note_on_holdouts
from course.errors import UserError
from course.inspect_run_text import log_text, outcomes_table, ranking_text, row_in_full, samples_text
from course.score import score
from course.show.tables import interval, wrap_sentence
from course.show.terminal import show, with_progress
from course.stats import wilson_interval
from course.text import clipped, did_you_mean, visible_path

_Findings = tuple[dict[str, Any], str]  # for a program, and the same for a person


def verify(path: Path, logs: list[Path]) -> _Findings:
    """The gate's own check of one run, without faults if the run is what it claims. ``logs``: besides the lab's own."""
    n = 0
    faults: list[str] = []
    other_scorer = False
    try:
        run = open_run(path)
        check = Verification(run, {line.manifest for line in read_logs(run_log.LOG, logs)})
        n = sum(1 for _ in with_progress(check.rows(), "verifying"))
        faults = check.faults
        other_scorer = check.other_scorer and faults == check.scorer_faults
    except Broken as error:
        faults = [str(error)]
    if other_scorer:
        scorer = scorer_identity()
        ours = f"{scorer.scorer_name} {scorer.scorer_version}"
        theirs = f"{run.manifest.scorer_name} {run.manifest.scorer_version}"
        same = " with a different fingerprint" if theirs == ours else ""
        checked = "The run is in the log, and every digest holds"
        why = f"No row was scored again, because {ours} is installed here"
        whose = f"intact, measured by a different scorer: {theirs}{same}"
        text = wrap_sentence(f"{path}: {whose}. {checked}. {why}. Measure again to compare")
    elif faults:
        text = "\n".join([f"{visible_path(path)}: NOT verified", *(wrap_sentence(f"  - {fault}") for fault in faults)])
    else:
        unsealed = [name for name in (README, ENVIRONMENT_FILE) if (path / name).exists()]
        aside = f" (not sealed: {' and '.join(unsealed)})" if unsealed else ""
        again = "1 row was" if n == 1 else f"{n:,} rows were"
        checked = f"every digest holds, and {again} scored again with the same result"
        if rubric := rubric_of(run.manifest):
            checked += f" by the strict scorer; the rubric {rubric} was not asked again"
        text = wrap_sentence(f"{path}: whole. The run is in the log, {checked}{aside}")
    note = note_on_holdouts()
    if note:
        text += f"\n{wrap_sentence(f'note: {note}')}"
    return {"run": str(path), "verified": not faults, "rows": n, "faults": faults, "note": note}, text


def warning_of(run: Run, digest: "hashlib._Hash") -> str | None:
    """The warning that stands before any number if the results are not those that the run wrote; else None."""
    if digest.hexdigest() == run.manifest.outputs.get(RESULTS):
        return None
    return f"WARNING: {RESULTS} is not the file that was written (--verify says more)"


def failures(run: Run, *, only_fails: bool, top_k: int, each: int) -> _Findings:
    """The first that passed and the first that did not, then failures by family and outcome, last the pass rate.

    ``each``: how many examples of an outcome.
    """
    examples: dict[str, list[Result]] = {}
    counts: Counter[str] = Counter()
    top: list[Result] = []
    bottom: list[Result] = []
    digest = hashlib.sha256()
    for row in rows(run, digest):
        counts[row.details.outcome] += 1
        of_this_outcome = examples.setdefault(row.details.outcome, [])
        if len(of_this_outcome) < each:
            of_this_outcome.append(row)
        ranked = top if row.details.outcome == "ok" else bottom
        if len(ranked) < top_k:
            ranked.append(row)
    passes, n = counts["ok"], sum(counts.values())
    if not n:
        raise UserError(f"{run.path}: this run scored no completion, so there is no row to show")
    loop = run.manifest.loop
    uncertainty = f"95 % interval {interval(wilson_interval(passes, n))}"
    if loop == "C":  # the policy changed from row to row, so an interval of one rate has no meaning
        uncertainty = "over all completions of the run"
    head = f"{visible_path(run.path)}: Loop {loop}, passed {passes:,} of {n:,} ({uncertainty})"
    if rubric := rubric_of(run.manifest):
        head += f"\nThe rewards are those of {clipped(rubric, 40)}; the outcomes and the rate are the strict scorer's."
    warning = warning_of(run, digest)
    parts = []
    if not only_fails:
        parts.append(ranking_text(top, bottom))
    parts.append(outcomes_table(counts, examples, top_k))
    if warning:
        parts.append(warning)
    parts.append(head)
    findings = {
        "run": str(run.path),
        "warning": warning,
        "passes": passes,
        "n": n,
        "outcomes": counts,
        "examples": examples,
        "top": top,
        "bottom": bottom,
    }
    return findings, "\n\n".join(parts)


def find_row(run: Run, id_: str) -> _Findings:
    """The first row with this id, or with the only id that ends in it, and the installed scorer's explanation."""
    digest = hashlib.sha256()
    ids: dict[str, str] = {}
    matches: dict[str, Result] = {}
    for row in rows(run, digest):
        ids[row.id] = f"--id {row.id}"
        if row.id.endswith(id_):
            matches.setdefault(row.id, row)
    if id_ not in matches and len(matches) != 1:
        got = clipped(id_, 60)
        if matches:
            few = ", ".join(clipped(match, 20) for match in islice(matches, 4))
            got += f", in which {len(matches):,} ids end: {few}"
        mend = "" if matches else did_you_mean(id_, ids)
        raise UserError(f"{mend}{run.path}: expected an id of this run, got {got}; the ids stand in its {RESULTS}")
    row = matches.get(id_) or next(iter(matches.values()))
    details = None if row.completion is None else score(task_of(row), row.completion)["details"]
    warning = warning_of(run, digest)
    whole = row_in_full(row, details)
    if warning:
        whole = f"{warning}\n\n{whole}"
    if isinstance(row, Selection):
        whole += f"\n{samples_text(row.samples, row.rewards, row.chosen)}"
    return {"run": str(run.path), "warning": warning, "row": row, "details": details}, whole


def main() -> int:
    parser = Parser("course.inspect_run", "Loop A: look at the failures of a run, or verify it.")
    parser.add_argument("folder", type=Path, nargs="?", help="the folder of a run, or the word last for the newest")
    parser.add_argument("--run", type=Path, metavar="FOLDER", help="the same, as an option")
    help_ = "without a run: show the log of runs; with --verify: also use this log, which came with the run"
    parser.add_argument("--log", type=Path, nargs="?", const=run_log.LOG, metavar="FILE", help=help_)
    parser.add_argument("--only-fails", action="store_true", help="leave out the completions that passed")
    help_ = "show so many outcomes, and so many top and bottom rows (default: 5)"
    parser.add_argument("--top-k", type=positive_int, default=5, help=help_)
    parser.add_argument("--show", type=positive_int, default=2, help="show so many examples of an outcome (default: 2)")
    parser.add_argument("--id", help="show this one example in full; the end of an id is enough if it is unique")
    help_ = "recompute every digest and score every row again; status 1 if anything differs"
    parser.add_argument("--verify", action="store_true", help=help_)
    parser.add_argument("--json", action="store_true", help="print one JSON object, for a program")
    args = parser.parse_args()
    if args.run and args.folder:
        parser.error(f"expected one run, got {args.folder} and --run {args.run}")
    path = args.run or args.folder
    if path is None and args.log is None:
        parser.error("expected --run FOLDER, or --log to list the runs")
    if path is not None and args.log is not None and not args.verify:
        parser.error("--log FILE goes with --verify; without a run, --log lists the runs")
    if path == Path("last"):
        path = newest_run()
    try:
        if path is None:
            log = read_log(args.log, must_exist=args.log != run_log.LOG)
            findings, text = {"log": log}, log_text(log)
        elif args.verify:
            findings, text = verify(path, [args.log] if args.log else [])
        elif args.id is not None:
            findings, text = find_row(open_run(path), args.id)
        else:
            findings, text = failures(open_run(path), only_fails=args.only_fails, top_k=args.top_k, each=args.show)
    except Broken as error:
        raise UserError(f"{path}: this run is broken: {error}") from None
    if args.json:
        print(json_for_terminal(findings))
    else:
        show(text)
    return 0 if findings.get("verified", True) else 1


if __name__ == "__main__":
    run_command(main)
