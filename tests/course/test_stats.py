"""The statistics against SciPy, published figures and exact enumeration: nothing here is compared with itself.

An example: 20 of 20 passed. The textbook's interval is [1, 1]; Wilson's is [.839, 1].
"""

from fractions import Fraction
from itertools import combinations, product
from math import comb, exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy_when_asked import scipy

from course import stats
from course.stats import (
    best_of_n_kl,
    best_of_n_kl_bound,
    flips_needed,
    judge_difference,
    mcnemar_exact,
    mean,
    paired_interval,
    pass_at_k,
    smallest_visible_difference,
    wilson_interval,
)

COUNTS = [(k, n) for n in (1, 2, 3, 10, 20) for k in range(n + 1)]
COUNTS += [(k, 300) for k in (0, 7, 150, 300)]


def test_a_mean_is_rounded_once() -> None:
    assert mean([0.1] * 10) == 0.1
    assert mean([1e16, 1.0, -1e16]) == 1 / 3
    assert mean([True, False]) == 0.5


def test_wilsons_intervals_are_those_of_scipy() -> None:
    for k, n in COUNTS:
        theirs = scipy.stats.binomtest(k, n).proportion_ci(0.95, "wilson")
        assert wilson_interval(k, n) == pytest.approx((theirs.low, theirs.high), rel=1e-9, abs=1e-12)


def test_wilsons_intervals_end_exactly_at_zero_and_one_and_mirror_each_other() -> None:
    for k, n in COUNTS:
        low, high = wilson_interval(k, n)
        assert 0.0 <= low <= k / n <= high <= 1.0
        assert (low == 0.0, high == 1.0) == (k == 0, k == n)
        assert wilson_interval(n - k, n) == pytest.approx((1 - high, 1 - low), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("k", "n", "low", "high"),
    [
        (20, 20, 0.839, 1.0),
        (11, 20, 0.342, 0.742),
        (10, 20, 0.299, 0.701),
    ],
)
def test_wilson_gives_the_published_intervals(k: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(k, n) == pytest.approx((low, high), abs=5e-4)


@pytest.mark.parametrize(
    ("flips", "p"),
    [
        ((0, 5), 0.0625),
        ((0, 6), 0.03125),
        ((4, 14), 0.0309),
        ((9, 10), 1.0),
        ((0, 0), 1.0),
        ((7, 7), 1),
    ],
)
def test_mcnemar_gives_the_published_values_whichever_side_is_named_first(flips: tuple[int, int], p: float) -> None:
    assert float(mcnemar_exact(*flips)) == pytest.approx(p, abs=5e-5)
    assert mcnemar_exact(*flips) == mcnemar_exact(*reversed(flips))


def test_mcnemar_is_the_share_of_coin_tosses_at_least_as_lopsided() -> None:
    for m in range(1, 11):
        leads = [abs(sum(tosses)) for tosses in product((1, -1), repeat=m)]
        for gained in range(m + 1):
            as_lopsided = sum(lead >= abs(2 * gained - m) for lead in leads)
            assert float(mcnemar_exact(gained, m - gained)) == pytest.approx(as_lopsided / 2**m, rel=1e-12)


def test_mcnemar_is_scipys_binomial_test_for_many_flips() -> None:
    for pair in [
        (30, 50),
        (0, 400),
        (480, 520),
        (700, 500),
        (4_800, 5_000),
        (0, 3_000),
    ]:
        assert float(mcnemar_exact(*pair)) == pytest.approx(
            scipy.stats.binomtest(pair[0], sum(pair)).pvalue, rel=1e-8, abs=1e-300
        )


def test_the_fewest_flips_for_significance_are_six_against_none() -> None:
    assert [flips_needed(against) for against in range(4)] == [6, 8, 10, 12]


def test_one_flip_fewer_is_not_significant_by_scipy() -> None:
    for against in (0, 1, 5, 40, 400, 2_000):
        needed = flips_needed(against)
        enough = scipy.stats.binomtest(needed, needed + against).pvalue
        one_fewer = scipy.stats.binomtest(needed - 1, needed - 1 + against).pvalue
        assert enough < 0.05 <= one_fewer


@pytest.mark.parametrize(
    ("gained", "lost", "tried", "shown", "p"),
    [
        (0, 6, 1, "loss", 0.03125),  # 2 / 2^6
        (6, 0, 1, "gain", 0.03125),
        (0, 5, 1, None, 0.0625),
        (9, 10, 1, None, 1.0),
        (0, 0, 1, None, 1.0),
        (0, 6, 2, None, 0.0625),  # the worse of two comparisons
        (0, 7, 2, "loss", 0.03125),
        (1, 1, 9, None, 1.0),
    ],
)
def test_a_difference_is_shown_or_may_be_chance(
    gained: int, lost: int, tried: int, shown: str | None, p: float
) -> None:
    assert judge_difference(gained, lost, 75, tried)[:2] == (shown, p)


@pytest.mark.parametrize("tried", [1, 7])
def test_of_two_equal_policies_one_is_called_better_or_worse_at_most_one_time_in_twenty(tried: int) -> None:
    """By enumeration: each flip falls either way equally often. Of several comparisons, any may be wrong."""
    for flips in range(60):
        wrong = [
            comb(flips, gained)
            for gained in range(flips + 1)
            if judge_difference(gained, flips - gained, 75, tried).shown
        ]
        assert tried * Fraction(sum(wrong), 2**flips) <= Fraction(1, 20)


def test_what_is_called_a_gain_is_what_the_gate_asks_for() -> None:
    for lost in range(30):
        shown = [judge_difference(gained, lost, 200).shown == "gain" for gained in range(lost + 20)]
        assert shown.index(True) == flips_needed(lost)


def test_more_flips_than_prompts_are_refused() -> None:
    with pytest.raises(ValueError, match="can pass"):
        judge_difference(40, 36, 75)


def test_the_paired_interval_is_that_of_a_worked_example() -> None:
    # Nothing flips: q = 0, and n d² / (d (1 − d)) = z² at d = z² / (n + z²); for n = 25 that is 3.841459 / 28.841459.
    assert paired_interval(0, 0, 25) == pytest.approx((-0.13319225, 0.13319225), abs=1e-8)
    assert paired_interval(1, 0, 1)[1] == 1.0  # no difference of two rates is larger
    assert paired_interval(0, 1, 1)[0] == -1.0


@pytest.mark.parametrize(
    ("gained", "lost", "n"),
    [
        (9, 3, 50),
        (0, 7, 40),
        (12, 0, 25),
        (5, 5, 80),
        (40, 31, 1_319),
        (1, 0, 1),
    ],
)
def test_the_paired_interval_ends_where_the_likeliest_shares_under_its_end_are_z_standard_errors_away(
    gained: int, lost: int, n: int
) -> None:
    """By SciPy: the shares of gained and lost that make the counts likeliest, among those with this difference."""
    same = n - gained - lost
    for end, sign in zip(paired_interval(gained, lost, n), (1, -1), strict=True):
        if abs(end) == 1:
            continue

        def surprise(q: float, end: float = end) -> float:
            shares = np.maximum([q + end, q, 1 - 2 * q - end], 0)
            return -float(scipy.special.xlogy([gained, lost, same], shares).sum())

        bounds = max(0.0, -end), (1 - end) / 2
        q = scipy.optimize.minimize_scalar(surprise, bounds=bounds, method="bounded", options={"xatol": 1e-13}).x
        error = ((2 * q + end - end**2) / n) ** 0.5
        assert ((gained - lost) / n - end) / error == pytest.approx(sign * 1.959964, abs=2e-4)


@pytest.mark.parametrize("n", [10, 20, 40])
@pytest.mark.parametrize(
    ("rate_for", "rate_against"),
    [
        (0.1, 0.1),
        (0.2, 0.1),
        (0.3, 0.05),
        (0.25, 0.25),
        (0.05, 0.02),
        (0.5, 0.1),
        (0, 0),
    ],
)
def test_the_paired_interval_holds_the_true_difference_about_95_times_in_100(
    n: int, rate_for: float, rate_against: float
) -> None:
    held = 0.0
    for gained, lost in product(range(n + 1), repeat=2):
        if (same := n - gained - lost) < 0:
            continue
        low, high = paired_interval(gained, lost, n)
        if low <= rate_for - rate_against <= high:
            ways = comb(n, gained) * comb(n - gained, lost)
            held += ways * rate_for**gained * rate_against**lost * (1 - rate_for - rate_against) ** same
    assert held >= 0.94


def test_choosing_among_one_costs_nothing_and_never_less() -> None:
    """Rounding leaves 517 of these fractions a hair below 0, 17/26 for one."""
    rates = {c / m for m in range(2, 200) for c in range(1, m)}
    assert min(best_of_n_kl(p, 1) for p in rates) == 0.0


def test_p_is_exact_while_that_is_cheap() -> None:
    """Sums of fractions over 2^m are floats of the last digit: with six flips one way, 2 / 2^6 and nothing near it."""
    for gained in (6, 10, 31, 60, 200, 500):
        assert mcnemar_exact(gained, 0) == 2 / 2**gained
    assert mcnemar_exact(3, 1) == 10 / 16


def power_by_scipy(n: int, flip_rate: float, true_difference: float) -> float:
    """Every pair of gained and lost, with its probability; the test asks SciPy's binomial."""
    counts = np.arange(n + 1)
    flips = counts[:, None]
    p_values = 2 * scipy.stats.binom.sf(counts - 1, flips, 0.5)
    probabilities = scipy.stats.binom.pmf(flips, n, flip_rate) * scipy.stats.binom.pmf(
        counts, flips, (1 + true_difference / flip_rate) / 2
    )
    return float(probabilities[(p_values < 0.05) & (2 * counts > flips)].sum())


@pytest.mark.parametrize(
    ("n", "flip_rate"),
    [
        (7, 1.0),
        (31, 0.25),
        (40, 14 / 42),
        (80, 0.25),
        (100, 0.1),
        (200, 0.25),
        (1_319, 0.05),
    ],
)
def test_the_smallest_visible_difference_has_80_percent_power_by_scipy(n: int, flip_rate: float) -> None:
    difference = smallest_visible_difference(n, flip_rate)
    assert difference is not None
    assert power_by_scipy(n, flip_rate, difference) == pytest.approx(0.8, abs=0.0005)


def test_no_difference_is_visible_where_even_the_largest_has_less_power() -> None:
    """With a quarter flipping, all of them gained: 79.7 % of the draws of 30 prompts have six or more, 82.4 % of 31."""
    largest = [power_by_scipy(n, 0.25, 0.25) for n in (6, 25, 30, 31)]
    assert [round(power, 3) for power in largest] == [0.0, 0.622, 0.797, 0.824]
    visible = [smallest_visible_difference(n, 0.25) is not None for n in (1, 5, 6, 25, 30, 31)]
    assert visible == [False, False, False, False, False, True]


@pytest.mark.parametrize("flip_rate", [0.05, 0.25, 1.0])
def test_of_many_flips_the_formula_is_right_to_a_hundredth(flip_rate: float) -> None:
    """Just below 2,500 expected flips every pair of counts stands for itself, just above the formula does."""
    n = int(2_500 / flip_rate)
    exact, formula = smallest_visible_difference(n, flip_rate), smallest_visible_difference(n + 1, flip_rate)
    assert exact is not None
    assert formula is not None
    assert formula == pytest.approx((1.959964 + 0.841621) * sqrt(flip_rate / (n + 1)))
    assert formula == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize(
    ("n", "c", "k", "value"),
    [
        (4, 1, 2, 0.5),
        (4, 2, 2, 0.8333),
        (10, 3, 5, 0.9167),
    ],
)
def test_pass_at_k_gives_the_published_values(n: int, c: int, k: int, value: float) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(value, abs=5e-5)


def test_pass_at_k_is_the_share_of_k_subsets_that_hold_a_right_sample() -> None:
    for n in range(1, 8):
        for c, k in product(range(n + 1), range(1, n + 1)):
            subsets = list(combinations([True] * c + [False] * (n - c), k))
            assert pass_at_k(n, c, k) == float(Fraction(sum(map(any, subsets)), len(subsets)))


def test_pass_at_k_is_unbiased() -> None:
    n, k, rate = 6, 3, Fraction(1, 3)
    mean = sum(comb(n, c) * rate**c * (1 - rate) ** (n - c) * Fraction(pass_at_k(n, c, k)) for c in range(n + 1))
    assert float(mean) == pytest.approx(float(1 - (1 - rate) ** k), abs=1e-12)


def kl_by_enumeration(p: float, n: int) -> float:
    """Draw every pattern of n passes and failures, take the first of the best, compare its distribution with p."""
    chosen = [0.0, 0.0]
    for rewards in product((0, 1), repeat=n):
        weight = p ** sum(rewards) * (1 - p) ** (n - sum(rewards))
        chosen[rewards[rewards.index(max(rewards))]] += weight
    return sum(q * log(q / base) for q, base in zip(chosen, (1 - p, p), strict=True))


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 8])
def test_best_of_n_moves_the_policy_as_far_as_enumeration_says_and_no_further_than_the_bound(p: float, n: int) -> None:
    assert best_of_n_kl(p, n) == pytest.approx(kl_by_enumeration(p, n), abs=1e-12)
    assert best_of_n_kl(p, n) <= best_of_n_kl_bound(n) + 1e-12


def test_best_of_n_gives_the_published_figures_and_its_limits() -> None:
    assert best_of_n_kl(0.5, 4) == pytest.approx(0.4594, abs=5e-5)
    assert best_of_n_kl_bound(4) == pytest.approx(0.6363, abs=5e-5)
    assert best_of_n_kl_bound(1) == 0.0
    assert best_of_n_kl(0.2, 10_000) == pytest.approx(log(5))  # N → ∞: ln(1/p)
    assert best_of_n_kl(0.0, 8) == best_of_n_kl(1.0, 8) == 0.0
    assert best_of_n_kl(1e-9, 4) == pytest.approx(1e-9 * (4 * log(4) - 3), rel=1e-6)  # p → 0: p(N ln N − N + 1)
    assert best_of_n_kl_bound(20) == pytest.approx(log(20) - 0.95)
    assert exp(best_of_n_kl_bound(2)) == pytest.approx(2 / exp(0.5))


@pytest.mark.parametrize("p", [1e-300, 1e-17])
def test_best_of_n_holds_for_the_rarest_passes(p: float) -> None:
    assert best_of_n_kl(p, 4) == pytest.approx(p * (4 * log(4) - 3), rel=1e-6)


def test_best_of_one_is_the_policy_itself() -> None:
    assert [best_of_n_kl(p, 1) for p in (1e-9, 0.1, 0.3, 0.7)] == [0.0] * 4


COUNTED = "between 0 and n of n can pass"
RATE = "p is a probability and N at least 1"


@pytest.mark.parametrize(
    ("name", "arguments", "precondition"),
    [
        ("mean", ([],), "at least one value"),
        ("wilson_interval", (0, 0), "at least one trial"),
        ("wilson_interval", (-1, 3), COUNTED),
        ("wilson_interval", (4, 3), COUNTED),
        ("mcnemar_exact", (-1, 0), "flips are counts, at least 0"),
        ("mcnemar_exact", (0, -1), "flips are counts, at least 0"),
        ("mcnemar_exact", (-2, 5), "flips are counts, at least 0"),
        ("flips_needed", (-1,), "flips are counts, at least 0"),
        ("paired_interval", (0, 0, 0), "at least one trial"),
        ("paired_interval", (3, 3, 5), COUNTED),
        ("paired_interval", (-1, 2, 5), "flips are counts, at least 0"),
        ("smallest_visible_difference", (0,), "at least one prompt"),
        ("smallest_visible_difference", (5, 0.0), "a flip rate above 0, and at most 1"),
        ("smallest_visible_difference", (5, 1.1), "a flip rate above 0, and at most 1"),
        ("pass_at_k", (0, 0, 1), "at least one trial"),
        ("pass_at_k", (3, 4, 1), COUNTED),
        ("pass_at_k", (3, 1, 0), "pass@k needs 1 ≤ k ≤ n samples"),
        ("pass_at_k", (3, 1, -1), "pass@k needs 1 ≤ k ≤ n samples"),
        ("pass_at_k", (3, 1, 4), "pass@k needs 1 ≤ k ≤ n samples"),
        ("best_of_n_kl", (-0.1, 2), RATE),
        ("best_of_n_kl", (1.1, 2), RATE),
        ("best_of_n_kl", (float("nan"), 2), RATE),
        ("best_of_n_kl", (0.5, 0), RATE),
        ("best_of_n_kl_bound", (0,), "N at least 1"),
    ],
)
def test_an_undefined_number_is_refused_in_the_words_of_its_precondition(
    name: str, arguments: Any, precondition: str
) -> None:
    with pytest.raises(ValueError, match=precondition):
        getattr(stats, name)(*arguments)
