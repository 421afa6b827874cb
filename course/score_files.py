"""Loop A at work: examples and their completions go in, measured rows come out, for one pair of files or for several.

A pair of files is one unit of work, for this process, a different process or a different machine. The rows are the
same.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from course.artifacts import run_log
from course.artifacts.records import RESULTS, UNANSWERED, Details, Result, RubricResult
from course.artifacts.run_log import holdouts_opened, read_log
from course.artifacts.scorer_identity import scorer_identity
from course.artifacts.summary import ROWS_AT_ONCE
from course.artifacts.writing import RunWriter
from course.command import fix_int_digits
from course.datasets.jsonl import read_records
from course.datasets.pairing import pair_by_id
from course.datasets.records import Example, Rollout, task_of
from course.datasets.sources import Completions, Dataset, DescribedExamples, describe_examples, shipped_prompts
from course.score import measure
from course.show.terminal import with_progress

if TYPE_CHECKING:  # loaded where another rubric is asked
    from course.artifacts.payments import Payment
    from course.guest import OwnRubric


def evaluate(pairs: Iterable[tuple[Example, str | None]]) -> Iterator[Result]:
    """All of Loop A: an example and its completion go in, the scorer measures, a row comes out."""
    for example, completion in pairs:
        reward, outcome, parsed = UNANSWERED if completion is None else measure(example.expected_answer, completion)
        yield Result(example.id, example.prompt, example.expected_answer, completion, reward, Details(outcome, parsed))


def evaluate_with(rubric: "OwnRubric", pairs: Sequence[tuple[Example, str | None]]) -> Iterator[RubricResult]:
    """Ask the rubric about each completion that exists, and put its reward beside the scorer's.

    Raises UserError if the rubric fails. A missing completion gets 0.
    """
    from course.rubrics.kinds import kind_of

    for row in evaluate(pairs):
        paid = 0.0 if row.completion is None else rubric(task_of(row), row.completion)["reward"]
        yield RubricResult(
            id=row.id,
            prompt=row.prompt,
            expected_answer=row.expected_answer,
            completion=row.completion,
            reward=paid,
            details=row.details,
            strict_reward=row.reward,
            kind=kind_of(row.expected_answer, row.completion or ""),
        )


class FilePair(NamedTuple):
    """A file of examples, and the file of their completions."""

    dataset: Path
    completions: Path


class ScoredBatch(NamedTuple):
    """Some hundred rows of a pair of files, encoded, and what the run has to know about them."""

    lines: bytes  # of results.jsonl
    outcomes: Counter[str]
    payments: "Counter[Payment]"  # of a second rubric; empty without one
    first_of_outcome: dict[str, Result]
    last_of_verdict: dict[bool, Result]  # True: the last that passed by the strict scorer; False: the last that did not
    examples: DescribedExamples


class ScoredPair:
    """A pair of files, scored: go through ``batches`` once, in the order of the dataset, then ask for the digests.

    The digests are those of the bytes that were read on the way, so they are known after the last batch.
    ``missing``: the value of --missing. ``holdout_prompts``: the plain prompts of the lab's own holdouts.
    ``rubric``: the verifier that is asked beside the scorer.
    """

    def __init__(
        self, files: FilePair, missing: str | None, holdout_prompts: frozenset[str], rubric: "OwnRubric | None" = None
    ) -> None:
        self.batches: Iterable[ScoredBatch] = self._score(files, missing, holdout_prompts, rubric)
        self.dataset_sha256 = ""  # until the last batch
        self.completions_sha256 = ""

    def _score(
        self, files: FilePair, missing: str | None, holdout_prompts: frozenset[str], rubric: "OwnRubric | None"
    ) -> Iterator[ScoredBatch]:
        dataset_digest = hashlib.sha256()
        completions_digest = hashlib.sha256()
        rollouts = read_records(files.completions, Rollout, completions_digest)
        pairs = pair_by_id(
            read_records(files.dataset, Example, dataset_digest),
            ((rollout.id, rollout.completion) for rollout in rollouts),
            missing_allowed=missing == "zero",
            if_missing="--missing zero counts a missing completion as reward 0",
            dataset=files.dataset,
            completions=files.completions,
        )
        encoder = msgspec.json.Encoder()
        while batch := list(islice(pairs, ROWS_AT_ONCE)):
            examples = [example for example, _ in batch]
            rows: list[Result] = []
            payments: Counter[Payment] = Counter()
            if rubric is None:
                rows += evaluate(batch)
            else:
                from course.artifacts.payments import count_payments

                rows += evaluate_with(rubric, batch)
                payments = count_payments(rows)
            yield ScoredBatch(
                lines=encoder.encode_lines(rows),
                outcomes=Counter([row.details.outcome for row in rows]),
                payments=payments,
                first_of_outcome={row.details.outcome: row for row in reversed(rows)},  # the earliest row stays
                last_of_verdict={row.details.outcome == "ok": row for row in rows},  # the latest row stays
                examples=describe_examples(files.dataset, examples, holdout_prompts),
            )
        self.dataset_sha256 = dataset_digest.hexdigest()
        self.completions_sha256 = completions_digest.hexdigest()


def score_on_worker(
    scorer_fingerprint: str, files: FilePair, missing: str | None, holdout_prompts: frozenset[str]
) -> ScoredPair:
    """All rows of a pair of files, in a worker process. Raises UserError if the worker has a different scorer."""
    from course.jobs import refuse_other_scorer, worker_name

    fix_int_digits()
    refuse_other_scorer(worker_name(), scorer_identity().scorer_fingerprint, scorer_fingerprint)
    scored = ScoredPair(files, missing, holdout_prompts)
    scored.batches = list(scored.batches)  # all of them, before the digests are sent
    return scored


class Totals(NamedTuple):
    """What all files add up to."""

    dataset: Dataset
    completions: Completions
    outcomes: Counter[str]
    payments: "Counter[Payment]"
    first_of_outcome: dict[str, Result]


def score_pairs(
    run: RunWriter,
    pairs: Sequence[FilePair],
    *,
    split: str | None,
    missing: str | None,
    rubric: "OwnRubric | None",
    jobs: int,
    cluster: str | None,
) -> Totals:
    """Score all pairs of files, here or where --jobs and --cluster say, and write their rows into the run, in order."""
    scored: Iterable[ScoredPair]
    if cluster is None and min(jobs, len(pairs)) == 1:
        scored = (ScoredPair(files, missing, shipped_prompts(), rubric) for files in pairs)
        return write_results(run, pairs, scored, split, in_workers=False)

    from course.jobs import map_in_order, workers

    places = pairs
    if cluster:  # a worker there stands in another folder
        places = [FilePair(files.dataset.absolute(), files.completions.absolute()) for files in pairs]
    scorer = scorer_identity().scorer_fingerprint
    tasks = [(scorer, files, missing, shipped_prompts()) for files in places]
    with workers(min(jobs, len(pairs)), cluster) as (executor, count):
        scored = map_in_order(executor, score_on_worker, tasks, in_flight=2 * count)
        return write_results(run, pairs, scored, split, in_workers=True)


def write_results(
    run: RunWriter,
    pairs: Sequence[FilePair],
    scored: Iterable[ScoredPair],
    split: str | None,
    *,
    in_workers: bool,
) -> Totals:
    """Write the rows of each pair of files as they come, and add up what the run has to know about all of them."""
    several = len(pairs) > 1
    dataset = Dataset(
        *[files.dataset for files in pairs],
        declared=split,
        read_again=in_workers,
        known_holdouts=holdouts_opened(read_log(run_log.LOG)),
    )
    completions = Completions(read_again=several or in_workers)
    outcomes: Counter[str] = Counter()
    payments: Counter[Payment] = Counter()
    first_of_outcome: dict[str, Result] = {}
    if several:
        scored = with_progress(scored, "scoring files", len(pairs))
    for files, scored_pair in zip(pairs, scored, strict=True):
        batches = scored_pair.batches
        if not several:
            batches = with_progress(batches, "scoring", size=count_rows)
        for batch in batches:
            dataset.add(files.dataset, batch.examples)
            run.append_lines(RESULTS, batch.lines)
            run.examples |= batch.last_of_verdict
            outcomes.update(batch.outcomes)
            payments.update(batch.payments)
            first_of_outcome = batch.first_of_outcome | first_of_outcome  # that of an earlier batch stays
        dataset.end_file(files.dataset, scored_pair.dataset_sha256)
        completions.add(files.completions, scored_pair.completions_sha256)
    return Totals(dataset, completions, outcomes, payments, first_of_outcome)


def count_rows(batch: ScoredBatch) -> int:
    return len(batch.examples.ids)
