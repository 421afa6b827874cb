"""How often the gate promotes, worked out exactly: by luck alone, and where the candidate is better.

    python3 benchmarks/gate_rates.py

Each policy answers each of n prompts right with a probability of its own, independently. A prompt is then gained with
probability (1−b)·c and lost with b·(1−c), so the counts of both are multinomial, and every pair of counts is put to
``course.gate.decide`` and weighed with its probability. No sampling, no seed: the figures have no noise.
"""

from fractions import Fraction
from functools import cache
from math import exp, lgamma, log

from course.gate import Flips, decide

SIZES = (60, 80, 100, 200, 1_000)
RATES = (0.05, 0.2, 0.45, 0.5, 0.8)
RISES = (0.05, 0.10, 0.15, 0.20)
NEGLIGIBLE = 1e-12


@cache
def promoted(n: int, gained: int, lost: int) -> bool:
    flips = Flips(n, 0, gained + lost, lost, gained, [""] * gained, [""] * lost)
    return decide(flips, Fraction(0), "dev")[0] == "PROMOTE"


def promotion_rate(n: int, baseline: float, candidate: float) -> float:
    """The probability of a PROMOTE."""
    gain, lose = (1 - baseline) * candidate, baseline * (1 - candidate)
    total = 0.0
    for gained in range(n + 1):
        for lost in range(min(gained, n - gained + 1)):  # else the pass rate did not rise
            p = probability(n, gained, lost, gain, lose)
            if p > NEGLIGIBLE and promoted(n, gained, lost):
                total += p
    return total


def probability(n: int, gained: int, lost: int, gain: float, lose: float) -> float:
    """Multinomial: n! / (g! l! (n−g−l)!) · gain^g · lose^l · (1−gain−lose)^(n−g−l)."""
    same = n - gained - lost
    ways = lgamma(n + 1) - lgamma(gained + 1) - lgamma(lost + 1) - lgamma(same + 1)
    return exp(ways + gained * log(gain) + lost * log(lose) + same * log(1 - gain - lose))


def main() -> None:
    print("promoted by luck: both policies have this pass rate, --min-delta 0")
    print("     n" + "".join(f"{rate:10.0%}" for rate in RATES))
    for n in SIZES:
        print(f"{n:6,}" + "".join(f"{promotion_rate(n, rate, rate):10.2%}" for rate in RATES))
    print("\npromoted rightly: the baseline passes 45 %, the candidate so many points more")
    print("     n" + "".join(f"{'+' + str(round(100 * rise)):>10}" for rise in RISES))
    for n in SIZES:
        print(f"{n:6,}" + "".join(f"{promotion_rate(n, 0.45, 0.45 + rise):10.2%}" for rise in RISES))


if __name__ == "__main__":
    main()
