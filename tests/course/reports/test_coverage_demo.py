"""The table about coverage, against numbers written by hand.

The worked example. In 400 updates of 64 prompts each of 1,000 prompts is visited 25.6 times, and each of 30 in every
update, so 400 times.
"""

from course.artifacts.inference import CoveragePoint
from course.policies.presets import GENERALISE
from course.reports.coverage_demo import coverage_text


def point(prompts: int, train: float, holdout: float, seen: float) -> CoveragePoint:
    return CoveragePoint(prompts, train, holdout, (holdout - 0.02, holdout + 0.02), [holdout] * 2, 0.0, seen, 1.5)


def test_a_row_for_each_number_of_prompts_and_what_its_columns_mean() -> None:
    report = coverage_text([point(30, 1.0, 0.04, 0.24), point(1000, 0.97, 0.96, 1.0)], GENERALISE.plan)
    lines = report.split("\n")
    assert max(map(len, lines)) <= 80
    assert "600 updates each, seeds: 2" in report
    few, many = (next(line.split() for line in lines if line.split()[:1] == [count]) for count in ("30", "1000"))
    assert few == ["30", "100.0", "%", "4.0", "%", "2.0", "to", "6.0", "%", "600", "24", "%", "1.5"]
    assert many[-4:] == ["38", "100", "%", "1.5"]
    brief = coverage_text(
        [point(1000, 0.97, 0.96, 1.0), point(30, 1.0, 0.04, 0.24)], GENERALISE.plan._replace(steps=400)
    )
    assert [line.split()[-4] for line in brief.split("\n") if line.endswith("1.5")] == ["26", "400"]
