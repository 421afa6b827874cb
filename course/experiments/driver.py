"""Machinery: the driver of all experiments. It trains each row of a table once for each seed, and writes what it finds.

Covered
    The same bytes for any number of processes, in whatever order they finish.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from course.artifacts.records import RESULTS, LearningResult
from course.artifacts.rollout_files import write_reference
from course.artifacts.token_rows import (
    TOKEN_LOG,
    CountedSamples,
    EvaluationRow,
    evaluation_results,
    evaluation_row,
)
from course.artifacts.writing import RunWriter
from course.datasets.records import Task
from course.policies.train_config import TrainConfig
from course.rubrics.hackable import RUBRICS

if TYPE_CHECKING:  # loaded by the functions that compute, so that --help answers at once
    from concurrent.futures import Executor, Future

    from course.policies.token_policy import Policy

Row = TypeVar("Row", EvaluationRow, CountedSamples)


class Training(NamedTuple):
    """One training: a row of the table with a seed. No two of a run share their ``name``."""

    name: str
    config: TrainConfig
    seed: int
    examples: Sequence[Task]
    holdout: Sequence[Task]

    def reference_file(self) -> str:
        """The policy that it starts from. Trainings that start alike share it."""
        start = f"{len(self.examples)}_prompts_{self.config.sft_steps}_steps"
        return f"references/{start}_seed_{self.seed}.npz"


Evaluation = tuple[list[Row], list[LearningResult]]  # what one evaluation adds to the log, and to the results
Measure = Callable[["Policy", Training], Iterator[Evaluation[Row]]]  # learns from the policy, and evaluates on the way

Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]


class Report(NamedTuple):
    """What an experiment found, beside its log and its results. ``figures``: file name -> PNG.

    ``shown`` is on the screen already. ``ending`` is shown when the look at a holdout has been counted.
    """

    shown: list[str]
    ending: str
    figures: dict[str, bytes]
    summary: dict[str, Any]


class Experiment(Generic[Row]):
    """The trainings of a run. Each is done, or waited for, and written when it is asked for.

    ``trainings``: one for each seed, under the row of the table. ``executor``: None for this process.
    ``progress``: shows a person how far the items are that it is given, with what they are and how many.
    """

    def __init__(
        self,
        run: RunWriter,
        trainings: Mapping[TrainConfig, Sequence[Training]],
        measure: Measure[Row],
        executor: Executor | None,
        progress: Progress,
    ) -> None:
        self.trainings = trainings
        self._run = run
        self._measure: Measure[Row] = measure
        self._executor = executor
        self._progress = progress
        self._references: dict[str, Policy] = {}
        self._logs: dict[TrainConfig, list[list[Row]]] = {}

    @property
    def configs(self) -> list[TrainConfig]:
        """The rows of the table."""
        return list(self.trainings)

    @property
    def seeds(self) -> list[int]:
        return [training.seed for training in self.trainings[self.configs[0]]]

    def logs(self, config: TrainConfig) -> list[list[Row]]:
        """The rows of the log, one list for each seed."""
        if config not in self._logs:
            self._logs[config] = []
            for training in self.trainings[config]:
                self._logs[config].append([row for rows, _ in self.evaluations(training) for row in rows])
        return self._logs[config]

    def evaluations(self, training: Training) -> Iterator[Evaluation[Row]]:
        """Train, and write what each evaluation found as soon as it is known."""
        for rows, results in self._measure_training(training):
            self._run.append(RESULTS, *results)
            self._run.append(TOKEN_LOG, *rows)
            yield rows, results

    def _measure_training(self, training: Training) -> Iterable[Evaluation[Row]]:
        if self._executor is None:
            name = training.reference_file()
            if name not in self._references:
                self._keep_reference(training, fine_tune_reference(training))
            measured = self._measure(self._references[name], training)
            return self._progress(measured, f"training on {training.name}", training.config.evaluations())
        for _ in self._progress(self._until_done(training.name), "training", len(self._futures)):
            pass
        return self._futures[training.name].result()

    def _keep_reference(self, training: Training, reference: Policy) -> None:
        name = training.reference_file()
        self._references[name] = reference
        write_reference(self._run, name, reference, training.examples)

    @cached_property
    def _futures(self) -> dict[str, Future[list[Evaluation[Row]]]]:
        """Every training, begun at once."""
        assert self._executor is not None
        trainings = list(chain.from_iterable(self.trainings.values()))
        first: dict[str, Training] = {}
        for training in trainings:
            first.setdefault(training.reference_file(), training)
        starts = {name: self._executor.submit(fine_tune_reference, training) for name, training in first.items()}
        for name, training in first.items():
            self._keep_reference(training, starts[name].result())
        futures = {}
        for training in trainings:
            reference = self._references[training.reference_file()]
            futures[training.name] = self._executor.submit(measure_whole, self._measure, reference, training)
        return futures

    def _until_done(self, name: str) -> Iterator[None]:
        from concurrent.futures import as_completed

        for _ in as_completed(self._futures.values()):
            yield
            if self._futures[name].done():
                return


def fine_tune_reference(training: Training) -> Policy:
    """The policy that the training starts from."""
    from course.policies.token_learner import fine_tune

    return fine_tune(training.examples, training.config, training.seed)


def measure_whole(measure: Measure[Row], reference: Policy, training: Training) -> list[Evaluation[Row]]:
    """All evaluations of one training, for a worker to hand back."""
    return list(measure(reference, training))


def evaluate(reference: Policy, training: Training) -> Iterator[Evaluation[EvaluationRow]]:
    """Learn, and evaluate on the way: a row for each evaluation."""
    from course.policies.evaluation import learn_and_evaluate

    config = training.config
    rubric = RUBRICS[config.rubric]
    for checkpoint in learn_and_evaluate(reference, training.examples, training.holdout, rubric, config, training.seed):
        row = evaluation_row(checkpoint, config.rubric, config.kl_coef, training.seed, training.name)
        yield [row], evaluation_results(checkpoint, config.rubric, training.name)
