"""The words about coverage, against numbers written by hand.

The worked example. Trained on 30 prompts a policy passes all of them and 4 % of the holdout; trained on 100 it passes
8 % of a holdout of which it saw the digit pairs of 79 %: to have seen the pairs is not enough.
"""

from course.artifacts.inference import CoveragePoint
from course.reports.coverage_demo import coverage_reading, coverage_table, coverage_text, times_table


def point(prompts: int, train: float, holdout: float, seen: float, width: float = 0.02) -> CoveragePoint:
    bounds = (holdout - width, holdout + width)
    return CoveragePoint(prompts, 0.1, train, 0.0, holdout, bounds, seen, 1.0, [train], [holdout])


def test_the_bins_hold_every_prompt_once_and_an_empty_one_has_no_row() -> None:
    times = [(0, 7, 1), (1, 5, 1), (2, 3, 1), (3, 2, 0), (5, 2, 2), (11, 4, 3), (40, 6, 6), (0, 3, 0)]
    passed = [(time, i < passes) for time, n, passes in times for i in range(n)]
    cells = [line.split() for line in times_table(passed).split("\n")[2:]]
    assert cells == [
        ["never", "10", "1", "10.0", "%"],
        ["1", "to", "2", "8", "2", "25.0", "%"],
        ["3", "to", "5", "4", "2", "50.0", "%"],
        ["11", "or", "more", "10", "9", "90.0", "%"],
    ]


def test_the_report_has_the_tables_and_the_sentences() -> None:
    report = coverage_text([point(30, 1.0, 0.04, 0.24), point(1000, 0.97, 0.96, 1.0)], [(0, False), (2, True)], 400)
    assert max(map(len, report.split("\n"))) <= 80
    assert "400 updates each, seeds: 1" in report
    assert "30   10.0 -> 100.0 %    0.0 -> 4.0 %     2.0 to 6.0 %       24.0 %       1" in report
    assert coverage_table([point(30, 1.0, 0.04, 0.24)]) in coverage_text([point(30, 1.0, 0.04, 0.24)], [(0, True)], 1)


def words(*points: CoveragePoint) -> str:
    text = coverage_reading(points)
    assert max(map(len, text.split("\n"))) <= 80
    return " ".join(text.split())


def test_the_sentences_are_those_of_the_numbers() -> None:
    said = words(point(30, 1.0, 0.04, 0.24), point(100, 0.99, 0.08, 0.79), point(1000, 0.97, 0.96, 1.0))
    assert "Trained on 30, the policy passes 100.0 % of its own prompts and 4.0 % of the holdout" in said
    assert "The difference was memorised" in said
    assert "not enough: 100 prompts show those of 79.0 % of the holdout, and 8.0 % passes" in said


def test_what_the_numbers_do_not_bear_out_is_not_said() -> None:
    alone = words(point(30, 1.0, 0.04, 0.05))
    assert "Trained on 30" in alone
    assert alone.count("Trained on") == 1
    assert "not enough" not in alone  # 4 % beside 5 % is within the interval
    nothing = words(point(30, 0.05, 0.04, 0.9), point(100, 0.06, 0.05, 0.9))
    assert nothing == "No pass rate on the training prompts stands out from the holdout's interval."
