"""What is inferred from the logs, against rows and counts worked out by hand.

An example: two seeds of 100 completions end at 60 and 80 right ones. The median rate is 70 %, and the pooled interval
is Wilson's of 140 among 200.
"""

import pytest
from msgspec.structs import replace
from reporting import evaluation
from scipy_when_asked import scipy

from course.artifacts.inference import median_rate, medians, pooled_interval, rows_at

ONE = [evaluation(0, 0.1, 0.1), evaluation(10, 0.5, 0.6)]
OTHER = [evaluation(0, 0.3, 0.3), evaluation(10, 0.9, 0.8)]


def wilson(passes: int, n: int) -> tuple[float, float]:
    low, high = scipy.stats.binomtest(passes, n).proportion_ci(method="wilson")
    return low, high


def test_the_counts_of_seeds_are_added_up_and_a_holdout_share_has_the_holdouts_n() -> None:
    last = rows_at([ONE, OTHER], -1)
    assert pooled_interval(last, "true_reward") == pytest.approx(wilson(140, 200))
    assert pooled_interval(last, "holdout_true_reward") == pytest.approx(wilson(3 + 4, 20))
    assert pooled_interval([replace(last[0], n=10)], "true_reward") == pytest.approx(wilson(6, 10))


def test_the_median_seed_has_the_interval_of_one_seed() -> None:
    rate, bounds = median_rate([ONE, OTHER], -1)
    assert rate == pytest.approx(0.7)
    assert bounds == pytest.approx(wilson(70, 100))
    assert median_rate([ONE, OTHER], 0)[0] == pytest.approx(0.2)


def test_medians_go_evaluation_by_evaluation() -> None:
    assert medians([ONE, OTHER, OTHER], "proxy_reward") == [0.3, 0.9]
    assert medians([ONE], "step") == [0, 10]
