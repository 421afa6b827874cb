"""Machinery: many trainings of token policies, each a pure function of its ``Job``; on N processes with ``--jobs N``.

Covered
    The same bytes for any number of processes, in whatever order they finish.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from course.artifacts.inference import Trainings
from course.artifacts.records import LearningResult
from course.artifacts.rollout_files import write_reference
from course.artifacts.token_rows import EvaluationRow, write_checkpoint
from course.artifacts.writing import RunWriter
from course.datasets.records import Task
from course.policies.presets import Plan
from course.reports.terminal import with_progress
from course.rubrics.hackable import RUBRICS

if TYPE_CHECKING:  # loaded by the functions that compute, so that --help answers at once
    from concurrent.futures import Executor, Future

    from course.policies.evaluation import Checkpoint
    from course.policies.token_policy import Policy

Key = TypeVar("Key")


class Job(NamedTuple):
    """One training, or the same for several seeds. ``name``, ``start``: a Sweep adds the seed to both.

    Jobs with one ``start`` and seed share the policy that they start from, a file in references/.
    """

    name: str  # in the log and in the results; no two of a run share it
    start: str
    examples: Sequence[Task]
    holdout: Sequence[Task]
    rubric: str
    plan: Plan
    every: int  # updates from one evaluation to the next
    samples: int  # completions of each prompt in an evaluation
    seed: int = 0


def fine_tuned(job: Job) -> Policy:
    from course.policies.token_learner import fine_tune

    return fine_tune(job.examples, job.plan, job.seed)


def checkpoints(reference: Policy, job: Job) -> Iterator[Checkpoint]:
    from course.policies.evaluation import learn_and_evaluate

    how = (RUBRICS[job.rubric], job.plan, job.seed, job.every, job.samples)
    return learn_and_evaluate(reference, job.examples, job.holdout, *how)


def trained(reference: Policy, job: Job) -> list[Checkpoint]:
    return list(checkpoints(reference, job))


class Sweep(Generic[Key]):
    """The trainings of a run, each done, or waited for, and written when it is asked for.

    ``executor``: None for this process. ``last``: the results at the end of each training that was asked for.
    """

    def __init__(
        self, run: RunWriter, jobs: Mapping[Key, Job], seeds: Sequence[int], executor: Executor | None
    ) -> None:
        self._run, self._executor = run, executor
        self._jobs = {
            key: [
                job._replace(name=f"{job.name}, seed {seed}", start=f"references/{job.start}seed_{seed}.npz", seed=seed)
                for seed in seeds
            ]
            for key, job in jobs.items()
        }
        self._starts: dict[str, Policy] = {}
        self._logs: dict[str, list[EvaluationRow]] = {}
        self.last: dict[Key, list[LearningResult]] = {}

    def trainings(self, key: Key) -> Trainings:
        """The rows of the evaluations, training by training: one for each seed."""
        for job in self._jobs[key]:
            if job.name not in self._logs:
                how = (job.rubric, job.plan.kl_coef, job.seed, job.name)
                written = [write_checkpoint(self._run, one, *how) for one in self._checkpoints(job)]
                self._logs[job.name] = [row for row, _ in written]
                self.last.setdefault(key, []).extend(written[-1][1])
        return [self._logs[job.name] for job in self._jobs[key]]

    def _checkpoints(self, job: Job) -> Iterable[Checkpoint]:
        if self._executor is None:
            if job.start not in self._starts:
                self._begin(job, fine_tuned(job))
            count = 1 - -job.plan.steps // job.every
            return with_progress(checkpoints(self._starts[job.start], job), f"training on {job.name}", count)
        for _ in with_progress(self._until_done(job.name), "training", len(self._futures)):
            pass
        return self._futures[job.name].result()

    def _begin(self, job: Job, reference: Policy) -> None:
        self._starts[job.start] = reference
        write_reference(self._run, job.start, reference, job.examples)

    @cached_property
    def _futures(self) -> dict[str, Future[list[Checkpoint]]]:
        """Every training, begun at once."""
        assert self._executor is not None
        jobs = [job for of_a_kind in self._jobs.values() for job in of_a_kind]
        first = {job.start: job for job in reversed(jobs)}
        starts = {start: self._executor.submit(fine_tuned, job) for start, job in first.items()}
        for start, job in first.items():
            self._begin(job, starts[start].result())
        return {job.name: self._executor.submit(trained, self._starts[job.start], job) for job in jobs}

    def _until_done(self, name: str) -> Iterator[None]:
        from concurrent.futures import as_completed

        for _ in as_completed(self._futures.values()):
            yield
            if self._futures[name].done():
                return
