"""Machinery: a verifier beside the spec of the course, on texts whose reward the spec knows."""

from collections.abc import Sequence
from dataclasses import dataclass

from course.artifacts.scorer_identity import GOLDEN_CORRECT, GOLDEN_EXPLOITS
from course.datasets.jsonl import read_records
from course.datasets.records import GoldenCase, Task, task_of
from course.guest import OwnRubric
from course.rubrics.forms import FINAL
from course.rubrics.kinds import EXPLOITS, kind_of
from course.score import score
from course.search import Progress, Question, learn_from
from course.text import clipped, quote


@dataclass(frozen=True)
class Comparison:
    """What a verifier gave for one text, beside what the spec gives: 0 or 1."""

    example: Task
    completion: str
    reward: float
    true: float

    def __str__(self) -> str:
        expected = quote(str(self.example["expected_answer"]))
        return f"'{clipped(self.completion, 200)}' where {expected} is expected: reward {self.reward:.4g}"


@dataclass(frozen=True)
class Comparisons:
    """How many texts were ``tried``; those with a reward above the spec's and below it, the shortest first."""

    tried: int
    false_positives: list[Comparison]
    false_negatives: list[Comparison]


def compare(verifier: OwnRubric, questions: Sequence[Question]) -> list[Comparison]:
    """Raises UserError where the verifier gives no reward."""
    return [
        Comparison(example, text, verifier(example, text)["reward"], score(example, text)["reward"])
        for example, text in questions
    ]


def collect(comparisons: Sequence[Comparison]) -> Comparisons:
    by_length = sorted(comparisons, key=lambda comparison: (len(comparison.completion), comparison.completion))
    return Comparisons(
        tried=len(comparisons),
        false_positives=[comparison for comparison in by_length if comparison.reward > comparison.true],
        false_negatives=[comparison for comparison in by_length if comparison.reward < comparison.true],
    )


def try_golden_sets(verifier: OwnRubric) -> Comparisons:
    cases = [case for path in (GOLDEN_CORRECT, GOLDEN_EXPLOITS) for case in read_records(path, GoldenCase)]
    return collect(compare(verifier, [(task_of(case), case.completion) for case in cases]))


def learn_until_exploit(verifier: OwnRubric, seed: int, progress: Progress = iter) -> Comparisons:
    """Train a policy on the verifier, until an exploit is paid: a wrong value, or several answers."""
    tried = 0
    for written in learn_from(verifier, FINAL, seed, progress):
        tried += len(written)
        paid = [
            Comparison(row.example, row.completion, row.reward, 0.0)
            for row in written
            if row.reward > 0 and kind_of(row.example["expected_answer"], row.completion) in EXPLOITS
        ]
        if paid:
            return Comparisons(tried, collect(paid).false_positives, [])
    return Comparisons(tried, [], [])
