"""The gate's decision on counts alone: each boundary by hand, and what it says is needed, by trying all."""

from fractions import Fraction
from itertools import product

import pytest

from course.gate import Flips, decide, net_flips_needed


def flips(n: int, gained: int, lost: int = 0, passed: int = 0) -> Flips:
    names = [f"q{i}" for i in range(gained + lost)]
    return Flips(n, passed, passed + gained - lost, names[:gained], names[gained:])


@pytest.mark.parametrize(
    ("change", "min_delta", "verdict", "reason"),
    [
        (flips(150, 6), Fraction(4, 100), "PROMOTE", "same room"),  # 6 of 150 is 4 points, to the last digit
        (flips(150, 6), Fraction(4_000_001, 100_000_000), "REJECT", "below --min-delta"),
        (flips(100, 10, passed=20), Fraction(1, 10), "PROMOTE", "same room"),  # in floats 0.3 - 0.2 < 0.1
        (flips(80, 4), Fraction(0), "INCONCLUSIVE", "noise rule"),  # exactly 5 points
        (flips(99, 4), Fraction(0), "INCONCLUSIVE", "noise rule"),
        (flips(99, 5), Fraction(0), "INCONCLUSIVE", "exact McNemar p = 0.0625"),  # 5.05 points
        (flips(100, 5), Fraction(0), "INCONCLUSIVE", "exact McNemar p = 0.0625"),  # 5 points, but n is 100
        (flips(99, 6), Fraction(0), "PROMOTE", "same room"),
        (flips(1_000, 6), Fraction(0), "PROMOTE", "same room"),
        (flips(60, 3), Fraction(5, 100), "INCONCLUSIVE", "noise rule"),
        (flips(60, 3, 3), Fraction(0), "INCONCLUSIVE", "did not rise"),
        (flips(60, 2, 3), Fraction(0), "REJECT", "below --min-delta"),
        (flips(200, 15, 5), Fraction(0), "PROMOTE", "same room"),  # 2 · 21700 / 2^20 = 0.0414
        (flips(200, 14, 5), Fraction(0), "INCONCLUSIVE", "p = 0.0636"),  # 2 · 16664 / 2^19
    ],
)
def test_decide_at_its_boundaries(change: Flips, min_delta: Fraction, verdict: str, reason: str) -> None:
    said, why = decide(change, min_delta, "dev")
    assert said == verdict
    assert reason in why


def test_a_worse_holdout_is_rejected_for_that_reason_first() -> None:
    assert decide(flips(60, 2, 3), Fraction(1, 2), "holdout") == ("REJECT", "the holdout got worse")
    assert decide(flips(60, 3, 3), Fraction(0), "holdout")[0] == "INCONCLUSIVE"


@pytest.mark.parametrize(
    "n", [100, *(pytest.param(n, marks=pytest.mark.slow) for n in (19, 20, 40, 99, 101, 150, 1_000))]
)
def test_net_flips_needed_is_the_first_rise_that_decide_promotes(n: int) -> None:
    shares = Fraction(0), Fraction(1, 20), Fraction(7, 100), Fraction(1, 3)
    for lost, min_delta in product((0, 1, 2, 7, 40), shares):
        verdicts = {net: decide(flips(n, net + lost, lost), min_delta, "dev")[0] for net in range(1, 500)}
        promoted = [net for net, verdict in verdicts.items() if verdict == "PROMOTE"]
        assert net_flips_needed(flips(n, 0, lost), min_delta) == promoted[0]
        assert promoted == list(range(promoted[0], 500))
