"""What the tests of printed text share."""

import unicodedata
from typing import Any

from course.artifacts.token_rows import EvaluationRow


def columns(line: str) -> int:
    """How wide a terminal prints a line, by the Unicode database."""
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in line)
    return len(line) + wide - sum(unicodedata.category(char) in ("Mn", "Me") for char in line)


def evaluation(step: int, proxy: float, true: float, kl: float = 0.0) -> EvaluationRow:
    """An evaluation of 100 completions, and of 10 on the holdout, where both rewards are half."""
    rewards = (100, proxy, true, proxy - true, 10, proxy / 2, true / 2, 0.0)
    return EvaluationRow("anywhere", 0.0, 0, step, *rewards, kl, 8.0)


def points_of_lines(axes: Any) -> dict[str, list[tuple[float, float]]]:
    """Label -> the points of each labelled line of a figure."""
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axes.get_lines()}
