"""The table about coverage, against numbers written by hand.

The worked example. In 400 updates of 64 prompts each of 1,000 prompts is visited 25.6 times, and each of 30 in every
update, so 400 times.
"""

from course.artifacts.inference import CoveragePoint
from course.policies.presets import GENERALISE
from course.reports.coverage_demo import coverage_ending, coverage_text


def point(prompts: int, train: float, holdout: float, seen: float) -> CoveragePoint:
    return CoveragePoint(prompts, train, holdout, (holdout - 0.02, holdout + 0.02), [holdout] * 2, 0.0, seen, 1.5)


def said(points: list[CoveragePoint], steps: int) -> str:
    by_count = {one.prompts: one for one in points}
    return "\n".join(coverage_text(by_count, by_count.__getitem__, GENERALISE.plan._replace(steps=steps), 2))


def test_a_row_for_each_number_of_prompts_and_what_its_columns_mean() -> None:
    points = [point(30, 1.0, 0.04, 0.24), point(1000, 0.97, 0.96, 1.0)]
    report = said(points, 600)
    assert max(map(len, report.split("\n"))) <= 80
    assert "600 updates each, seeds: 2" in report
    assert [line.split() for line in report.split("\n")[-2:]] == [
        ["30", "100.0", "%", "600", "24", "%", "1.5"],
        ["1000", "97.0", "%", "38", "100", "%", "1.5"],
    ]
    assert [line.split()[-4] for line in said(points, 400).split("\n")[-2:]] == ["400", "26"]


def test_what_the_holdout_says_stands_at_the_end_and_nowhere_before() -> None:
    points = [point(30, 1.0, 0.04, 0.24), point(1000, 0.97, 0.96, 1.0)]
    rows = [line.split() for line in coverage_ending(points).split("\n")[3:5]]
    assert rows[0] == ["30", "100.0", "%", "4.0", "%", "2.0", "to", "6.0", "%"]
    assert rows[1][:5] == ["1000", "97.0", "%", "96.0", "%"]
    assert "96.0" not in said(points, 400)


def test_a_row_is_there_before_the_next_training_begins() -> None:
    begun: list[int] = []

    def train(count: int) -> CoveragePoint:
        begun.append(count)
        return point(count, 1.0, 0.04, 0.24)

    report = coverage_text([30, 1000], train, GENERALISE.plan, 1)
    assert next(report).startswith("Loop C")
    assert "trained on" in next(report)
    assert begun == []
    assert next(report).split()[0] == "30"
    assert begun == [30]
