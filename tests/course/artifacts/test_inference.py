"""Where proxy and true reward diverge, and what counts as more: against rows and counts worked out by hand.

The worked example. At the steps 0, 10, 20 and 30 the proxy is 0.2, 0.4, 0.6, 0.9 and the true reward 0.1, 0.3, 0.2,
0.0. The true reward is highest at step 10; from there it falls, by more than noise at n = 600, while the proxy rises:
they diverge at step 10.

The worked example. Of 4 samples of a prompt 1 was right before learning and of another one also 1; afterwards all 4 of
the first and none of the second. pass@1 rises from .25 to .5, pass@2 stays .5, and pass@3 falls from .75 to .5: the
curves cross at k = 3.
"""

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from scipy_when_asked import scipy

from course.artifacts.inference import (
    Comparison,
    compare_policies,
    comparisons,
    coverage_point,
    crossing,
    divergence_step,
    exceeds,
    medians,
    pass_at_ks,
    rose,
)
from course.artifacts.token_rows import CountedSamples, EvaluationRow

START = EvaluationRow(
    step=0, proxy_reward=0.2, true_reward=0.1, kl=0.0, mean_length=5.0, holdout_proxy_reward=0.0,
    holdout_true_reward=0.0, rubric="anywhere", kl_coef=0.0, seed=0, n=600, gap=0.1, holdout_n=200, holdout_gap=0.0,
)  # fmt: skip


def training(*rewards: tuple[float, float], **more: Any) -> list[EvaluationRow]:
    """Rows with these proxies and true rewards, ten steps apart."""
    return [
        replace(START, step=10 * place, proxy_reward=proxy, true_reward=true, **more)
        for place, (proxy, true) in enumerate(rewards)
    ]


@pytest.mark.parametrize(
    ("rewards", "expected"),
    [
        ([(0.2, 0.1), (0.4, 0.3), (0.6, 0.2), (0.9, 0.0)], 10),  # up, then down while the proxy rises
        ([(0.2, 0.1), (0.6, 0.0), (0.9, 0.0)], 0),  # down from the start
        ([(0.2, 0.1), (0.3, 0.3), (0.4, 0.3), (0.9, 0.0)], 20),  # of two tops the last
        ([(0.2, 0.1), (0.5, 0.4), (0.9, 0.9)], None),  # both rise
        ([(0.1, 0.1), (0.9, 0.9), (0.1, 0.1)], None),  # both fall: the policy got worse, nothing diverged
        ([(0.2, 0.1), (0.9, 0.5), (0.9, 0.1)], None),  # the proxy is no higher than where the true reward was highest
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.26)], None),  # lower by what luck explains at n = 600
        ([(0.2, 0.1), (0.5, 0.30), (0.9, 0.20)], 10),  # and by what it does not
        ([(0.2, 0.1)], None),
    ],
)
def test_where_they_diverge(rewards: list[tuple[float, float]], expected: int | None) -> None:
    assert divergence_step(training(*rewards)) == expected


def test_the_same_rates_of_fewer_completions_are_noise() -> None:
    rewards = [(0.2, 0.1), (0.5, 0.30), (0.9, 0.20)]
    assert divergence_step(training(*rewards, n=600)) == 10
    assert divergence_step(training(*rewards, n=100)) is None


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(20, marks=pytest.mark.medium),
        pytest.param(200, marks=pytest.mark.slow),
        pytest.param(600, marks=pytest.mark.slow),
    ],
)
def test_more_means_that_two_wilson_intervals_do_not_touch(n: int) -> None:
    for low in range(0, n, max(1, n // 10)):
        for high in range(low, n + 1, max(1, n // 20)):
            ends = [scipy.stats.binomtest(k, n).proportion_ci(method="wilson") for k in (high, low)]
            one, other = ([replace(START, true_reward=k / n, n=n)] for k in (high, low))
            assert exceeds(one, other, "true_reward") == (ends[0].low > ends[1].high)
            assert not exceeds(other, one, "true_reward")


def test_the_counts_of_seeds_are_added_up_and_a_holdout_share_has_the_holdouts_n() -> None:
    one, other = replace(START, gap=0.24), replace(START, gap=0.18)
    assert not exceeds([one], [other], "gap")
    assert exceeds([one] * 3, [other] * 3, "gap")
    one, other = replace(START, holdout_gap=0.24), replace(START, holdout_gap=0.16)
    assert not exceeds([one], [other], "holdout_gap")
    assert exceeds([replace(one, holdout_n=600)], [replace(other, holdout_n=600)], "holdout_gap")


def test_what_rose_is_the_end_against_the_start() -> None:
    assert rose([training((0, 0.1), (0, 0.9), (0, 0.5))], "true_reward")
    assert not rose([training((0, 0.1), (0, 0.9), (0, 0.1))], "true_reward")
    slowly = training((0, 0.10), (0, 0.13))
    assert not rose([slowly], "true_reward")
    assert rose([slowly] * 9, "true_reward")


def test_medians_go_evaluation_by_evaluation() -> None:
    found = [training((0.1, 0.0), (0.5, 0.0)), training((0.3, 0.0), (0.4, 0.0)), training((0.2, 0.0), (0.9, 0.0))]
    assert medians(found, "proxy_reward") == [0.2, 0.5]
    assert medians(found, "step") == [0, 10]


def coverage(step: int, train: float, holdout: float, seed: int) -> EvaluationRow:
    return replace(START, step=step, true_reward=train, holdout_true_reward=holdout, seed=seed, n=5)


def test_a_coverage_point_is_the_median_of_its_seeds_and_of_two_the_lower_one() -> None:
    ends = [(0, 0.1, 1 / 40), (9, 0.9, 9 / 40), (0, 0.3, 3 / 40), (9, 1.0, 6 / 40)]
    rows = [coverage(step, train, holdout, i // 2) for i, (step, train, holdout) in enumerate(ends)]
    found = coverage_point([rows[:2], rows[2:]], [0] * 10 + [3] * 30)
    assert (found.prompts, found.train) == (5, 0.9)
    assert (found.holdout_before, found.holdout) == (1 / 40, 6 / 40)
    assert found.holdout_ci95 == pytest.approx((0.0706, 0.2907), abs=5e-5)  # 6 of 40, Wilson
    assert (found.pairs_seen, found.times_seen) == (0.75, 3)
    assert found.holdout_each == [9 / 40, 6 / 40]


def counts(
    correct: list[int], *, step: int = 0, n: int = 4, seed: int = 0, entropy: float = 0.5
) -> list[CountedSamples]:
    return [CountedSamples("tiny", seed, step, "train", f"q{i}", n, c, entropy) for i, c in enumerate(correct)]


def compared(before: list[int], after: list[int], last: int = 4) -> Comparison:
    return compare_policies(counts(before), counts(after, step=9, entropy=0.25), last, np.random.default_rng(0))


def test_the_worked_example() -> None:
    found = compared([1, 1], [4, 0])
    assert found.before == [0.25, 0.5, 0.75, 1.0]
    assert found.after == [0.5] * 4
    assert (found.prompts, found.crossing, found.last_gain) == (2, 3, -0.5)
    assert (found.entropy_before, found.entropy_after) == (0.5, 0.25)


@pytest.mark.parametrize(
    ("gain", "expected"),
    [
        ([1, 0, -1, -2], 3),
        ([-1, -1], 1),
        ([-1, 1, -1], 3),
        ([-1, 0], None),
        ([0, 0], None),
        ([1, 2], None),
    ],
)
def test_it_is_the_k_from_which_on_all_are_lower(gain: list[float], expected: int | None) -> None:
    assert crossing(gain) == crossing(np.array(gain)) == expected


def test_each_pass_at_k_is_the_share_of_all_subsets_that_hold_a_right_one_and_seeds_are_averaged() -> None:
    rows = counts([2, 0], n=5) + counts([5, 1], n=5, seed=1)
    samples = {(row.seed, row.id): [place < row.correct for place in range(5)] for row in rows}
    for place, id_ in enumerate(("q0", "q1")):
        for k in range(1, 6):
            held = [[any(some) for some in combinations(samples[seed, id_], k)] for seed in (0, 1)]
            expected = sum(sum(one) / len(one) for one in held) / 2
            assert pass_at_ks(rows, 5)[place, k - 1] == pytest.approx(expected, abs=1e-12)


def test_the_intervals_hold_what_is_sure_and_are_wide_where_little_is() -> None:
    sure = compared([4] * 30, [0] * 30)
    assert (sure.crossing, sure.crossing_ci95, sure.last_gain_ci95) == (1, (1, 1), (-1.0, -1.0))
    better = compared([0] * 30, [4] * 30)
    assert (better.crossing, better.crossing_ci95) == (None, (None, None))
    # Half of the prompts gain all and half lose all: whether more gain or lose is a toss-up. √(1/30) · 1.96 = .358.
    low, high = compared([4] * 15 + [0] * 15, [0] * 15 + [4] * 15).last_gain_ci95
    assert low == pytest.approx(-0.358, abs=0.05)
    assert high == pytest.approx(0.358, abs=0.05)
    assert compared([4] * 15 + [0] * 15, [0] * 15 + [4] * 15).crossing_ci95 == (1, None)


def test_the_prompts_are_drawn_in_pairs() -> None:
    # Each prompt loses a quarter: however different the prompts are, the loss is the same in each resample.
    assert compared([4, 1] * 10, [3, 0] * 10, last=1).last_gain_ci95 == pytest.approx((-0.25, -0.25))


def test_each_preset_and_split_is_compared_with_itself() -> None:
    before, after = counts([1, 1]), counts([4, 0], step=9)
    other = [CountedSamples("tiny", 0, step, "holdout", "h0", 4, c, 0.1) for step, c in ((0, 4), (9, 0))]
    found = comparisons([*before, *other, *after], 4, np.random.default_rng(0))
    assert [*found] == ["tiny, train", "tiny, holdout"]
    assert [one.crossing for one in found.values()] == [3, 1]
