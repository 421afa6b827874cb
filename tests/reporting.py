"""What the tests of printed text share."""

import unicodedata
from typing import Any, NamedTuple

from course.artifacts.learning_rows import learning_result
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
    rewards = (100, proxy, true, proxy - true, 0.0)
    holdout = (10, proxy / 2, true / 2, 0.0, 0.0)
    return EvaluationRow("anywhere", 0.0, 0, step, *rewards, kl, 8.0, *holdout)


def completions(right: int, exploits: int = 0, n: int = 100, split: str = "train") -> list[LearningResult]:
    """One completion of each of n prompts: the first so many are right, then come so many exploits."""
    results = []
    for i in range(n):
        text = "Final: 8" if i < right else "7"
        kind = "wrong" if right <= i < right + exploits else None
        example = {"id": f"q{i}", "prompt": "Compute 5 + 3.", "expected_answer": 8}
        results.append(learning_result(example, text, 0, split=split, proxy_reward=0.0, kind=kind))
    return results


def points_of_lines(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """Label -> the points of each labelled line of a figure."""
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}


class Canned(NamedTuple):
    """An experiment whose trainings are given. ``asked``: which were asked for, in order."""

    given: dict[TrainConfig, list[list[EvaluationRow]]]
    trainings: dict[TrainConfig, list[Training]]
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
) -> Any:
    """An experiment with these logs, one for each seed."""
    if trainings is None:
        trainings = {}
        for config, logs in given.items():
            trainings[config] = [Training(f"seed {seed}", config, seed, [], []) for seed in range(len(logs))]
    return Canned(given, trainings, [])
