"""The table about starts, against numbers written by hand.

The worked example. Two seeds of 100 completions each start at 10 and 30 right ones: the median is 20.0 %, and Wilson's
interval of 20 among 100 is 13.3 to 28.9 %.
"""

from msgspec.structs import replace
from reporting import evaluation

from course.artifacts.token_rows import EvaluationRow
from course.reports.cold_start_demo import cold_start_text

BETTER = [
    evaluation(0, 0.1, 0.1),
    replace(evaluation(50, 0, 0), equal_groups=0.25),
    replace(evaluation(60, 0.9, 0.9), equal_groups=0.6),
]
WORSE = [evaluation(0, 0.3, 0.3), replace(evaluation(50, 0, 0), equal_groups=0.75), evaluation(60, 0.5, 0.5)]


def test_a_row_for_each_start_with_what_the_seeds_come_to() -> None:
    ends = [replace(log[-1], equal_groups=share) for log, share in ((BETTER, 0.6), (WORSE, 0.7))]
    trainings = {0: [BETTER[:2] + ends[:1]], 800: [BETTER[:2] + ends[:1], WORSE[:2] + ends[1:]]}
    lines = "\n".join(cold_start_text([800, 0], trainings.__getitem__, 60, 2)).split("\n")
    assert max(map(len, lines)) <= 80
    assert "strict scorer, 60 updates each, seeds: 2" in lines
    both, alone = (next(line.split() for line in lines if line.split()[:1] == [count]) for count in ("800", "0"))
    assert both[:6] == ["800", "20.0", "%", "13.3", "to", "28.9"]
    assert both[6:] == ["70.0", "%", "60.4", "to", "78.1", "50", "%", "65", "%"]
    assert (alone[1], alone[-4:]) == ("10.0", ["25", "%", "60", "%"])


def test_a_row_is_there_before_the_next_training_begins() -> None:
    begun: list[int] = []

    def trained(count: int) -> list[list[EvaluationRow]]:
        begun.append(count)
        return [BETTER]

    report = cold_start_text([0, 800], trained, 60, 1)
    assert next(report).startswith("Loop C")
    assert "fine-tuning" in next(report)
    assert begun == []
    assert next(report).split()[0] == "0"
    assert begun == [0]
