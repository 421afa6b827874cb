"""Loop A, measure: score recorded completions of a dataset, and leave a run that can be checked.

    python3 -m course.eval --dataset data/datasets/math_dev.jsonl \\
        --completions data/rollouts/frozen_rollouts_dev.jsonl

Nothing is improved here and no knob is turned. What comes out is a pass rate with its interval, and how it failed.

Several files of examples, each with its file of completions, are measured as if they were joined. Then each pair of
files is one task, which another process or another machine can score; this process writes the run.
"""

import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from course.artifacts.conditions import Conditions
from course.artifacts.records import RESULTS, UNANSWERED, Details, Result
from course.artifacts.scorer_identity import check_golden, scorer_identity
from course.artifacts.summary import ROWS_AT_ONCE, family_of, summary_of
from course.artifacts.writing import RunWriter
from course.command import Parser, fix_int_digits, fraction, run_command
from course.datasets.jsonl import read_records
from course.datasets.pairing import pair_by_id
from course.datasets.records import Example, GoldenCase, Rollout
from course.datasets.sources import Completions, Dataset, DescribedExamples, describe_examples, shipped_prompts
from course.errors import UserError
from course.jobs import in_order, refuse_other_scorer, worker_name, workers
from course.score import measure
from course.show.ending import INSPECT, end_run
from course.show.measurement import as_scored, conditions_text, pass_line, verdict_text
from course.show.tables import percent, table
from course.show.terminal import with_progress
from course.stats import smallest_visible_difference

FLIPS = 0.25  # the share of prompts that is assumed to flip between two runs


def evaluate(pairs: Iterable[tuple[Example, str | None]]) -> Iterator[Result]:
    """All of Loop A: an example and its completion go in, the scorer measures, a row comes out."""
    for example, completion in pairs:
        reward, outcome, parsed = UNANSWERED if completion is None else measure(example.expected_answer, completion)
        yield Result(example.id, example.prompt, example.expected_answer, completion, reward, Details(outcome, parsed))


class Files(NamedTuple):
    """A file of examples, and the file of their completions."""

    dataset: Path
    completions: Path


class ScoredRows(NamedTuple):
    """Some hundred rows, encoded, and what the run has to know of them."""

    lines: bytes  # of results.jsonl
    outcomes: Counter[str]
    first_of_outcome: dict[str, Result]
    last_of_reward: dict[bool, Result]  # True: the last that passed; False: the last that did not
    examples: DescribedExamples


class ScoredFiles:
    """A pair of files, scored: go through ``rows`` once, in the order of the dataset, then ask for the digests.

    ``missing``: what --missing says. ``holdout_prompts``: the plain prompts of the lab's own holdouts.
    """

    def __init__(self, files: Files, missing: str | None, holdout_prompts: frozenset[str]) -> None:
        self.rows: Iterable[ScoredRows] = self._score(files, missing, holdout_prompts)
        self.dataset_sha256 = ""
        self.completions_sha256 = ""

    def _score(self, files: Files, missing: str | None, holdout_prompts: frozenset[str]) -> Iterator[ScoredRows]:
        dataset_digest = hashlib.sha256()
        completions_digest = hashlib.sha256()
        rollouts = read_records(files.completions, Rollout, completions_digest)
        pairs = pair_by_id(
            read_records(files.dataset, Example, dataset_digest),
            ((rollout.id, rollout.completion) for rollout in rollouts),
            missing_allowed=missing == "zero",
            if_missing="--missing zero counts a missing one as reward 0",
            dataset=files.dataset,
            completions=files.completions,
        )
        encoder = msgspec.json.Encoder()
        while batch := list(islice(pairs, ROWS_AT_ONCE)):
            examples = [example for example, _ in batch]
            rows = list(evaluate(batch))
            yield ScoredRows(
                lines=encoder.encode_lines(rows),
                outcomes=Counter([row.details.outcome for row in rows]),
                first_of_outcome={row.details.outcome: row for row in reversed(rows)},
                last_of_reward={row.reward == 1.0: row for row in rows},
                examples=describe_examples(files.dataset, examples, holdout_prompts),
            )
        self.dataset_sha256 = dataset_digest.hexdigest()
        self.completions_sha256 = completions_digest.hexdigest()


def score_on_worker(
    scorer_fingerprint: str, files: Files, missing: str | None, holdout_prompts: frozenset[str]
) -> ScoredFiles:
    """All rows of a pair of files, in another process. Raises UserError where that one has another scorer."""
    fix_int_digits()
    refuse_other_scorer(worker_name(), scorer_identity().scorer_fingerprint, scorer_fingerprint)
    scored = ScoredFiles(files, missing, holdout_prompts)
    scored.rows = list(scored.rows)
    return scored


class Measured(NamedTuple):
    """What all files came to."""

    dataset: Dataset
    completions: Completions
    outcomes: Counter[str]
    first_of_outcome: dict[str, Result]


def measure_files(
    run: RunWriter, pairs: Sequence[Files], split: str | None, missing: str | None, jobs: int, cluster: str | None
) -> Measured:
    """Score all pairs of files where --jobs and --cluster say, and write their rows into the run, in order."""
    several = len(pairs) > 1
    first, *more = [files.dataset for files in pairs]
    outcomes: Counter[str] = Counter()
    first_of_outcome: dict[str, Result] = {}
    scored_files: Iterable[ScoredFiles]
    with workers(min(jobs, len(pairs)), cluster) as (executor, count):
        dataset = Dataset(first, split, *more, read_elsewhere=executor is not None)
        completions = Completions(read_again=several or executor is not None)
        if executor is None:
            scored_files = in_order(None, ScoredFiles, [(files, missing, shipped_prompts()) for files in pairs])
        else:
            scorer = scorer_identity().scorer_fingerprint
            places = pairs
            if cluster:  # a worker there stands in another folder
                places = [Files(files.dataset.absolute(), files.completions.absolute()) for files in pairs]
            tasks = [(scorer, files, missing, shipped_prompts()) for files in places]
            scored_files = in_order(executor, score_on_worker, tasks, in_flight=2 * count)
        if several:
            scored_files = with_progress(scored_files, "scoring files", len(pairs))
        for files, scored in zip(pairs, scored_files, strict=True):
            rows = scored.rows if several else with_progress(scored.rows, "scoring", size=count_rows)
            for part in rows:
                dataset.add(files.dataset, part.examples)
                run.append_lines(RESULTS, part.lines)
                run.examples |= part.last_of_reward
                outcomes.update(part.outcomes)
                first_of_outcome = part.first_of_outcome | first_of_outcome
            dataset.end_file(files.dataset, scored.dataset_sha256)
            completions.add(files.completions, scored.completions_sha256)
    return Measured(dataset, completions, outcomes, first_of_outcome)


def count_rows(part: ScoredRows) -> int:
    return len(part.examples.ids)


def eval_text(summary: Mapping[str, Any], conditions: str, firsts: Mapping[str, Result]) -> str:
    """Loop A's report. ``conditions``: of the measurement, in words. ``firsts``: outcome -> the first row of it."""
    return f"""\
Loop A, measure: this is what is true right now, nothing was improved.

{outcomes_text(summary["outcomes"], firsts)}

{conditions}

{resolution_text(summary["n"])}
{pass_line(summary)}"""


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
        report = eval_text(summary, how, measured.first_of_outcome)
        end_run(run, conditions, summary, report, next_command=INSPECT, as_json=args.json)
    if args.fail_under is not None and summary["passes"] < args.fail_under * summary["n"]:
        print(f"below --fail-under {float(args.fail_under)}: {pass_line(summary)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_command(main)
