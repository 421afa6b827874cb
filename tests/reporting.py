"""What the tests of printed text share."""

import unicodedata
from typing import Any, NamedTuple

from course.artifacts.records import LearningResult
from course.artifacts.token_rows import EvaluationRow
from course.experiments.driver import Training
from course.policies.train_config import TrainConfig


def columns(line: str) -> int:
    """How wide a terminal prints a line, by the Unicode database."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return len(line) + wide - sum(unicodedata.category(char) in ("Mn", "Me") for char in line)


def evaluation(step: int, proxy: float, true: float, kl: float = 0.0) -> EvaluationRow:
    """An evaluation of 100 completions, and of 10 on the holdout, where both rewards are half."""
    rewards = (100, proxy, true, proxy - true, 0.0, 10, proxy / 2, true / 2, 0.0, 0.0)
    return EvaluationRow("anywhere", 0.0, 0, step, *rewards, kl, 8.0)


def points_of_lines(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """Label -> the points of each labelled line of a figure."""
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}


class Canned(NamedTuple):
    """An experiment whose trainings are given. ``asked``: which were asked for, in order."""

    given: dict[TrainConfig, list[list[EvaluationRow]]]
    trainings: dict[TrainConfig, list[Training]]
    last_results: dict[TrainConfig, list[LearningResult]]
    asked: list[TrainConfig]

    @property
    def configs(self) -> list[TrainConfig]:
        return list(self.given)

    @property
    def seeds(self) -> list[int]:
        return [training.seed for training in self.trainings[self.configs[0]]]

    def logs(self, config: TrainConfig) -> list[list[EvaluationRow]]:
        self.asked.append(config)
        return self.given[config]


def canned(
    given: dict[TrainConfig, list[list[EvaluationRow]]],
    trainings: dict[TrainConfig, list[Training]] | None = None,
    exploits: list[LearningResult] | None = None,
) -> Any:
    """An experiment with these logs, one for each seed, and in each of its trainings these last results."""
    if trainings is None:
        trainings = {}
        for config, logs in given.items():
            trainings[config] = [Training(f"seed {seed}", config, seed, [], []) for seed in range(len(logs))]
    return Canned(given, trainings, {config: exploits or [] for config in given}, [])
