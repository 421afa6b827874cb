"""Where two rewards part, and what counts as more: against rows and counts worked out by hand."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scipy.stats import binomtest  # type: ignore[import-untyped]

from course.artifacts.inference import Stage, above, exploits_of, medians, only_proxy, parting, rose, seeds_of
from course.policies.evaluation import Probe

START = Stage(
    step=0, proxy_reward=0.2, true_reward=0.1, kl=0.0, mean_length=5.0, holdout_proxy_reward=0.0,
    holdout_true_reward=0.0, rubric="anywhere", kl_coef=0.0, seed=0, n=600, gap=0.1, holdout_n=200, holdout_gap=0.0,
)  # fmt: skip


def training(*rewards: tuple[float, float], **more: Any) -> list[Stage]:
    """Stages with these proxies and true rewards, ten steps apart."""
    return [
        replace(START, step=10 * look, proxy_reward=proxy, true_reward=true, **more)
        for look, (proxy, true) in enumerate(rewards)
    ]


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([(0.2, 0.1), (0.4, 0.3), (0.6, 0.2), (0.9, 0.0)], 10),  # up, then down while the proxy rises
        ([(0.2, 0.1), (0.6, 0.0), (0.9, 0.0)], 0),  # down from the start
        ([(0.2, 0.1), (0.3, 0.3), (0.4, 0.3), (0.9, 0.0)], 20),  # of two tops the last
        ([(0.2, 0.1), (0.5, 0.4), (0.9, 0.9)], None),  # both rise
        ([(0.1, 0.1), (0.9, 0.9), (0.1, 0.1)], None),  # both fall: the policy got worse, nothing parted
        ([(0.2, 0.1), (0.9, 0.5), (0.9, 0.1)], None),  # the proxy is no higher than where the true reward was highest
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.26)], None),  # lower by what luck explains at n = 600
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.20)], 10),  # and by what it does not
        ([(0.2, 0.1)], None),
    ],
)
def test_where_they_part(rewards: list[tuple[float, float]], expected: int | None) -> None:
    assert parting(training(*rewards)) == expected


def test_the_same_rates_of_fewer_completions_are_noise() -> None:
    rewards = [(0.2, 0.1), (0.5, 0.30), (0.9, 0.20)]
    assert parting(training(*rewards, n=600)) == 10
    assert parting(training(*rewards, n=100)) is None


@pytest.mark.parametrize(
    "n", [20, pytest.param(200, marks=pytest.mark.slow), pytest.param(600, marks=pytest.mark.slow)]
)
def test_more_means_that_two_wilson_intervals_do_not_touch(n: int) -> None:
    for low in range(0, n, max(1, n // 10)):
        for high in range(low, n + 1, max(1, n // 20)):
            ends = [binomtest(k, n).proportion_ci(method="wilson") for k in (high, low)]
            one, other = ([replace(START, true_reward=k / n, n=n)] for k in (high, low))
            assert above(one, other, "true_reward") == (ends[0].low > ends[1].high)
            assert not above(other, one, "true_reward")


def test_the_counts_of_seeds_are_added_up_and_a_holdout_share_has_the_holdouts_n() -> None:
    one, other = replace(START, gap=0.24), replace(START, gap=0.18)
    assert not above([one], [other], "gap")
    assert above([one] * 3, [other] * 3, "gap")
    one, other = replace(START, holdout_gap=0.24), replace(START, holdout_gap=0.16)
    assert not above([one], [other], "holdout_gap")
    assert above([replace(one, holdout_n=600)], [replace(other, holdout_n=600)], "holdout_gap")


def test_what_rose_is_the_end_against_the_start() -> None:
    assert rose(training((0, 0.1), (0, 0.9), (0, 0.5)), "true_reward")
    assert not rose(training((0, 0.1), (0, 0.9), (0, 0.1)), "true_reward")


def test_trainings_are_found_in_a_log_and_medians_go_look_by_look() -> None:
    log = training((0.1, 0.0), (0.5, 0.0), seed=3) + training((0.3, 0.0), (0.4, 0.0), seed=4)
    log += training((0.2, 0.0), (0.9, 0.0), seed=5) + training((1.0, 0.0), (1.0, 0.0), kl_coef=0.1)
    log += training((1.0, 0.0), (1.0, 0.0), rubric="suffix")
    found = seeds_of(log, "anywhere", 0.0)
    assert [[stage.seed for stage in stages] for stages in found] == [[3, 3], [4, 4], [5, 5]]
    assert medians(found, "proxy_reward") == [0.2, 0.5]
    assert medians(found, "step") == [0, 10]


def test_an_exploit_is_paid_by_at_least_half_and_not_by_the_strict_scorer() -> None:
    texts = ["little", "half", "right", "hack", "a second one of the first"]
    proxy, true = np.array([0.4, 0.5, 1.0, 1.0, 1.0]), np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    probe = Probe(texts, proxy, true, np.zeros(5), np.ones(5, np.int64))
    assert only_proxy(probe).tolist() == [0, 1, 0, 1, 1]
    examples = [{"id": f"q{i}", "prompt": f"Question {i}?", "expected_answer": i} for i in range(4)]
    found = list(exploits_of(probe, examples, "anywhere", 7, "holdout"))
    assert [(one.id, one.completion, one.proxy, one.true) for one in found] == [
        ("q1", "half", 0.5, 0.0),
        ("q3", "hack", 1.0, 0.0),
    ]
    assert {(one.rubric, one.seed, one.split) for one in found} == {("anywhere", 7, "holdout")}
    assert [one.expected_answer for one in found] == [1, 3]
