"""Machinery: how sure a count makes you. Each function is one published equation; undefined raises ValueError.

Notation
    n       how many were tried           k, c    how many of them passed
    z       1.959964, the normal quantile of a two-sided 95 % interval
    gained, lost   flips: pairs that pass only in the candidate, and only in the baseline

Whether a difference is real or may be chance is decided and worded in one place, ``judge_difference``, for every screen
and page.

Covered
    Intervals that hold for small n, where the textbook's mean ± 1.96 standard errors does not (20 of 20 passed: it
    says [1, 1]; see arXiv 2503.01747). Paired comparisons, which two runs on the same prompts are.
Not covered
    Clustered prompts (several about one passage), more than two runs at once (no correction for many looks).
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import pairwise
from math import ceil, comb, exp, expm1, floor, fsum, lgamma, log, log1p, sqrt
from typing import Literal, NamedTuple

Z95 = 1.959963984540054  # the normal quantile of 0.975
Z80 = 0.8416212335729143  # and of 0.8
SIGNIFICANT = 0.05  # a p below it counts as shown
POWER = 0.8  # how often a difference has to be found to count as one that is detected
_MOST_FLIPS = 2_500  # expected: beyond them the exact power costs seconds and says the same
_REACH = 6  # standard deviations of the number of flips: what lies beyond is left out
_HALVINGS = 16  # the smallest visible difference is found to 0.002 points


def mean(values: Sequence[float]) -> float:
    """Σx / n, the sum rounded once."""
    if not values:
        raise ValueError("at least one value")
    return fsum(values) / len(values)


def wilson_interval(k: int, n: int) -> tuple[float, float]:
    """95 % score interval of a pass rate: (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n). Wilson 1927."""
    _check_counts(k, n)
    p = k / n
    centre = p + Z95**2 / (2 * n)
    half = Z95 * sqrt(p * (1 - p) / n + Z95**2 / (4 * n**2))
    scale = 1 + Z95**2 / n
    # At the ends the bound is exactly 0 or 1; rounding would leave it a hair beside.
    return 0.0 if k == 0 else (centre - half) / scale, 1.0 if k == n else (centre + half) / scale


def mcnemar_exact(gained: int, lost: int) -> float:
    """Two-sided exact p of the flips, if either direction were as likely: min(1, 2 Σ_{i≤min} C(m,i) / 2^m).

    McNemar 1947 in its exact binomial form; m is the number of flips. With no flip there is no evidence: p = 1. Never
    exactly 0.05, which is no multiple of a power of two.
    """
    if gained < 0 or lost < 0:
        raise ValueError("flips are counts, at least 0")
    m, i = gained + lost, min(gained, lost)
    term = tail = _half_to_half(m, i)
    while term > tail * 1e-17:  # from the largest term down: C(m,i−1) = C(m,i) · i / (m−i+1), which ends in 0
        term *= i / (m - i + 1)
        tail += term
        i -= 1
    return min(1.0, 2 * tail)


def flips_needed(lost: int) -> int:
    """The fewest gained that make the exact p fall below 0.05, given those lost."""
    nets = range(lost + 6)  # p only falls as the net rises, and one of lost + 6 is always enough
    return lost + bisect_left(nets, True, key=lambda net: mcnemar_exact(lost + net, lost) < SIGNIFICANT)


class Judgement(NamedTuple):
    """What the flips of n prompts say of a difference. ``text`` says the same in words."""

    shown: Literal["gain", "loss"] | None  # None: chance may explain the difference
    p: float
    text: str


def judge_difference(gained: int, lost: int, n: int, tried: int = 1) -> Judgement:
    """Whether n paired prompts show a difference: the exact McNemar test, at 5 %.

    With several completions of each prompt, a prompt is gained if more of them pass than before; the test is then the
    sign test, which has the same formula. ``tried``: how many comparisons there were to pick this one from. Its p is
    multiplied by their number, so that the best of many is not taken for better (Bonferroni).
    """
    _check_flips(gained, lost, n)
    p = min(1.0, tried * mcnemar_exact(gained, lost))
    flips = f"{gained:,} gained and {lost:,} lost of {n:,} prompts"
    if not gained + lost:
        return Judgement(None, p, f"{flips}, so no difference was seen")
    test = f"exact McNemar p = {p:.2g}"
    if p < 0.0001:
        test = "exact McNemar p < 0.0001"
    elif 0.045 < p < 0.055:  # two digits could not say on which side of 0.05 it is
        test = f"exact McNemar p = {p:.4f}"
    if tried > 1:
        test += f", corrected for {tried:,} comparisons"
    if p >= SIGNIFICANT:
        return Judgement(None, p, f"{flips}, which may be chance ({test})")
    return Judgement("gain" if gained > lost else "loss", p, f"{flips}, which is more than chance explains ({test})")


def paired_interval(gained: int, lost: int, n: int) -> tuple[float, float]:
    """95 % score interval of the difference of two paired pass rates: where ``paired_score`` is within ±z. Tango 1998.

    The two ends are symmetric: what is gained in one direction is lost in the other.
    """
    _check_flips(gained, lost, n)
    return -_upper_end(lost, gained, n), _upper_end(gained, lost, n)


def paired_score(gained: int, lost: int, n: int, difference: float) -> float:
    """How many standard errors the rise seen lies above a true ``difference`` d: (g − l − nd) / √(n(2q + d(1−d))).

    q, the share that is lost, is the likeliest one under d: the larger root of
    2n q² + ((2n − g + l)d − g − l) q − l d(1 − d). Falls as d rises. Tango 1998, Statistics in Medicine 17.
    """
    _check_flips(gained, lost, n)
    if not -1 < difference < 1:
        raise ValueError("a difference between -1 and 1, the ends left out")
    a = 2 * n
    b = (2 * n - gained + lost) * difference - gained - lost
    c = -lost * difference * (1 - difference)
    q = (sqrt(max(0.0, b**2 - 4 * a * c)) - b) / (2 * a)
    excess = gained - lost - n * difference
    variance = n * (2 * q + difference * (1 - difference))
    if variance <= 0:  # no flip was seen, and none is expected
        return 0.0
    return excess / sqrt(variance)


def _upper_end(gained: int, lost: int, n: int) -> float:
    """The largest difference whose score is not below −z, to the last bit that halving finds."""
    low, high = (gained - lost) / n, 1.0
    if low == high:
        return high
    for _ in range(60):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if paired_score(gained, lost, n, middle) < -Z95:
            high = middle
        else:
            low = middle
    return high


def smallest_visible_difference(n: int, flip_rate: float = 0.25) -> float | None:
    """The true difference that n paired prompts detect with 80 % power, if ``flip_rate`` of all prompts truly flip.

    No difference is larger than the share that flips. None where n prompts do not detect even that one, in which every
    flip is gained. Exact; where more than 2,500 flips are expected (z + z_0.8) √(f/n), which is then right to 1 %: the
    normal approximation, with f the flip rate. Miller 2024, arXiv 2411.00640.
    """
    if n < 1:
        raise ValueError("at least one prompt")
    if not 0 < flip_rate <= 1:
        raise ValueError("a flip rate above 0, and at most 1")
    if n * flip_rate > _MOST_FLIPS:
        return (Z95 + Z80) * sqrt(flip_rate / n)
    draws = _draws_of_flips(n, flip_rate)
    low, high = 0.0, flip_rate
    if _power(draws, 1.0) < POWER:
        return None
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if _power(draws, (1 + middle / flip_rate) / 2) < POWER:
            low = middle
        else:
            high = middle
    return high


class _Draw(NamedTuple):
    flips: int
    probability: float
    needed: int  # the fewest gained with p < 0.05; where none has, one more than the flips


def _power(draws: Sequence[_Draw], share: float) -> float:
    """How often the exact McNemar test finds a gain, if a ``share`` s of the flips is gained: Σ_m P(m) P(g ≥ g_m | m).

    m is the number of flips, g_m the number gained that it needs, and g is binomial with m and s. The tail of m + 1 is
    made from the tail of m: one flip more is gained, or is not.
    """
    first = draws[0]
    tail = sum(_binomial(first.flips, gained, share) for gained in range(first.needed, first.flips + 1))
    power = 0.0
    for draw, after in pairwise(draws):
        power += draw.probability * tail
        tail += share * _binomial(draw.flips, draw.needed - 1, share)
        if after.needed > draw.needed:
            tail -= _binomial(after.flips, draw.needed, share)
    return power + draws[-1].probability * tail


def _draws_of_flips(n: int, flip_rate: float) -> list[_Draw]:
    """The numbers of flips that n prompts can be expected to have."""
    mean_flips = n * flip_rate
    reach = _REACH * (sqrt(mean_flips * (1 - flip_rate)) + 1)
    first, last = max(0, floor(mean_flips - reach)), min(n, ceil(mean_flips + reach))
    needed = bisect_left(range(first + 1), True, key=lambda gained: 2 * gained > first and _is_shown(gained, first))
    draws = []
    for flips in range(first, last + 1):
        if needed <= flips and not _is_shown(needed, flips):  # of one flip more, at most one gained more is needed
            needed += 1
        draws.append(_Draw(flips, _binomial(n, flips, flip_rate), needed))
    return draws


def _is_shown(gained: int, flips: int) -> bool:
    return mcnemar_exact(gained, flips - gained) < SIGNIFICANT


def pass_at_k(n: int, c: int, k: int) -> float:
    """Chance that k samples drawn from these n without replacement hold a right one: 1 − C(n−c,k)/C(n,k).

    Unbiased for the policy's pass@k, where 1 − (1 − c/n)^k is not. Chen et al. 2021, arXiv 2107.03374.
    """
    _check_counts(c, n)
    if not 1 <= k <= n:
        raise ValueError("pass@k needs 1 ≤ k ≤ n samples")
    return (comb(n, k) - comb(n - c, k)) / comb(n, k)  # one rounding: the difference of whole numbers is exact


def best_of_n_kl(p: float, n: int) -> float:
    """KL(best-of-N ‖ policy) in nats for a binary reward and ties to the first: q ln(q/p) + (1−q) ln((1−q)/(1−p)).

    q = 1 − (1−p)^N. A policy that never or always passes is not moved by choosing: 0. Beirami et al. 2024,
    arXiv 2401.01879.
    """
    if not 0 <= p <= 1 or n < 1:
        raise ValueError("p is a probability and N at least 1")
    if p in (0.0, 1.0):
        return 0.0
    q = -expm1(n * log1p(-p))  # 1 − (1−p)^N, which rounds to 0 for a small p
    distance = q * log(q / p) + (1 - q) * (n - 1) * log1p(-p)  # for (1−q)/(1−p) = (1−p)^(N−1)
    return max(0.0, distance)  # rounding may leave the 0 of N = 1 a hair below


def best_of_n_kl_bound(n: int) -> float:
    """The upper bound that holds for any reward: ln N − (N−1)/N. Beirami et al. 2024, arXiv 2401.01879."""
    if n < 1:
        raise ValueError("N at least 1")
    return log(n) - (n - 1) / n


def _check_counts(k: int, n: int) -> None:
    if n < 1:
        raise ValueError("at least one trial")
    if not 0 <= k <= n:
        raise ValueError("between 0 and n of n can pass")


def _check_flips(gained: int, lost: int, n: int) -> None:
    if min(gained, lost) < 0:
        raise ValueError("flips are counts, at least 0")
    _check_counts(gained + lost, n)


def _half_to_half(m: int, i: int) -> float:
    """C(m,i) / 2^m: exactly rounded while that is cheap, and to some ten digits where it is not."""
    if m <= 1_000:
        return float(comb(m, i) / 2**m)
    log_choose = lgamma(m + 1) - lgamma(i + 1) - lgamma(m - i + 1)
    return exp(log_choose - m * log(2))


def _binomial(n: int, k: int, p: float) -> float:
    """The probability of k successes in n trials."""
    if p in (0.0, 1.0):
        return float(k == n * p)
    log_choose = lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return exp(log_choose + k * log(p) + (n - k) * log1p(-p))
